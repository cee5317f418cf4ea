//go:build linux

package desktop

// Sound through a real sound server with a virtual device.

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk/native"
)

// startServer runs a PulseAudio whose only device is virtual. Its microphone records what its loudspeaker plays.
func startServer(t *testing.T) {
	t.Helper()
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	socket := filepath.Join(dir, "sound")
	cmd := exec.Command("pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no",
		"-L", "module-native-protocol-unix auth-anonymous=1 socket="+socket, "-L", "module-null-sink sink_name=out rate=24000 channels=1")
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "PULSE_RUNTIME_PATH="+dir)
	cmd.Stderr = t.Output()
	g.Expect(cmd.Start()).To(gomega.Succeed(), "scripts/setup.sh test installs pulseaudio")
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		_ = cmd.Wait()
	})
	g.Eventually(func() error { _, err := os.Stat(socket); return err }).WithTimeout(20 * time.Second).Should(gomega.Succeed())
	t.Setenv("PULSE_SERVER", "unix:"+socket)
	t.Setenv("HOME", dir)
}

func TestSoundGoesThroughASoundServer(t *testing.T) {
	g := gomega.NewWithT(t)
	startServer(t)
	speaker, err := OpenSpeaker("out")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	microphone, err := OpenMicrophone("out.monitor")
	g.Expect(err).NotTo(gomega.HaveOccurred())

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	meter := native.NewSpeaker(0)
	done := make(chan struct{})
	go func() { // a call: a frame each way every 20 ms
		defer close(done)
		said, heard := make([]int16, native.FrameSize), make([]int16, native.FrameSize)
		tick := time.NewTicker(native.FrameTime)
		defer tick.Stop()
		for i := range said {
			said[i] = int16(8000 * math.Sin(2*math.Pi*500*float64(i)/native.Rate))
		}
		for ctx.Err() == nil {
			speaker.Hear(said)
			microphone.Frame(heard)
			meter.Hear(heard)
			<-tick.C
		}
	}()
	g.Eventually(ctx, func() time.Duration { _, sounded := meter.Sounded(); return sounded }).Should(gomega.BeNumerically(">", 300*time.Millisecond))
	cancel()
	<-done
	g.Expect(speaker.Close()).To(gomega.Succeed())
	g.Expect(microphone.Close()).To(gomega.Succeed())
}

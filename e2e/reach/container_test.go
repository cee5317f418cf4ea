package reach

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/server/apikey"
)

// The image of deploy/Dockerfile behind NAT: its root as a chroot, a user without rights, and the ports that the Dockerfile names.

// imageJob says what the image's program does.
type imageJob struct {
	Image rig.Image
	Args  []string
}

// runImage runs the image's program until this program is told to end.
func runImage(j imageJob) error {
	cmd := j.Image.Run(j.Args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		<-told
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	}()
	return cmd.Wait()
}

// TestContainerBehindNAT checks that a client behind NAT talks with a server in a container behind NAT: over UDP, and through TURN over TCP
// where no UDP passes. The router of the container forwards the ports of the image alone.
func TestContainerBehindNAT(t *testing.T) {
	g := gomega.NewWithT(t)
	image, err := rig.NewImage("../..", t.TempDir())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	key, line, err := apikey.New("client")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(image.Secret("/run/secrets/antiphon-keys", line+"\n")).To(gomega.Succeed())
	g.Expect(image.Secret("/run/secrets/turn", "shared\n")).To(gomega.Succeed())
	const web, media = "tcp dport 8080", "udp dport 3478"
	for _, row := range []struct {
		name   string
		args   []string
		ports  []string
		block  string // at the client's router
		closed string // at the container's router
		coturn bool
	}{
		{name: "UDP", ports: []string{web, media}},
		{
			name: "UDP blocked: the server's own TURN over TCP", args: []string{"--turn", "0.0.0.0:3479"},
			ports: []string{web, media, "tcp dport 3479"}, block: noUDP, closed: noUDP,
		},
		{
			name: "UDP of the client blocked: coturn over TCP", coturn: true,
			args:  []string{"--ice-server", "turn:203.0.113.40:3478?transport=tcp", "--turn-secret-file", "/run/secrets/turn"},
			ports: []string{web, media}, block: noUDP, closed: "iifname net ip saddr != 203.0.113.40 meta l4proto udp drop",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			route(t, symmetric, row.block)
			forward(t, row.ports, row.closed)
			if row.coturn {
				coturn(t, g, "--no-udp")
			}
			start(t, g, "inner", "image", imageJob{Image: *image, Args: append(append(image.Command, "--public-address", "203.0.113.20"), row.args...)}).
				says("listening on http://0.0.0.0:8080")
			client := start(t, g, "client", "client", clientJob{URL: "http://203.0.113.20:8080", Key: key, Speaks: true})
			client.says("connected")
			for i := range 2 {
				client.ask(fmt.Sprint("good morning ", i))
			}
		})
	}
}

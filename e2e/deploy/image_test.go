package deploy

// The root that the Dockerfile describes: the server runs in it, as a user without rights, and holds a call.

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// call holds a call over WebRTC, in which the agent speaks, with the server at url.
func call(t *testing.T, g *gomega.WithT, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	speaker := native.NewSpeaker(0)
	dialer, err := native.NewDialer(native.Options{URL: url, Speaker: speaker, Loopback: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	events := make(chan string, 1000)
	peer, err := dialer.Dial(ctx, sdk.CallConfig{}, func(e sdk.PeerEvent) {
		if m, is := e.(sdk.Message); is {
			events <- string(m.Data)
		}
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(peer.Close()).To(gomega.Succeed()) }()
	await := func(kind string) {
		t.Helper()
		for {
			select {
			case e := <-events:
				if strings.Contains(e, `"type":"`+kind+`"`) {
					return
				}
			case <-ctx.Done():
				t.Fatalf("no %s", kind)
			}
		}
	}
	await("session.created")
	g.Expect(peer.Send([]byte(ask))).To(gomega.Succeed())
	g.Expect(peer.Send([]byte(`{"type":"response.create"}`))).To(gomega.Succeed())
	await("output_audio_buffer.started")
	g.Expect(speaker.AwaitSound(ctx)).To(gomega.Succeed())
}

const ask = `{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}`

// copyInto copies a file of this machine into the root of an image.
func copyInto(g *gomega.WithT, root, from, to string) {
	data, err := os.ReadFile(from)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	to = filepath.Join(root, to)
	g.Expect(os.MkdirAll(filepath.Dir(to), 0o755)).To(gomega.Succeed())
	g.Expect(os.WriteFile(to, data, 0o755)).To(gomega.Succeed()) //nolint:gosec // the image's user runs it
}

// TestImage builds the image's root from the Dockerfile, with this machine's C library in place of the base image's.
func TestImage(t *testing.T) {
	g := gomega.NewWithT(t)
	text, err := os.ReadFile("../../deploy/Dockerfile")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, image, found := strings.Cut(string(text), ":nonroot\n")
	g.Expect(found).To(gomega.BeTrue(), "the image's user has rights")
	root := t.TempDir()
	g.Expect(os.Chmod(root, 0o755)).To(gomega.Succeed()) //nolint:gosec // the image's user reads it

	const program = "../../bin/antiphon"
	copies := regexp.MustCompile(`(?m)^COPY --from=build (\S+) (\S+)$`).FindAllStringSubmatch(image, -1)
	g.Expect(copies).To(gomega.HaveLen(1))
	g.Expect(copies[0][1]).To(gomega.Equal("/src/bin/antiphon"))
	copyInto(g, root, program, copies[0][2])
	libraries, err := exec.CommandContext(t.Context(), "ldd", program).Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, m := range regexp.MustCompile(`(?m)(/\S+) \(0x`).FindAllSubmatch(libraries, -1) {
		copyInto(g, root, string(m[1]), string(m[1]))
	}

	cmd := exec.Command(copies[0][2], "serve", "--pipeline", "scripted", "--listen", "127.0.0.1:0", "--log-level", "warn") //nolint:noctx // SIGTERM ends it
	cmd.Dir, cmd.Stderr = "/", os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65532, Gid: 65532}
	} else { // a namespace in which the tests' user is that of the image
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 65532, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 65532, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(cmd.Start()).To(gomega.Succeed())
	t.Cleanup(func() {
		g.Expect(cmd.Process.Signal(syscall.SIGTERM)).To(gomega.Succeed())
		g.Expect(cmd.Wait()).To(gomega.Succeed())
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	g.Expect(err).NotTo(gomega.HaveOccurred())
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	g.Expect(ok).To(gomega.BeTrue(), line)
	call(t, g, url)
}

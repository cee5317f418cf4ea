package deploy

// The root that the Dockerfile describes: the server runs in it, as a user without rights, and holds a call.

import (
	"context"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
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

// TestImage builds the image's root from the Dockerfile, with this machine's C library in place of the base image's.
func TestImage(t *testing.T) {
	g := gomega.NewWithT(t)
	image, err := rig.NewImage("../..", t.TempDir())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	server, err := rig.Run(image.Run("serve", "--pipeline", "scripted", "--listen", "127.0.0.1:0", "--log-level", "warn"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { g.Expect(server.Stop()).To(gomega.Succeed()) })
	call(t, g, server.URL)
}

package page_test

// A page's calls after a broken WebSocket and after a change of network.

import (
	"io"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// A page's WebSocket breaks: the call goes on over another one.
func TestAPagesWebSocketBreaks(t *testing.T) {
	a := newAuthor(t)
	a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html")}, sent{html: a.file("page.js")}
	relay, err := rig.NewRelay(a.server.URL, rig.Link{})
	a.g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { a.g.Expect(relay.Close()).To(gomega.Succeed()) })
	v := a.visit(a.launch(rig.Options{}))
	v.does(`await begin({ url: %q, transport: "websocket" }).ready`, relay.URL)
	v.does(`call.send("remember Ada")`)
	v.becomes(`call.transcript.some((e) => e.role === "agent" && !e.live && /remember Ada/.test(e.text))`)
	v.becomes(`call.state === "listening"`)
	a.g.Expect(relay.Tear()).To(gomega.Succeed())
	v.becomes(`seen.states.includes("reconnecting") && call.state === "listening"`)
	v.does(`call.send("and again")`)
	v.becomes(`call.transcript.some((e) => e.role === "agent" && !e.live && /and again/.test(e.text))`)
	a.g.Expect(told[[]string](v, `seen.errors.map((e) => e.code)`)).To(gomega.BeEmpty())
	events, err := io.ReadAll(a.server.Events.Reader())
	a.g.Expect(err).NotTo(gomega.HaveOccurred())
	a.g.Expect(strings.Count(string(events), `"session.created"`)).To(gomega.Equal(1), "it is one conversation")
	v.does(`await call.close()`)
	a.g.Expect(told[int](v, `Antiphon.usage().functions`)).To(gomega.BeZero())
}

// A page's network changes during a response. The call goes on over the new network: by an ICE restart of the same connection or, where
// that fails, by another call that goes on with the conversation.
func TestAPageChangesItsNetwork(t *testing.T) {
	for name, denied := range map[string]string{"restart": "", "resume": "/restart"} {
		t.Run(name, func(t *testing.T) {
			a := newAuthor(t)
			a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html")}, sent{html: a.file("page.js")}
			relay, err := rig.NewRelay(a.server.URL, rig.Link{})
			a.g.Expect(err).NotTo(gomega.HaveOccurred())
			t.Cleanup(func() { a.g.Expect(relay.Close()).To(gomega.Succeed()) })
			v := a.visit(a.launch(rig.Options{}))
			v.does(`await begin({ url: %q }).ready`, relay.URL)
			v.does(`call.send("say 30 words")`)
			a.g.Eventually(v.Heard).Should(gomega.HaveField("LoudMS", gomega.BeNumerically(">", 1000)))

			// The connection may be back before the test looks, so the page itself sends the message.
			v.does(`call.addEventListener("state", () => {
				if (call.state === "reconnecting" && !seen.wrote) call.send(seen.wrote = "and then hello");
			})`)
			relay.Deny(denied)
			relay.Cut()
			v.becomes(`seen.wrote && call.state !== "reconnecting"`)
			v.becomes(`call.transcript.some((e) => e.role === "agent" && !e.live && /and then hello/.test(e.text))`)
			v.becomes(`call.state === "listening"`)
			a.g.Expect(told[[]string](v, `seen.states`)).NotTo(gomega.ContainElement("failed"))
			a.g.Expect(told[[]string](v, `seen.errors.map((e) => e.code)`)).NotTo(gomega.ContainElement("begun_anew"))
			a.g.Expect(told[int](v, `call.transcript.filter((e) => e.note).length`)).To(gomega.BeZero())
			events, err := io.ReadAll(a.server.Events.Reader())
			a.g.Expect(err).NotTo(gomega.HaveOccurred())
			a.g.Expect(strings.Count(string(events), `"session.created"`)).To(gomega.Equal(1), "it is one conversation")
			t.Log(told[any](v, `seen`))
			v.does(`await call.close()`)
		})
	}
}

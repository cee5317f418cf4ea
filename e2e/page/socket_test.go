package page_test

// A page's call over a WebSocket.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// Where the network blocks WebRTC, a page calls over a WebSocket: it sends and plays sound, and knows the played position.
func TestAPageCallsOverAWebSocket(t *testing.T) {
	a := newAuthor(t)
	a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html")}, sent{html: a.file("page.js")}
	v := a.visit(a.launch(rig.Options{}))
	v.does(`RTCPeerConnection = undefined; await begin({ transport: "websocket" }).ready`)
	v.does(`call.send("say 60 words")`)
	v.becomes(`call.state === "agent-speaking" && call.levels.agent > 0.3`)
	demand, err := rig.Speak(t.Context(), withoutPause)
	a.g.Expect(err).NotTo(gomega.HaveOccurred())
	v.becomes(`seen.agentMs > 3000`)
	v.says(rig.Join(demand, rig.Silence(time.Second)))
	v.becomes(`call.transcript.some((e) => e.role === "agent" && e.interrupted)`)
	t.Log(told[any](v, `call.metrics.interruptions`), told[any](v, `call.transcript.filter((e) => e.role === "agent").map((e) => [e.text, e.heardMs])`))
	v.becomes(`call.metrics.interruptions.ahead === 1`)
	v.becomes(`call.transcript.filter((e) => e.role === "agent").length > 1`)
	a.g.Expect(told[int](v, `call.transcript.find((e) => e.interrupted).heardMs`)).To(gomega.BeNumerically(">", 2000))
	v.does(`await call.close()`)
	a.g.Expect(told[int](v, `Antiphon.usage().functions`)).To(gomega.BeZero())
	a.g.Expect(v.Complaints()).To(gomega.BeEmpty())
}

package page_test

// A page of another origin holds a call.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// A page of another origin includes the script, connects, writes, and hears the answer.
func TestAPageHoldsACall(t *testing.T) {
	a := newAuthor(t)
	a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html")}, sent{html: a.file("page.js")}
	v := a.visit(a.launch(rig.Options{}))
	globals := told[[]string](v, `Object.keys(globalThis).filter((n) => /antiphon|^go$|^fs$|^process$|^path$/i.test(n))`)
	a.g.Expect(globals).To(gomega.Equal([]string{"Antiphon"}))
	v.does(`await begin().ready`)
	v.becomes(`call.state === "listening"`)
	t.Logf("script tag to connected: %.0f ms", told[float64](v, `seen.connectedMs`))
	v.does(`call.send("hello there")`)
	v.becomes(`call.transcript.some((e) => e.role === "agent" && !e.live && /hello there/.test(e.text))`)
	a.g.Eventually(v.Heard).Should(gomega.HaveField("LoudMS", gomega.BeNumerically(">", 200)))
	v.becomes(`call.levels.agent > 0.1 || call.state === "listening"`)
	t.Log(told[any](v, `seen`), told[any](v, `Antiphon.usage()`), told[any](v, `call.metrics`))
	v.does(`await call.close()`)
	a.g.Expect(told[string](v, `call.state`)).To(gomega.Equal("disconnected"))
	globals = told[[]string](v, `Object.keys(globalThis).filter((n) => /antiphon|^go$|^fs$|^process$|^path$/i.test(n))`)
	a.g.Expect(globals).To(gomega.Equal([]string{"Antiphon"}))
	a.g.Expect(told[int](v, `Antiphon.usage().functions`)).To(gomega.BeZero())
	a.g.Expect(v.Complaints()).To(gomega.BeEmpty())
}

// The page's noise reduction reaches the server.
func TestThePageAsksForNoiseReduction(t *testing.T) {
	a := newAuthor(t)
	a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html")}, sent{html: a.file("page.js")}
	v := a.visit(a.launch(rig.Options{}))
	v.does(`globalThis.updates = []; const send = RTCDataChannel.prototype.send; RTCDataChannel.prototype.send = function (text) {
		updates.push(JSON.parse(text)); return send.call(this, text); }`)
	v.does(`await begin({ noiseReduction: "far_field" }).ready`)
	v.becomes(`updates.some((event) => event.session?.audio?.input?.noise_reduction?.type === "far_field")`)
	v.does(`await call.close()`)
	v.g.Expect(v.Complaints()).To(gomega.BeEmpty())
}

package page_test

// Tools and settings that a page gives the element before the script is loaded.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// The tools that a page sets on an element before the script is loaded are not lost. The agent calls a tool of the page once, and gets
// the result. A missing microphone is replaced by the default one.
func TestToolsThatWereThereBeforeTheScript(t *testing.T) {
	a := newAuthor(t)
	a.pages["/"] = sent{html: `<!doctype html><title>early</title><link rel="icon" href="data:,"><antiphon-talk server="SERVER"></antiphon-talk>
		<script src="early.js"></script><script src="SERVER/antiphon.js"></script>`}
	a.pages["/early.js"] = sent{html: `globalThis.ran = [];
		document.querySelector("antiphon-talk").tools = [{ name: "clock", description: "Tells the time.", run: (args) => { ran.push(args); return { time: "noon" }; } }];`}
	v := a.visit(a.launch(rig.Options{}))
	v.does(`const talk = document.querySelector("antiphon-talk"); globalThis.call = await talk.start(); await call.ready`)
	v.does(`call.send("call clock")`)
	v.becomes(`call.transcript.some((e) => e.role === "tool" && e.call.done && e.call.name === "clock")`)
	t.Log(told[any](v, `[ran, call.transcript.map((e) => [e.role, e.text, e.call])]`))
	v.becomes(`call.transcript.at(-1).role === "agent" && !call.transcript.at(-1).live`)
	a.g.Expect(told[int](v, `ran.length`)).To(gomega.Equal(1))
	a.g.Expect(told[string](v, `call.transcript.find((e) => e.call).call.output`)).To(gomega.Equal(`{"time":"noon"}`))

	v.does(`await call.close();
		const open = navigator.mediaDevices.getUserMedia;
		navigator.mediaDevices.getUserMedia = (asked) => asked.audio.deviceId ? Promise.reject(new DOMException("gone", "OverconstrainedError")) : open(asked);
		globalThis.call = Antiphon.connect({ url: %q, microphone: "gone" }); await call.ready`, a.server.URL)
	v.becomes(`!call.textOnly && call.microphoneError === null && call.state === "listening"`)
	v.does(`await call.close()`)
	a.g.Expect(v.Complaints()).To(gomega.BeEmpty())
}

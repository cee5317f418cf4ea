package page_test

// Pages that cannot place a call, or lose a feature or the server.

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// refused is the error that a page's author gets.
type refused struct{ Name, Code, Message, Remedy string }

// A page that cannot place a call gets a typed error that says what to do, and does not wait for ever.
func TestAPageThatCannotCallSaysWhy(t *testing.T) {
	for name, row := range map[string]struct {
		policy, prepare, options string
		code, remedy             string
	}{
		"WebAssembly is not allowed": {
			policy: "default-src 'none'; script-src 'self' SERVER; connect-src SERVER", code: "wasm_blocked", remedy: "'wasm-unsafe-eval'",
		},
		"the server may not be asked": {
			policy: "default-src 'none'; script-src 'self' SERVER 'wasm-unsafe-eval'", code: "wasm_unreachable", remedy: "connect-src",
		},
		"no WebAssembly": {prepare: `WebAssembly = undefined`, code: "unsupported", remedy: "current Chrome"},
		"no WebRTC":      {prepare: `RTCPeerConnection = undefined`, code: "unsupported", remedy: "current Chrome"},
		"no more connections": {
			prepare: `RTCPeerConnection = class { constructor() { throw new DOMException("so many", "UnknownError"); } }`, code: "failed", remedy: "reload",
		},
		"the files are elsewhere": {options: `{ assets: location.origin }`, code: "script_blocked|wasm_unreachable", remedy: "assets"},
		"no server":               {options: `{ url: "http://127.0.0.1:9" }`, code: "server_gone", remedy: "check that it runs"},
		"no depth of ducking":     {options: `{ duckBy: 90 }`, code: "invalid", remedy: ""},
		"no noise reduction":      {options: `{ noiseReduction: "loud" }`, code: "invalid", remedy: "near_field, far_field"},
		"no transport":            {options: `{ transport: "carrier" }`, code: "invalid", remedy: "webrtc, websocket"},
		"no volume":               {options: `{ volume: 1.5 }`, code: "invalid", remedy: "0 to 1"},
		"no loudspeaker":          {options: `{ speaker: 5 }`, code: "invalid", remedy: "give a string"},
		"no turn detection":       {options: `{ turnDetection: { type: "nope" } }`, code: "invalid", remedy: "manual, server, semantic"},
		"no text":                 {options: `{ instructions: 5 }`, code: "invalid", remedy: "give a string"},
		"a key that never comes": {
			prepare: `const later = setTimeout; window.setTimeout = (f, ms) => later(f, ms === 60_000 ? 1 : ms)`,
			options: `{ key: () => new Promise(() => {}) }`, code: "server_silent", remedy: "network",
		},
		"no key": {options: `{ key: async () => { throw new Error("the backend is gone"); } }`, code: "failed", remedy: "call again"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthor(t)
			a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html"), policy: row.policy}, sent{html: a.file("page.js")}
			v := a.visit(a.launch(rig.Options{}))
			v.does(`%s`, strings.ReplaceAll(row.prepare, "SERVER", a.server.URL))
			v.does(`begin(%s)`, strings.ReplaceAll(row.options, "SERVER", a.server.URL))
			v.becomes(`seen.refused`)
			told := told[refused](v, `seen.refused`)
			t.Logf("%+v", told)
			a.g.Expect(told.Name).To(gomega.Equal("AntiphonError"))
			a.g.Expect(told.Code).To(gomega.MatchRegexp("^(" + row.code + ")$"))
			a.g.Expect(told.Remedy).To(gomega.ContainSubstring(row.remedy))
			v.becomes(`call.state === "failed" && call.error.code === seen.refused.code && seen.errors.length === 1`)
			v.does(`await call.close()`)
			a.g.Eventually(a.server.Calls).Should(gomega.BeZero())
		})
	}
}

// A page whose origin the server does not take is told so, although the browser does not show it the refusal.
func TestAPageOfAWrongOriginSaysWhy(t *testing.T) {
	for name, options := range map[string]string{
		"WebRTC": `{}`, "WebRTC with a key": `{ key: "ek_1" }`, "WebSocket": `{ transport: "websocket" }`, "WebSocket with a key": `{ transport: "websocket", key: "ek_1" }`,
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthor(t)
			a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html")}, sent{html: a.file("page.js")}
			a.site.URL = strings.Replace(a.site.URL, "127.0.0.1", "site.localhost", 1) // a name that the server does not know
			v := a.visit(a.launch(rig.Options{}))
			v.does(`begin(%s)`, options)
			v.becomes(`seen.refused`)
			refused := told[refused](v, `seen.refused`)
			a.g.Expect(refused.Code).To(gomega.Equal("refused"))
			a.g.Expect(refused.Message).To(gomega.MatchRegexp("start it with --origin http://site.localhost:[0-9]+"))
			v.does(`await call.close()`)
		})
	}
}

// A wrong key is an error of its own over both transports, although the browser hides the refusal of a WebSocket.
func TestAPageWithAWrongKeySaysSo(t *testing.T) {
	a := newAuthor(t)
	keys := filepath.Join(t.TempDir(), "keys")
	a.g.Expect(os.WriteFile(keys, []byte("sk-of-a-server-with-keys\n"), 0o600)).To(gomega.Succeed())
	keyed, err := rig.Start("../..", "--pipeline", "scripted", "--listen", "127.0.0.1:0", "--api-key-file", keys)
	a.g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(keyed.Kill)
	a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html")}, sent{html: a.file("page.js")}
	v := a.visit(a.launch(rig.Options{}))
	for _, transport := range []string{"webrtc", "websocket"} {
		v.does(`seen.refused = null; begin({ url: %q, key: "ek_wrong", transport: %q })`, keyed.URL, transport)
		v.becomes(`seen.refused`)
		refused := told[refused](v, `seen.refused`)
		a.g.Expect(refused.Code).To(gomega.Equal("unauthorized"), transport)
		a.g.Expect(refused.Remedy).To(gomega.ContainSubstring("check the key"), transport)
		v.does(`await call.close()`)
	}
}

// The user refuses the microphone: the call goes on in writing, and the element says so.
func TestARefusedMicrophoneLeavesText(t *testing.T) {
	v := withElement(t, rig.Options{Permission: rig.Denied})
	v.press("talk")
	v.becomes(`talk.getAttribute("state") === "listening"`)
	v.becomes(`talk.call.textOnly && talk.call.microphoneError.code === "permission_denied"`)
	v.becomes(`/Allow it for this page/.test(part("error").textContent) && !part("error").hidden`)
	v.picture("element-refused")
	v.does(`part("error").querySelector("button").click()`)
	v.becomes(`part("error").hidden`)
	v.does(`talk.call.send("can you hear me")`)
	v.becomes(`talk.call.transcript.some((e) => e.role === "agent" && /hear me/.test(e.text))`)
	v.does(`await talk.stop()`)
}

// A page whose policy blocks the worklet has calls without prediction.
func TestWithoutTheWorkletThereAreCalls(t *testing.T) {
	a := newAuthor(t)
	a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html")}, sent{html: a.file("page.js")}
	v := a.visit(a.launch(rig.Options{}))
	v.does(`AudioWorklet.prototype.addModule = () => Promise.reject(new DOMException("blocked", "AbortError"))`)
	v.does(`seen.notes = []; begin().addEventListener("note", (e) => seen.notes.push(e.detail)); await call.ready`)
	v.becomes(`seen.notes.some((n) => /no levels and no prediction/.test(n))`)
	v.does(`call.send("hello")`)
	v.becomes(`call.transcript.some((e) => e.role === "agent" && /hello/.test(e.text))`)
	v.does(`await call.close()`)
}

// The server disappears during a call: the page shows that it reconnects, and then that the server is gone.
func TestAServerThatGoesAway(t *testing.T) {
	a := newAuthor(t)
	a.pages["/"], a.pages["/page.js"] = sent{html: a.file("script.html")}, sent{html: a.file("page.js")}
	v := a.visit(a.launch(rig.Options{}))
	v.does(`await begin().ready`)
	a.g.Expect(a.site.CloseServer()).To(gomega.Succeed())
	v.becomes(`call.state === "reconnecting" || call.state === "failed"`)
	v.becomes(`seen.errors.length > 0 || call.state === "reconnecting"`)
	v.does(`await call.close()`)
	v.becomes(`call.state === "failed" || call.state === "disconnected"`)
}

package page_test

// The element <antiphon-talk> by mouse, keyboard and push-to-talk.

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// strict is the policy of a page that allows nothing but its own style sheet and the server.
const strict = "default-src 'none'; script-src SERVER 'wasm-unsafe-eval'; connect-src SERVER; style-src 'self'; img-src data:; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// withElement opens a page of another origin with the element, under the strict policy.
func withElement(t *testing.T, o rig.Options) *visitor {
	t.Helper()
	return withPolicy(t, o, strict)
}

// withPolicy opens a page of another origin with the element, under this policy.
func withPolicy(t *testing.T, o rig.Options, policy string) *visitor {
	t.Helper()
	a := newAuthor(t)
	a.pages["/"], a.pages["/page.css"] = sent{html: a.file("element.html"), policy: policy}, sent{html: a.file("page.css")}
	v := a.visit(a.launch(o))
	v.becomes(`document.querySelector("antiphon-talk").shadowRoot?.querySelector("button.talk")`)
	v.does(`globalThis.talk = document.querySelector("antiphon-talk"); globalThis.part = (name) => talk.shadowRoot.querySelector("[part=" + name + "]")`)
	return v
}

// press clicks a part with the mouse.
func (v *visitor) press(part string) {
	v.t.Helper()
	box := told[struct{ X, Y float64 }](v, fmt.Sprintf(`(({x, y, width, height}) => ({x: x + width / 2, y: y + height / 2}))(part(%q).getBoundingClientRect())`, part))
	v.g.Expect(v.Click(box.X, box.Y)).To(gomega.Succeed())
}

// A user uses the element by mouse and by keyboard, in a page whose policy allows no inline style and no evaluation.
func TestTheElementIsUsed(t *testing.T) {
	v := withElement(t, rig.Options{})
	v.g.Expect(v.Look(1000, 800, "light")).To(gomega.Succeed())
	v.picture("element-idle-light")
	v.press("talk")
	v.becomes(`talk.getAttribute("state") === "listening"`)
	// The call may report a state of its own at any moment, so each look comes with a report.
	report := `Object.assign(talk.call, %s) && talk.call.dispatchEvent(new CustomEvent("state")) && part("state").textContent === %q`
	v.becomes(fmt.Sprintf(report, `{ state: "thinking", progress: "loading" }`, "Loading the model…"))
	v.becomes(fmt.Sprintf(report, `{ state: "listening", progress: "" }`, "Listening"))
	v.does(`part("input").focus()`)
	v.g.Expect(v.Type("how are you today" + kb.Enter)).To(gomega.Succeed())
	v.becomes(`[...talk.shadowRoot.querySelectorAll("li")].some((li) => li.dataset.role === "agent" && /how are you today/.test(li.textContent) && !("live" in li.dataset))`)
	v.becomes(`talk.getAttribute("state") === "listening"`)
	v.g.Expect(v.Type("say 40 words" + kb.Enter)).To(gomega.Succeed())
	v.becomes(`talk.getAttribute("state") === "agent-speaking"`)
	v.g.Eventually(v.Heard).Should(gomega.HaveField("LoudMS", gomega.BeNumerically(">", 1500)))
	for _, look := range []struct {
		width  int64
		scheme string
	}{{1000, "light"}, {1000, "dark"}, {320, "light"}, {320, "dark"}} {
		v.g.Expect(v.Look(look.width, 800, look.scheme)).To(gomega.Succeed())
		v.g.Expect(told[bool](v, `document.documentElement.scrollWidth <= innerWidth`)).To(gomega.BeTrue(), "%d px scroll sideways", look.width)
		v.picture(fmt.Sprintf("element-speaking-%d-%s", look.width, look.scheme))
	}
	v.g.Expect(v.Key(kb.Escape)).To(gomega.Succeed())
	v.becomes(`talk.shadowRoot.querySelector("[part=transcript]").textContent.includes("interrupted")`)
	v.does(`part("talk").focus()`)
	v.g.Expect(v.Type("m")).To(gomega.Succeed())
	v.becomes(`talk.hasAttribute("muted") && talk.call.muted`)
	controls, err := v.Controls()
	v.g.Expect(err).NotTo(gomega.HaveOccurred())
	v.g.Expect(controls).To(gomega.Equal([]string{"button End", "button Mute", "button Interrupt", "textbox Message", "button Send"}))
	v.does(`const talk = document.querySelector("antiphon-talk"); const call = talk.call; talk.remove(); await call.close()`)
	v.g.Expect(told[int](v, `Antiphon.usage().functions`)).To(gomega.BeZero(), "an element that is taken out of the page ends its call")
	v.g.Expect(v.Complaints()).To(gomega.BeEmpty())
}

// With mode="push" the user talks while a key is held down.
func TestTheElementIsPushedToTalk(t *testing.T) {
	v := withElement(t, rig.Options{})
	v.does(`talk.setAttribute("mode", "push")`)
	v.press("talk")
	v.becomes(`talk.getAttribute("state") === "listening"`)
	v.g.Expect(told[bool](v, `talk.call.muted`)).To(gomega.BeTrue())
	v.picture("element-push")
	v.does(`part("hold").focus(); part("hold").dispatchEvent(new KeyboardEvent("keydown", {key: " ", bubbles: true, composed: true}))`)
	v.becomes(`!talk.call.muted && part("hold").ariaPressed === "true"`)
	word, err := rig.Speak(t.Context(), "hello there")
	v.g.Expect(err).NotTo(gomega.HaveOccurred())
	v.says(rig.Join(word, rig.Silence(100*time.Millisecond)))
	v.becomes(`talk.call.levels.microphone > 0.3`)
	v.becomes(`talk.call.levels.microphone < 0.1`)
	v.does(`part("hold").dispatchEvent(new KeyboardEvent("keyup", {key: " ", bubbles: true, composed: true}))`)
	v.becomes(`talk.call.transcript.some((e) => e.role === "agent")`)
	v.does(`await talk.stop()`)
	v.g.Expect(v.Complaints()).To(gomega.BeEmpty())
}

// watched records which devices and volumes the page asks the browser for.
const watched = `globalThis.asked = { microphones: [], speakers: [], sounds: [] };
	const { mediaDevices } = navigator, { getUserMedia } = mediaDevices, { createElement } = document;
	mediaDevices.getUserMedia = (c) => (asked.microphones.push(c.audio.deviceId?.exact ?? ""),
		c.audio.deviceId?.exact === "gone" ? Promise.reject(new DOMException("gone", "OverconstrainedError")) : getUserMedia.call(mediaDevices, c));
	HTMLMediaElement.prototype.setSinkId = AudioContext.prototype.setSinkId = async (id) => {
		if (id === "gone") throw new DOMException("gone", "NotFoundError");
		asked.speakers.push(id);
	};
	document.createElement = (tag) => {
		const made = createElement.call(document, tag);
		if (tag === "audio") asked.sounds.push(made);
		return made;
	};
	globalThis.errors = [];
	talk.addEventListener("error", ({ detail }) => errors.push(detail.code));
	globalThis.set = (attributes) => { for (const [name, value] of Object.entries(attributes)) value === null ? talk.removeAttribute(name) : talk.setAttribute(name, value); }`

// The element's attributes choose devices, volume and transport. A change in a call acts at once, and one before a call counts for that call.
func TestTheElementChoosesDevices(t *testing.T) {
	for transport, volume := range map[string]string{"webrtc": "asked.sounds.at(-1).volume === %s", "websocket": "talk.call.volume === %s"} {
		t.Run(transport, func(t *testing.T) {
			v := withPolicy(t, rig.Options{}, strings.Replace(strict, "connect-src", "connect-src ws://127.0.0.1:*", 1))
			loud := func(want string) { v.becomes(fmt.Sprintf(volume, want) + " && talk.call.volume === " + want) }
			v.does(watched)
			v.does(`set({ transport: %q, microphone: "desk", speaker: "left", volume: "0.25" }); await (await talk.start()).ready`, transport)
			v.g.Expect(told[[]string](v, `asked.microphones`)).To(gomega.Equal([]string{"desk"}))
			v.becomes(`asked.speakers.at(-1) === "left"`)
			loud("0.25")
			v.does(`set({ microphone: "phone", speaker: "right", volume: "0.5" })`)
			v.becomes(`asked.microphones.at(-1) === "phone" && asked.speakers.at(-1) === "right" && talk.call.speaker === "right"`)
			loud("0.5")
			v.does(`set({ microphone: null, speaker: null, volume: null })`)
			v.becomes(`asked.microphones.at(-1) === "" && asked.speakers.at(-1) === ""`)
			loud("1")

			v.does(`set({ volume: "loud" })`)
			v.becomes(`errors.join() === "invalid" && /volume/.test(part("error").textContent) && !part("error").hidden`)
			v.does(`part("error").querySelector("button").click()`)
			v.becomes(`part("error").hidden`)
			v.does(`set({ volume: null, speaker: "gone" })`)
			v.becomes(`errors.length === 2 && !part("error").hidden`)
			v.does(`set({ speaker: null, microphone: "gone" })`)
			v.becomes(`errors.length === 3 && errors[2] === "no_microphone"`)
			v.does(`await talk.stop()`)
			v.g.Expect(v.Complaints()).To(gomega.BeEmpty())
		})
	}
}

// A value that no call can use ends the call before it begins, with the error of connect. What changes while a call is being placed counts when it is connected.
func TestTheElementRefusesNonsense(t *testing.T) {
	v := withElement(t, rig.Options{})
	v.does(watched)
	for attribute, remedy := range map[string]string{`{ transport: "carrier" }`: "webrtc, websocket", `{ volume: "loud" }`: "from 0 to 1", `{ volume: "" }`: "from 0 to 1", `{ volume: "1.5" }`: "from 0 to 1"} {
		v.does(`set({ transport: null, volume: null }); set(%s)`, attribute)
		told := told[refused](v, `await (await talk.start()).ready.catch(({ name, code, message, remedy }) => ({ name, code, message, remedy }))`)
		v.g.Expect(told.Code).To(gomega.Equal("invalid"), attribute)
		v.g.Expect(told.Remedy).To(gomega.ContainSubstring(remedy))
	}
	v.g.Expect(told[[]string](v, `asked.microphones`)).To(gomega.BeEmpty())
	v.does(`set({ transport: null, volume: "1" }); await talk.start(); set({ volume: "0.5", microphone: "phone" }); await talk.call.ready`)
	v.becomes(`talk.call.volume === 0.5 && asked.microphones.at(-1) === "phone"`)
	v.does(`await talk.stop()`)
}

package browser_test

// The drawer of settings on the Talk page, push-to-talk, the transcript to take away, and the page as an app.

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// choose opens the drawer, changes a field as a user does, and closes the drawer.
func (p *talk) choose(name, value string) {
	p.t.Helper()
	p.g.Expect(p.Press(`[popovertarget="settings"]`)).To(gomega.Succeed())
	p.evaluates(fmt.Sprintf(`(() => {
		const field = document.querySelector("#settings:popover-open").querySelector("[name=%s]");
		field.value = %q;
		field.dispatchEvent(new Event("change", { bubbles: true }));
		return field.value === %q;
	})()`, name, value, value))
	p.g.Expect(p.Key(kb.Escape)).To(gomega.Succeed())
	p.evaluates(`document.querySelector(":popover-open") === null`)
}

// evaluates waits until a script says true.
func (p *talk) evaluates(script string) {
	p.t.Helper()
	p.g.Eventually(func() (bool, error) { return rig.Evaluate[bool](p.Tab, script) }).Should(gomega.BeTrue(), script)
}

// settingsSent keeps the settings of each session.update that the page sends.
const settingsSent = `(() => {
	globalThis.updates = [];
	const send = RTCDataChannel.prototype.send;
	RTCDataChannel.prototype.send = function (text) {
		const event = JSON.parse(text);
		if (event.type === "session.update") updates.push(event.session);
		return send.call(this, text);
	};
	return true;
})()`

// What is chosen in the drawer goes to the server, in a call at once, and the browser remembers it.
func TestSettingsAreRememberedAndUsed(t *testing.T) {
	t.Parallel()
	g := matching(t)
	s := scriptedServer(t, g)
	b := launch(t, g, rig.Options{})
	p := open(t, g, b, s.URL)
	p.accessibleDrawer()
	p.evaluates(`[...document.querySelectorAll("#settings [name]")].every((field) => field.value === "")`) // all is the server's own
	p.choose("instructions", "Be brief.")
	p.choose("turns", "words")
	p.choose("eagerness", "low")
	p.choose("noise", "far_field")

	p = open(t, g, b, s.URL) // another tab of the same browser
	p.evaluates(settingsSent)
	p.call()
	p.evaluates(`updates.some((u) => u.instructions === "Be brief." && u.audio.input.noise_reduction.type === "far_field" &&
		u.audio.input.turn_detection.type === "semantic_vad" && u.audio.input.turn_detection.eagerness === "low")`)
	p.choose("instructions", "Be long.")
	p.evaluates(`updates.at(-1).instructions === "Be long." && !("audio" in updates.at(-1))`)
	p.choose("turns", "")
	p.evaluates(`updates.at(-1).audio.input.turn_detection.type === "server_vad"`)
	p.evaluates(`document.querySelector("#set-eagerness").disabled`)
	g.Expect(p.view().Problem).To(gomega.Equal("none"))
	p.hangUp()
}

// accessibleDrawer checks the open drawer.
func (p *talk) accessibleDrawer() {
	p.t.Helper()
	p.g.Expect(p.Press(`[popovertarget="settings"]`)).To(gomega.Succeed())
	for _, size := range []size{{1440, 900}, {390, 844}, {320, 568}} {
		p.accessible("drawer", size)
		p.evaluates(`[...document.querySelectorAll("#settings, #settings *")].every((e) => e.getBoundingClientRect().right <= innerWidth)`)
		p.picture(fmt.Sprintf("drawer-%d", size.width))
	}
	p.g.Expect(p.Key(kb.Escape)).To(gomega.Succeed())
	p.g.Expect(p.Look(1440, 900, "light")).To(gomega.Succeed())
}

// saysAll speaks into the microphone and waits for the end.
func (p *talk) saysAll(s rig.Sound) {
	p.t.Helper()
	p.evaluates(fmt.Sprintf("performance.now() > %f", p.says(s)+float64(s.Duration().Milliseconds())))
}

// With push-to-talk the microphone is open while the user holds the space bar, and the turn ends with it.
func TestPushToTalk(t *testing.T) {
	t.Parallel()
	g := matching(t)
	s := scriptedServer(t, g)
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)
	p.choose("turns", "hand")
	p.call()
	g.Expect(p.view().Hint).To(gomega.ContainSubstring("Hold the button"))
	p.picture("push-to-talk")
	p.saysAll(tones(t, g, "not to be heard"))

	key := func(kind string) {
		p.evaluates(fmt.Sprintf(`document.body.dispatchEvent(new KeyboardEvent(%q, { key: " ", bubbles: true })), true`, kind))
	}
	key("keydown")
	p.evaluates(`document.querySelector("#hold").ariaPressed === "true"`)
	p.saysAll(tones(t, g, "good evening"))
	key("keyup")
	p.evaluates(`document.querySelector("#hold").ariaPressed === "false"`)
	p.answered("You said: good evening")
	p.reaches("listening")
	g.Expect(p.view().Of("user")).To(gomega.HaveLen(1))
	p.choose("turns", "")
	p.evaluates(`document.querySelector("#mute").dataset.muted === "false"`)
	p.hangUp()
}

// The transcript can be copied and downloaded, with the words that were heard.
func TestTheTranscriptCanBeTakenAway(t *testing.T) {
	t.Parallel()
	g := matching(t)
	s := scriptedServer(t, g)
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)
	p.evaluates(`(() => {
		navigator.clipboard.writeText = async (text) => { globalThis.copied = text; };
		URL.createObjectURL = (blob) => { blob.text().then((text) => { globalThis.saved = text; }); return "#"; };
		HTMLAnchorElement.prototype.click = function () { globalThis.named = this.download; };
		return true;
	})()`)
	p.call()
	p.writes("say 60 words")
	p.reaches("speaking")
	p.line("assistant", gomega.HaveField("Said", gomega.Not(gomega.BeEmpty())))
	g.Expect(p.Press("#interrupt")).To(gomega.Succeed())
	cut := p.line("assistant", gomega.HaveField("Interrupted", true))
	p.reaches("listening")
	want := "You: say 60 words\nAntiphon: " + cut.Said + " [interrupted]\n"
	g.Expect(p.Press("#copy-transcript")).To(gomega.Succeed())
	p.evaluates(fmt.Sprintf(`globalThis.copied === %q`, want))
	g.Expect(p.Press("#save-transcript")).To(gomega.Succeed())
	p.evaluates(fmt.Sprintf(`globalThis.saved === %q && named.startsWith("antiphon-")`, want))
	p.hangUp()
}

// The user can record both sides of a call: each has a channel of its own, and the file is the user's alone.
func TestACallIsRecordedOnRequest(t *testing.T) {
	t.Parallel()
	g := matching(t)
	s := scriptedServer(t, g)
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)
	p.evaluates(`(() => {
		URL.createObjectURL = (blob) => {
			blob.arrayBuffer().then((bytes) => new AudioContext().decodeAudioData(bytes)).then((sound) => {
				globalThis.loudest = [0, 1].map((side) => sound.getChannelData(side).reduce((most, at) => Math.max(most, Math.abs(at)), 0));
			});
			return "#";
		};
		HTMLAnchorElement.prototype.click = function () { globalThis.named = this.download; };
		return document.querySelector("#record").disabled;
	})()`)
	p.call()
	g.Expect(p.Press(`[popovertarget="settings"]`)).To(gomega.Succeed())
	p.evaluates(`!document.querySelector("#record").disabled`)
	g.Expect(p.Press("#record")).To(gomega.Succeed())
	p.evaluates(`document.documentElement.hasAttribute("data-recording")`)
	g.Expect(p.Key(kb.Escape)).To(gomega.Succeed())
	p.saysAll(tones(t, g, "good evening"))
	p.answered("You said: good evening")
	p.reaches("listening")
	p.hangUp()
	p.evaluates(`!document.documentElement.hasAttribute("data-recording") && globalThis.named?.endsWith(".webm")`)
	p.evaluates(`globalThis.loudest?.every((peak) => peak > 0.01)`)
}

// The browser can install the page as an app, and the page offers it while the browser can.
func TestThePageIsOfferedAsAnApp(t *testing.T) {
	t.Parallel()
	g := matching(t)
	s := scriptedServer(t, g)
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)
	g.Expect(p.Uninstallable()).To(gomega.BeEmpty())
	shown := `getComputedStyle(document.querySelector("#install")).display !== "none"`
	// The browser may also offer it by itself.
	p.evaluates(`BeforeInstallPromptEvent.prototype.prompt = () => { globalThis.asked = true; }, true`)
	p.evaluates(`!dispatchEvent(Object.assign(new Event("beforeinstallprompt", { cancelable: true }), { prompt() { globalThis.asked = true; } })) && ` + shown)
	p.fits("installable", size{390, 844})
	p.accessible("installable", size{390, 844})
	p.evaluates(`document.querySelector("#install").click(), asked && !(` + shown + `)`)
}

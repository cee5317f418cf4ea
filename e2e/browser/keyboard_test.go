package browser_test

// The Talk page by keyboard and screen reader.

import (
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
)

// Everything can be done with the keyboard: Enter sends, Esc interrupts, M mutes.
func TestKeyboard(t *testing.T) {
	t.Parallel()
	g := matching(t)
	s := scriptedServer(t, g)
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)
	p.call()

	p.writes("say 100 words")
	p.reaches("speaking")
	p.hears(time.Second)
	g.Expect(p.Key(kb.Escape)).To(gomega.Succeed())
	cut := p.line("assistant", gomega.HaveField("Interrupted", true))
	g.Expect(cut.Cut).To(gomega.Equal("interrupted"))
	g.Expect(cut.Said).NotTo(gomega.BeEmpty())
	p.reaches("listening")

	// In the text field an M is a letter. Outside of it, M closes the microphone.
	g.Expect(rig.Evaluate[bool](p.Tab, `document.querySelector("#text").blur(), true`)).To(gomega.BeTrue())
	g.Expect(p.Key("m")).To(gomega.Succeed())
	g.Eventually(p.View).Should(gomega.HaveField("Muted", true))
	p.says(tones(t, g, "not to be heard"))
	g.Consistently(p.View).WithTimeout(2 * time.Second).Should(gomega.And(gomega.HaveField("Phase", "listening"), gomega.HaveField("Caption", "")))
	g.Expect(p.Key("m")).To(gomega.Succeed())
	g.Eventually(p.View).Should(gomega.HaveField("Muted", false))
	p.says(tones(t, g, "heard again"))
	p.answered("You said: heard again")
	p.reaches("listening")
	p.hangUp()
}

// A screen reader finds every control by a name that says what it does.
func TestControlsHaveNames(t *testing.T) {
	t.Parallel()
	g := matching(t)
	s := scriptedServer(t, g)
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)

	g.Expect(p.Controls()).To(gomega.ContainElements(
		"button Talk", "button Mute", "button Interrupt", "button Send", "textbox Write a message", "meter Microphone level",
		"combobox Microphone", "button What is two plus two?",
	))
	p.call()
	g.Expect(p.Controls()).To(gomega.ContainElements("button End", "button Mute"))
	p.hangUp()
}

// tones returns sound from which the scripted recogniser reads this text.
func tones(t *testing.T, g *gomega.WithT, text string) rig.Sound {
	t.Helper()
	s, err := rig.Resampled(scripted.Tones(text), 24000)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return rig.Join(s, rig.Silence(300*time.Millisecond))
}

package browser_test

// The console of calls: an operator watches a call from a second tab.

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server"
)

// operators returns an operator's key, and the configuration of a server that knows it.
func operators(t *testing.T, g *gomega.WithT, words bool) (key string, s *rig.Server) {
	t.Helper()
	key, line, err := apikey.New("night desk")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	keys, err := apikey.Read(strings.NewReader(line))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := scripted.New(scripted.Options{})
	s, err = rig.ServeWith(server.Config{Pipeline: p, Logger: slog.New(slog.DiscardHandler), Watch: server.Watch{Operators: keys, ConsoleWords: words, Node: "harbour"}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() {
		g.Expect(s.Close()).To(gomega.Succeed())
		g.Expect(p.Close()).To(gomega.Succeed())
	})
	return key, s
}

// operates opens the console beside a Talk page, and gives it the key.
func operates(t *testing.T, g *gomega.WithT, b *rig.Browser, url, key string) *talk {
	t.Helper()
	tab, err := b.Open(url + "/console")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := &talk{Tab: tab, t: t, g: g}
	t.Cleanup(p.leave)
	p.evaluates(`!document.getElementById("ask").hidden`)
	p.enters(key)
	return p
}

// enters gives the console a key.
func (p *talk) enters(key string) {
	p.t.Helper()
	p.evaluates(fmt.Sprintf(`(document.getElementById("key").value = %q, document.getElementById("key-form").requestSubmit(), true)`, key))
}

// pictured checks the console with axe-core on a desk and on a telephone, in both colour schemes, and keeps screenshots.
func (p *talk) pictured(name string) {
	p.t.Helper()
	for _, size := range []size{{1440, 900}, {390, 844}} {
		p.accessible(name, size)
		for _, scheme := range []string{"light", "dark"} {
			p.g.Expect(p.Look(size.width, size.height, scheme)).To(gomega.Succeed())
			p.still()
			p.evaluates(`document.documentElement.scrollWidth <= innerWidth`)
			p.picture(fmt.Sprintf("console-%s-%d-%s", name, size.width, scheme))
		}
	}
}

// An operator sees a call while it goes on and when it is over: who speaks, the machines, the latency, the words and what was heard of an answer.
func TestAnOperatorWatchesACall(t *testing.T) {
	t.Parallel()
	g := matching(t)
	key, s := operators(t, g, true)
	b := launch(t, g, rig.Options{})
	p := open(t, g, b, s.URL)
	c := operates(t, g, b, s.URL, key)
	c.evaluates(`document.querySelector("#list").textContent.includes("There is no call.")`)

	p.call()
	p.says(tones(t, g, "the ships are in the harbour"))
	p.answered("You said: the ships are in the harbour")
	p.reaches("listening")
	c.evaluates(`document.querySelectorAll("#list .card:not([href$=logbook])").length === 1`)
	g.Expect(c.Press("#list .card")).To(gomega.Succeed())
	c.evaluates(`document.querySelector("#call-title").textContent === "No key, WebRTC"`)
	c.evaluates(`document.querySelector("#falls li .bar-ms").textContent.endsWith("ms")`)
	c.evaluates(`document.querySelector("#transcript-list").textContent.includes("the ships are in the harbour")`)
	c.evaluates(`document.querySelector(".diagram .present text").textContent === "Idle"`)
	g.Expect(c.Press("#machine-list button")).To(gomega.Succeed())
	c.evaluates(`document.querySelector(".diagram").getAttribute("aria-label") === "The machine compaction is in the state Idle"`)

	p.writes("say 60 words")
	p.reaches("speaking")
	c.evaluates(`document.querySelector("#list .lights .agent").dataset.on === "true"`)
	c.pictured("call")
	g.Expect(p.Press("#interrupt")).To(gomega.Succeed())
	heard := p.line("assistant", gomega.HaveField("Interrupted", true))
	c.evaluates(fmt.Sprintf(`[...document.querySelectorAll("#transcript-list .line")].at(-1).querySelector(".said").textContent === %q`, heard.Said))
	c.evaluates(`[...document.querySelectorAll("#transcript-list .cut")].length === 1`)

	p.hangUp()
	c.evaluates(`document.querySelector("#list .card").hasAttribute("data-ended") && document.querySelector("#facts").textContent.includes("ByClient")`)
	c.pictured("ended")
}

// Without --console-words the console shows and keeps no word. A wrong key is told so.
func TestTheConsoleHasNoWords(t *testing.T) {
	t.Parallel()
	g := matching(t)
	key, s := operators(t, g, false)
	b := launch(t, g, rig.Options{})
	p := open(t, g, b, s.URL)
	c := operates(t, g, b, s.URL, "ak_wrong-but-long-enough")
	c.fine = []string{"401"}
	c.evaluates(`document.querySelector("#key-error").textContent.includes("not an operator")`)
	c.pictured("key")
	c.enters(key)

	p.call()
	p.writes("a harbour without ships")
	p.answered("a harbour without ships")
	p.reaches("listening")
	c.evaluates(`document.querySelectorAll("#list .card:not([href$=logbook])").length === 1`)
	g.Expect(c.Press("#list .card")).To(gomega.Succeed())
	c.evaluates(`document.querySelectorAll("#step-list li").length > 10`)
	c.evaluates(`document.querySelector("#no-words").textContent.includes("--console-words")`)
	kept, err := rig.Await[string](c.Tab, fmt.Sprintf(`fetch("/v1/antiphon/console/calls?open=" + location.hash.slice(1), { headers: { Authorization: "Bearer %s" } }).then((r) => r.text())`, key))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(kept).To(gomega.ContainSubstring(`"steps":[{`))
	g.Expect(kept).NotTo(gomega.ContainSubstring("harbour without"))
	p.hangUp()
}

// An ended call is opened from its logbook and stepped through, forwards and backwards.
func TestARecordedCallIsSteppedThrough(t *testing.T) {
	t.Parallel()
	g := matching(t)
	key, s := operators(t, g, false)
	b := launch(t, g, rig.Options{})
	p := open(t, g, b, s.URL)
	p.call()
	p.writes("a harbour without ships")
	p.answered("a harbour without ships")
	p.reaches("listening")
	p.hangUp()
	c := operates(t, g, b, s.URL, key)
	c.evaluates(`document.querySelectorAll('#list a[href$=".logbook"]').length === 1`)
	g.Expect(c.Press(`#list a[href$=".logbook"]`)).To(gomega.Succeed())
	c.evaluates(`document.querySelector("#moment").textContent.startsWith("1 of ")`)
	moves := func(to string) {
		c.evaluates(fmt.Sprintf(`(() => {
			const slider = document.querySelector("#stepper input");
			slider.value = %s;
			slider.dispatchEvent(new Event("input"));
			return true;
		})()`, to))
	}
	moves("slider.max")
	c.evaluates(`[...document.querySelectorAll("#machine-list button")].some((b) => b.textContent === "connClosed")`)
	c.evaluates(`!document.querySelector("#console").textContent.includes("harbour without")`)
	c.pictured("recorded")
	last, err := rig.Evaluate[string](c.Tab, `document.querySelector("#step-list li").textContent`)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	moves("2")
	c.evaluates(`[...document.querySelectorAll("#machine-list button")].every((b) => b.textContent !== "connClosed")`)
	g.Expect(c.Press(`#stepper button:last-of-type`)).To(gomega.Succeed())
	c.evaluates(`document.querySelector("#moment").textContent.startsWith("3 of ")`)
	g.Expect(c.Press(`#stepper button`)).To(gomega.Succeed())
	c.evaluates(`document.querySelector("#moment").textContent.startsWith("2 of ")`)
	moves("slider.max")
	c.evaluates(fmt.Sprintf(`document.querySelector("#step-list li").textContent === %q`, last))
}

package examples

// The examples that are pages, in a real browser.

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// The element holds a call without a line of script.
func TestScriptInclude(t *testing.T) {
	p := show(t, "script-include")
	p.does(`await customElements.whenDefined("antiphon-talk"); globalThis.talk = document.querySelector("antiphon-talk"); await (await talk.start()).ready`)
	p.does(`talk.call.send("hello there")`)
	p.becomes(`talk.call.transcript.map((e) => e.role + ": " + e.text)`, "agent: You said: hello there")
	p.Eventually(p.Heard).Should(gomega.HaveField("LoudMS", gomega.BeNumerically(">", 200)))
	p.does(`await talk.stop()`)
	p.quiet()
}

// The page of README.md holds a call as it stands, and so does the script of docs/browser.md in it.
func TestThePageOfTheReadme(t *testing.T) {
	p := show(t, "README.md")
	p.does(`await customElements.whenDefined("antiphon-talk"); globalThis.talk = document.querySelector("antiphon-talk"); await (await talk.start()).ready`)
	p.does(`talk.call.send("hello there")`)
	p.becomes(`talk.call.transcript.map((e) => e.role + ": " + e.text)`, "agent: You said: hello there")
	p.does(`await talk.stop()`)
	script := shown("docs/browser.md", "js")
	p.Expect(script).To(gomega.ContainSubstring("Antiphon.connect"))
	p.does("%s; globalThis.held = call", strings.ReplaceAll(script, written, p.text(`talk.getAttribute("server")`)))
	p.becomes(`held.transcript.map((e) => e.role + ": " + e.text)`, "agent: You said: hello")
	p.does(`await held.close()`)
	p.quiet()
}

// Only speech while the button is held is a turn.
func TestPushToTalk(t *testing.T) {
	p := show(t, "push-to-talk")
	press := func(kind string) {
		p.does(`document.getElementById("talk").dispatchEvent(new KeyboardEvent(%q, { key: " ", bubbles: true }))`, kind)
	}
	hold := func(text string, held bool) {
		sound, err := rig.Speak(t.Context(), text)
		p.Expect(err).NotTo(gomega.HaveOccurred())
		if held {
			press("keydown")
			p.becomes(`document.getElementById("state").textContent`, "listening|user-speaking")
		}
		_, err = p.Say(sound.WAV())
		p.Expect(err).NotTo(gomega.HaveOccurred())
		p.does(`await new Promise((next) => setTimeout(next, %d))`, sound.Duration().Milliseconds())
		press("keyup")
	}
	hold("one two three", true)
	p.becomes(`document.getElementById("transcript").textContent`, "user: speech of .*agent: You said: speech of ")
	p.becomes(`document.getElementById("state").textContent`, "^listening$")
	said := p.text(`document.getElementById("transcript").childElementCount`)
	hold("nobody listens to this", false)
	p.Expect(p.text(`document.getElementById("transcript").childElementCount`)).To(gomega.Equal(said))
	p.quiet()
}

// The agent calls the page's functions, and goes on with their results.
func TestTools(t *testing.T) {
	p := show(t, "tools")
	p.does(`globalThis.talk = document.querySelector("antiphon-talk"); await (await talk.start()).ready`)
	p.does(`talk.call.send("please set_colour")`)
	p.becomes(`talk.call.transcript.map((e) => e.role + ": " + e.text)`, "agent: Tool said: it is light")
	p.becomes(`document.body.style.background`, "^light")
	p.becomes(`talk.call.state`, "^listening$")
	p.does(`talk.call.send("please add_item")`)
	p.becomes(`document.getElementById("list").childElementCount`, "^1$")
	p.does(`await talk.stop()`)
	p.quiet()
}

// The package is installed, bundled and runs under a strict Content-Security-Policy. The page's own tests pass, in Node and in the browser.
func TestNPMBundler(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := filepath.Join(root, "examples", "npm-bundler")
	cache, err := filepath.Abs(filepath.Join(root, ".cache", "npm"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(filepath.Join(root, "sdk", "npm", "dist", "antiphon.mjs")).To(gomega.BeAnExistingFile(), "make build puts it there")
	for _, args := range [][]string{{"ci", "--cache", cache, "--prefer-offline", "--loglevel", "error"}, {"test"}, {"run", "build"}, {"run", "build:test"}} {
		cmd := exec.CommandContext(t.Context(), "npm", args...)
		cmd.Dir, cmd.Env = folder, os.Environ()
		out, err := cmd.CombinedOutput()
		g.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	}
	p := show(t, "npm-bundler/www")
	p.does(`document.getElementById("begin").click()`)
	p.becomes(`document.getElementById("state").textContent`, "^listening$")
	p.does(`document.getElementById("text").value = "hello there"; document.querySelector("form button").click()`)
	p.becomes(`document.getElementById("transcript").textContent`, "(?s)user: hello there.*agent: You said: hello there")
	p.does(`document.getElementById("begin").click()`)
	const each = "user: hello | agent: You said: hello | user: count to three | agent: ..."
	p.Expect(p.text(`(await (await import("/test.js")).run()).join()`)).To(gomega.Equal(strings.Join([]string{each, each, each}, ",")))
	p.Expect(p.text(`await (await import("/test.js")).unanswered()`)).To(gomega.Equal("server_silent"))
	p.quiet()
}

package examples

// The example of a page's own server that gives client secrets, with an Antiphon server that asks for keys.

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// Only a user who has logged in gets a secret. The page gets a new one for each call, because each secret begins one call only.
func TestClientSecrets(t *testing.T) {
	const key = "sk-of-the-server-of-a-page"
	p := &page{WithT: gomega.NewWithT(t), t: t}
	p.patient()
	folder := t.TempDir()
	keys, program := filepath.Join(folder, "keys"), filepath.Join(folder, "client-secrets")
	p.Expect(os.WriteFile(keys, []byte(key+"\n"), 0o600)).To(gomega.Succeed())
	voice, err := rig.Start(root, "--pipeline", "scripted", "--listen", "127.0.0.1:0", "--api-key-file", keys, "--secret-single-use")
	p.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(voice.Kill)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./examples/client-secrets")
	build.Dir = root
	out, err := build.CombinedOutput()
	p.Expect(err).NotTo(gomega.HaveOccurred(), string(out))
	own := exec.Command(program, "-listen", "127.0.0.1:0", "-voice", voice.URL)
	own.Env = append(os.Environ(), "ANTIPHON_API_KEY="+key)
	site, err := rig.Run(own)
	p.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(site.Kill)

	p.Tab = (&rig.Site{URL: site.URL}).Visit(t, rig.StartBrowser(t, rig.Options{}), nil)
	p.Expect(p.text(`(await fetch("/secret", { method: "POST" })).status`)).To(gomega.Equal("401"))
	p.does(`document.querySelector("input").value = "Ada <Lovelace>"; document.querySelector("button").click()`)
	p.becomes(`document.querySelector("h1")?.textContent`, "^Hello, Ada <Lovelace>$")
	p.does(`globalThis.talk = document.querySelector("antiphon-talk")`)
	for range 2 {
		p.does(`await (await talk.start()).ready; talk.call.send("hello there")`)
		p.becomes(`talk.call.transcript.map((e) => e.role + ": " + e.text)`, "agent: You said: hello there")
		p.does(`await talk.stop()`)
	}
	p.Expect(p.text(`document.documentElement.outerHTML`)).NotTo(gomega.ContainSubstring(key))
	p.Expect(p.text(`document.cookie`)).To(gomega.BeEmpty(), "no script of the page reads the cookie")
}

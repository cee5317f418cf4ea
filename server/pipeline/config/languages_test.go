package config

// The section `languages`.

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
)

const scriptedStages = "stt: {kind: scripted}\nllm: {kind: scripted}\ntts: {kind: scripted}\n"

func TestLanguagesOfOnesOwn(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	words := []byte("[agreements]\ntak, dobrze\n[interruptions]\nczekaj\n[acknowledgements]\naha\n")
	g.Expect(os.WriteFile(filepath.Join(folder, "pl.txt"), words, 0o600)).To(gomega.Succeed())
	f, err := Parse(filepath.Join(folder, "antiphon.yaml"), []byte(scriptedStages+"languages: [{name: pl, file: pl.txt}]"), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p, err := f.Pipeline(t.Context(), Env{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	own := endofturn.Choice{Name: "pl-PL", Own: p.Languages}.Language("")
	g.Expect(own.Over("tak, dobrze").Acknowledges).To(gomega.BeTrue())
	g.Expect(own.Over("czekaj").Interrupts).To(gomega.BeTrue())
	g.Expect(endofturn.Choice{Name: "de", Own: p.Languages}.Language("")).To(gomega.BeIdenticalTo(endofturn.Find("de")))
	g.Expect(p.Close()).To(gomega.Succeed())
}

func TestMistakesOfLanguages(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "bad.txt"), []byte("[nouns]\ndom\n"), 0o600)).To(gomega.Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, "good.txt"), []byte("[open]\ni\n"), 0o600)).To(gomega.Succeed())
	for src, says := range map[string]string{
		"[{name: pl, file: none.txt}]":                             "languages: pl: open",
		"[{name: pl, file: bad.txt}]":                              "line 2: there is no section [nouns]",
		"[{name: Polish, file: good.txt}]":                         "want two or three small letters",
		"[{name: pl, file: good.txt}, {name: pl, file: good.txt}]": "stands there twice",
	} {
		f, err := Parse(filepath.Join(folder, "antiphon.yaml"), []byte(scriptedStages+"languages: "+src), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred(), src)
		_, err = f.Pipeline(t.Context(), Env{})
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)), src)
	}
	_, err := Parse("antiphon.yaml", []byte("languages: [{name: pl}]"), nil)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("file")))
}

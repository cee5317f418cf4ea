package config

// The kind of parakeet.cpp's library, from the file to the component.

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/parakeet"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestParakeet(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "antiphon.yaml")
	g.Expect(os.WriteFile(path, []byte("stt: {kind: parakeet, library: /none/libparakeet.so, model: small.gguf, language: de, processes: 3}"), 0o600)).To(gomega.Succeed())
	f, err := Load(path, nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(f.STT.Fields()).To(gomega.Equal(&Parakeet{
		Library: "/none/libparakeet.so", Model: filepath.Join(dir, "small.gguf"), Language: "de", Processes: 3,
	}))
	p, err := f.Pipeline(t.Context(), Env{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(p.Close()).To(gomega.Succeed()) }()
	g.Expect(p.Components()[0].State).To(gomega.Equal(pipeline.StateMissing))
	_, err = p.Transcriber.Open(t.Context(), pipeline.TranscribeConfig{})
	g.Expect(err).To(gomega.MatchError(parakeet.ErrLibrary))

	f, err = Parse("antiphon.yaml", []byte("stt: {kind: parakeet, model: /m.gguf, library: build/libparakeet.so}"), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = f.Pipeline(t.Context(), Env{})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(`stt (kind parakeet): library: "build/libparakeet.so" is a relative path`)))
	_, err = Parse("antiphon.yaml", []byte("stt: {kind: parakeet}"), nil)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("model")))
}

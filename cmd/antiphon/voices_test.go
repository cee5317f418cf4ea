package main

// The section voices also guards the pipeline of the flag --pipeline.

import (
	"log/slog"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline/config"
	"github.com/antiphon-rt/antiphon/server/pipeline/models"
)

func TestThePipelineOfTheFlagHasTheVoiceGate(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Setenv("ANTIPHON_MODELS", "../../.cache/models")
	file, err := config.Parse(config.Name, []byte("voices: {folder: "+t.TempDir()+"}"), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	c := serve{Pipeline: "scripted"}
	p, err := c.open(t.Context(), file, true, slog.New(slog.DiscardHandler))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(p.Gate).NotTo(gomega.BeNil())
	g.Expect(p.Close()).To(gomega.Succeed())

	t.Setenv("ANTIPHON_MODELS", t.TempDir())
	_, err = c.open(t.Context(), file, true, slog.New(slog.DiscardHandler))
	g.Expect(err).To(gomega.MatchError(models.ErrNotThere), "without the network the server does not start")
}

package main

// The table of `antiphon doctor`, and how it tries a pipeline.

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
)

func TestDiagnoseSaysWhatIsMissing(t *testing.T) {
	g := gomega.NewWithT(t)
	var out strings.Builder
	err := diagnose(&out, "embedded", []pipeline.Component{
		{Stage: "transcriber", Name: "ears", State: pipeline.StateMissing, Detail: "no ears", Install: "apt-get install ears"},
		{Stage: "model", Name: "brain", State: pipeline.StateReady},
		{Stage: "synthesizer", Name: "mouth", State: pipeline.StateFailed, Detail: "it is shut"},
	})
	g.Expect(err).To(gomega.MatchError(errNotWorking))
	g.Expect(err).To(gomega.MatchError("not everything works: transcriber, synthesizer"))
	g.Expect(out.String()).To(gomega.Equal(`The pipeline "embedded":

  transcriber  ears   missing  no ears
  model        brain  ready    ` + `
  synthesizer  mouth  failed   it is shut

To get the transcriber:
  apt-get install ears
`))
}

func TestExamineLoadsThePipeline(t *testing.T) {
	g := gomega.NewWithT(t)
	script, err := scripted.Parse("x", []byte("load: 10ms"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := scripted.New(scripted.Options{Script: script})
	g.Expect(p.Components()[0].State).To(gomega.Equal(pipeline.StateLoading))
	var out strings.Builder
	g.Expect(diagnose(&out, p.Name, examine(t.Context(), p))).To(gomega.Succeed())
	g.Expect(out.String()).To(gomega.HaveSuffix("\nEverything works.\n"))
}

package main

// The table of `antiphon doctor`, and how it tries a pipeline.

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/probe"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

func TestDiagnoseSaysWhatIsMissing(t *testing.T) {
	g := gomega.NewWithT(t)
	var out strings.Builder
	err := diagnose(&out, []pipeline.Component{
		{Stage: "transcriber", Name: "ears", State: pipeline.StateMissing, Detail: "no ears", Install: "apt-get install ears"},
		{Stage: "model", Name: "br\x1b\u202eain", State: pipeline.StateReady},
		{Stage: "synthesizer", Name: "mouth", State: pipeline.StateReady},
	}, []probe.Result{
		{Stage: "transcriber", Err: errors.New("no ears")},
		{Stage: "model", Connect: 1200 * time.Microsecond, First: 345 * time.Millisecond, Answer: "Hello\n\x1b[31mthere"},
		{Stage: "synthesizer", Err: &pipeline.StageError{Stage: "synthesizer", Err: errors.New("http://127.0.0.1:1/v1\x1b answered 500: it is shut"), Hint: "open it"}},
	})
	g.Expect(err).To(gomega.MatchError(errNotWorking))
	g.Expect(err).To(gomega.MatchError("not everything works: transcriber, synthesizer"))
	g.Expect(out.String()).To(gomega.Equal(`  stage        name   state    connect  first   real time  answer
  transcriber  ears   missing  -        -       -          ` + `
  model        brain  ready    1.2 ms   345 ms  -          Hello [31mthere
  synthesizer  mouth  failed   -        -       -          ` + `

The transcriber is missing: no ears
To get it:
  apt-get install ears
The synthesizer does not work: http://127.0.0.1:1/v1 answered 500: it is shut (open it)
`))
}

// A stage that answers too late for a conversation is named with its time, its bound and what to do. It is no error.
func TestDiagnoseSaysWhatIsTooSlow(t *testing.T) {
	g := gomega.NewWithT(t)
	components := []pipeline.Component{
		{Stage: "transcriber", Name: "ears", State: pipeline.StateReady},
		{Stage: "model", Name: "brain", State: pipeline.StateReady},
		{Stage: "synthesizer", Name: "mouth", State: pipeline.StateReady},
	}
	ears, brain, mouth := probe.Result{Stage: "transcriber", First: 2 * time.Second, RealTime: 1}, probe.Result{Stage: "model", First: 3 * time.Second}, probe.Result{Stage: "synthesizer", First: 2 * time.Second, RealTime: 1}
	said := func() string {
		var out strings.Builder
		g.Expect(diagnose(&out, components, []probe.Result{ears, brain, mouth})).To(gomega.Succeed())
		return out.String()
	}
	g.Expect(said()).To(gomega.ContainSubstring("\nEverything works. first:"), "all are within their bounds")

	ears.First, brain.First, mouth.RealTime = 2100*time.Millisecond, 45*time.Second, 1.5
	g.Expect(said()).To(gomega.HaveSuffix(`
The transcriber is too slow for a conversation: text after 2.1 s, and the bound is 2.0 s. Take a smaller model, or run it on a GPU.
The model is too slow for a conversation: first token after 45.0 s, and the bound is 3.0 s. ` +
		`Take a smaller model, keep it loaded (Ollama: keep_alive), switch its thinking off, or run it on a GPU.
The synthesizer is too slow for a conversation: it works 1.5 s for each second of speech, and the bound is 1 s. Take a smaller model, or run it on a GPU.
first: until the first token of the model, the first audio of the synthesizer, the text of the recogniser.
real time: time of the work for each second of speech.
`))
}

// Noise reduction is optional: doctor says how to get it, and does not fail without it.
func TestDoctorOfNoiseReduction(t *testing.T) {
	g := gomega.NewWithT(t)
	for folder, says := range map[string]string{
		t.TempDir():           "There is no noise reduction (noise_reduction of a session). To get it:\n  antiphon models get rnnoise\n",
		"../../.cache/models": "Noise reduction works: rnnoise, from @sapphi-red/web-noise-suppressor 0.4.1.\n",
	} {
		t.Setenv("ANTIPHON_MODELS", folder)
		var out strings.Builder
		g.Expect((&doctor{Pipeline: "scripted"}).run(t.Context(), &out)).To(gomega.Succeed())
		g.Expect(out.String()).To(gomega.HaveSuffix(says))
	}
}

// Doctor says how ends of turns are found, and how to get Smart Turn where the configuration asks for it.
func TestDoctorOfEndsOfTurns(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Setenv("ANTIPHON_MODELS", t.TempDir())
	for src, says := range map[string]string{
		"stt: {kind: scripted}": "semantic_vad: the recogniser reports the ends of turns.\n",
		"":                      "semantic_vad: ends of turns are estimated by the words and the sound.\n",
		"turn: smart-turn": "semantic_vad: ends of turns are estimated by the words and the sound, because smart-turn is not on this machine. To get it:\n" +
			"  antiphon models get smart-turn\n",
	} {
		file, err := config.Parse(config.Name, []byte(src), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		p, err := file.Pipeline(t.Context(), config.Env{})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		var out strings.Builder
		diagnoseEnds(t.Context(), &out, p)
		g.Expect(out.String()).To(gomega.Equal(says))
		g.Expect(p.Close()).To(gomega.Succeed())
	}
}

// Doctor tries the configuration of the folder, or the pipeline that its argument names.
func TestDoctor(t *testing.T) {
	g := gomega.NewWithT(t)
	t.Chdir(t.TempDir())
	g.Expect(os.WriteFile(config.Name, []byte("stt: {kind: scripted}\nllm: {kind: scripted}\ntts: {kind: scripted}\n"), 0o600)).To(gomega.Succeed())
	for _, row := range []struct {
		doctor doctor
		begin  string
	}{
		{doctor{}, "antiphon.yaml (each stage has a minute to load and to answer):\n"},
		{doctor{Config: config.Name}, "antiphon.yaml (each stage has a minute to load and to answer):\n"},
		{doctor{Pipeline: "scripted"}, "The pipeline \"scripted\" (each stage has a minute to load and to answer):\n"},
	} {
		var out strings.Builder
		g.Expect(row.doctor.run(t.Context(), &out)).To(gomega.Succeed())
		g.Expect(out.String()).To(gomega.HavePrefix(row.begin))
		g.Expect(out.String()).To(gomega.ContainSubstring("\nEverything works."))
		g.Expect(strings.Count(out.String(), " ready ")).To(gomega.Equal(3))
	}
	g.Expect(os.WriteFile(config.Name, []byte("sst: {kind: scripted}\n"), 0o600)).To(gomega.Succeed())
	g.Expect((&doctor{}).run(t.Context(), new(strings.Builder))).To(gomega.MatchError(gomega.ContainSubstring("did you mean \"stt\"")))
}

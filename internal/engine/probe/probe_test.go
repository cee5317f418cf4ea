package probe

// Probes of stages that work, that fail, and that work after a while.

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scriptedOf returns the pipeline of a script.
func scriptedOf(t *testing.T, script string) *pipeline.Pipeline {
	t.Helper()
	s, err := scripted.Parse("script", []byte(script))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return scripted.New(scripted.Options{Script: s})
}

func TestRun(t *testing.T) {
	for _, row := range []struct {
		name, script        string
		hears, writes, says string // the error of each stage; "" for none
	}{
		{"all work", "", "", "", ""},
		{"the synthesizer fails", "synthesizer: {rules: [{fail: no sound}]}", "", "", "no sound"},
		{"the synthesizer is missing", "synthesizer: {missing: apt install tts}", "", "", "apt install tts"},
		{"the model fails", "model: {replies: [{fail: no words}]}", "", "no words", ""},
		{"the model says nothing", "model: {replies: [{say: ''}]}", "", "without text", ""},
		{"the model says much", "model: {replies: [{say: '" + strings.Repeat("word ", 500) + "'}]}", "", "", ""},
		{"the model is cut", "model: {replies: [{say: so it, cut: true}]}", "", "", ""},
		{"the recogniser fails", "transcriber: {rules: [{fail: no ears}]}", "no ears", "", ""},
		{"the recogniser is deaf", "transcriber: {rules: [{text: ' '}]}", "recognised nothing", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			p := scriptedOf(t, row.script)
			results := Run(t.Context(), p)
			for i, want := range []string{row.hears, row.writes, row.says} {
				if want == "" {
					g.Expect(results[i].Err).NotTo(gomega.HaveOccurred())
					g.Expect(results[i].Answer).NotTo(gomega.BeEmpty())
					g.Expect(results[i].First).To(gomega.BeNumerically(">", 0))
				} else {
					g.Expect(results[i].Err).To(gomega.MatchError(gomega.ContainSubstring(want)))
				}
			}
			for i, c := range Show(p.Components(), results) {
				switch {
				case results[i].Err == nil:
					g.Expect(c.State).To(gomega.Equal(pipeline.StateReady))
					g.Expect(c.Detail).To(gomega.ContainSubstring(" after "))
				case c.State != pipeline.StateMissing:
					g.Expect(c.State).To(gomega.Equal(pipeline.StateFailed))
					g.Expect(c.Detail).NotTo(gomega.HavePrefix(c.Stage))
				}
			}
		})
	}
}

// A recogniser that works must recognise what was said. Case and punctuation do not count, and two of the five words may be wrong.
func TestARecogniserOfAnotherSentence(t *testing.T) {
	for heard, wrong := range map[string]bool{
		"hello this is a test":                           false,
		"Hello! This is the best.":                       false,
		"Well, this is the best.":                        true,
		"Hello, this is a test. Thank you for watching.": true,
		"test":                     true,
		"Hallo, das ist ein Test.": true,
		"Привет":                   true,
	} {
		g := gomega.NewWithT(t)
		p := scriptedOf(t, "transcriber: {rules: [{text: '"+heard+"'}]}")
		components := p.Components
		p.Components = func() []pipeline.Component {
			all := components()
			all[0].Name = "ears"
			return all
		}
		r := Run(t.Context(), p)[0]
		g.Expect(r.Err).NotTo(gomega.HaveOccurred())
		if !wrong {
			g.Expect(r.Findings()).To(gomega.BeEmpty(), heard)
			continue
		}
		g.Expect(r.Findings()).To(gomega.ConsistOf(gomega.HavePrefix(
			"The transcriber recognised \""+heard+"\" in place of \"Hello, this is a test.\", which the synthesizer said.\n")), heard)
	}
}

// A stage that does not answer fails after a minute, and the error says so.
func TestStageThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		begin := time.Now()
		results := Run(t.Context(), scriptedOf(t, "model: {replies: [{stall: true}]}"))
		g.Expect(results[1].Err).To(gomega.MatchError("no answer within 1m0s"))
		g.Expect(time.Since(begin)).To(gomega.BeNumerically("<", 90*time.Second))
	})
}

// remote is a model behind a URL.
type remote struct {
	url    string
	client *http.Client
	calls  atomic.Int32
	broken atomic.Int32 // how many calls fail from now on
}

func (m *remote) Generate(ctx context.Context, _ pipeline.Request, emit func(pipeline.ModelEvent) error) (u pipeline.Usage, err error) {
	m.calls.Add(1)
	if m.broken.Add(-1) >= 0 {
		return u, &pipeline.StageError{Stage: pipeline.StageModel, Err: errors.New("it is away")}
	}
	if m.url != "" {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url, nil)
		if err != nil {
			return u, err
		}
		answer, err := m.client.Do(r)
		if err != nil {
			return u, err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		if err = errors.Join(err, answer.Body.Close()); err != nil {
			return u, err
		}
	}
	return u, emit(pipeline.TextDelta{Text: "hello"})
}

// The dial is measured, also where the connection was made before the request.
func TestConnect(t *testing.T) {
	g := gomega.NewWithT(t)
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	m := &remote{url: server.URL, client: server.Client()}
	p := scriptedOf(t, "")
	p.Model = m
	p.Warm = func(ctx context.Context) error {
		_, err := m.Generate(ctx, pipeline.Request{}, func(pipeline.ModelEvent) error { return nil })
		return err
	}
	r := Run(t.Context(), p)[1]
	g.Expect(r.Err).NotTo(gomega.HaveOccurred())
	g.Expect(r.Connect).To(gomega.And(gomega.BeNumerically(">", 0), gomega.BeNumerically("<=", time.Second)))
	g.Expect(r.Facts()).To(gomega.MatchRegexp("^connects in .* ms, first token after .* ms$"))
}

// A server tries a stage that failed again, with growing pauses, and leaves those in peace that work.
func TestKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		m := &remote{}
		m.broken.Store(2)
		p := scriptedOf(t, "load: 1s")
		p.Model = m
		k := Keep(p)
		g.Expect(p.Components()[1].State).To(gomega.Equal(pipeline.StateLoading))
		var said []string
		begin := time.Now()
		k.Run(t.Context(), 30*time.Second, func(r Result) {
			said = append(said, r.Stage+" "+text(r.Err))
			if len(said) == 2 {
				g.Expect(p.Components()[1].State).To(gomega.Equal(pipeline.StateFailed))
				g.Expect(p.Components()[1].Detail).To(gomega.Equal("it is away"))
			}
		})
		g.Expect(said).To(gomega.Equal([]string{"transcriber ", "model model: it is away", "synthesizer ", "model "}))
		g.Expect(m.calls.Load()).To(gomega.BeEquivalentTo(3))
		g.Expect(time.Since(begin)).To(gomega.BeNumerically("~", 91*time.Second, 5*time.Second))
		g.Expect(p.Components()[1].State).To(gomega.Equal(pipeline.StateReady))
		m.broken.Store(100)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Hour, cancel)
		k.Run(ctx, 30*time.Second, func(Result) {})
		g.Expect(m.calls.Load()).To(gomega.BeNumerically("<", 40), "the pauses grow")
	})
}

// picky is a model that hears, and that refuses a message without audio.
type picky struct{ pipeline.Model }

// HearsAudio implements pipeline.AudioModel.
func (picky) HearsAudio() bool { return true }

// Generate implements pipeline.Model.
func (picky) Generate(_ context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (u pipeline.Usage, err error) {
	if a := r.Messages[0].Audio; a == nil || len(a.PCM) == 0 || a.Rest != r.Messages[0].Text {
		return u, errors.New("no audio")
	}
	return u, emit(pipeline.TextDelta{Text: "hello"})
}

// A model that hears is asked with audio: some servers refuse it.
func TestAModelThatHears(t *testing.T) {
	p := scriptedOf(t, "")
	p.Model = picky{}
	gomega.NewWithT(t).Expect(Run(t.Context(), p)[1].Err).NotTo(gomega.HaveOccurred())
}

package noisebench

// This file places a real call over WebRTC under each condition. The agent speaks all the time, and the person interrupts it with each sentence.

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/e2e/internal/figures"
	"github.com/antiphon-rt/antiphon/e2e/internal/human"
	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

const (
	callLead   = 2 * time.Second  // silence before the first sentence
	callGap    = 7 * time.Second  // after each sentence: the agent begins to answer, and speaks for some seconds
	callAfter  = 1 * time.Second  // an onset that begins this long after the begin of a sentence does not belong to it
	callSlack  = 10 * time.Second // for the last transcript
	callsPlace = 30 * time.Second // for the connection
)

// BenchmarkCalls places a call under each condition. The names a to m have set the numbers of the detector, so the person says others.
func BenchmarkCalls(b *testing.B) {
	p := ears(b)
	ahead, late := serve(b, p, true), serve(b, p, false)
	said, others := human.Sentences(prompts(b, 'n', 'z'), *count), prompts(b, 'a', 'm')
	for _, c := range append(conditions(), musical()...) {
		url := ahead
		if c.late {
			url = late
		}
		b.Run(c.name, func(b *testing.B) {
			r, err := placeCall(b.Context(), url, c, said, others)
			if err != nil {
				b.Fatal(err)
			}
			figures.Share(b, "heard", len(r.onsets), len(said))
			figures.Times(b, "heard-after", r.onsets, 50)
			figures.Share(b, "interrupted", r.interrupted, len(said)-1)
			figures.Count(b, "false-onsets", r.falseOnsets)
			figures.Count(b, "false-interruptions", r.falseCuts)
			figures.Share(b, "wrong-words", r.wrong, r.words)
			figures.Times(b, "answered-after", r.answers, 50)
		})
	}
}

// ears returns a pipeline that recognises speech and answers everything with many words.
func ears(b *testing.B) *pipeline.Pipeline {
	s, err := sherpa.Recogniser(sherpa.Config{Models: models, Processes: 1})
	if err != nil {
		b.Fatal(err)
	}
	p := pipeline.Compose("calls", s, scripted.Model(scripted.Options{}), scripted.Synthesizer(scripted.Options{}))
	p.Model = talkative{}
	ends(b, p.Close)
	if err := p.Warm(b.Context()); err != nil {
		b.Fatal(err)
	}
	return p
}

// ends calls a function at the end of the benchmark.
func ends(b *testing.B, end func() error) {
	b.Cleanup(func() {
		if err := end(); err != nil {
			b.Error(err)
		}
	})
}

// serve starts a server for the pipeline. It ends with the benchmark.
func serve(b *testing.B, p *pipeline.Pipeline, ahead bool) (url string) {
	s, err := server.New(server.Config{Pipeline: p, Loopback: true, AnswerAhead: ahead})
	if err != nil {
		b.Fatal(err)
	}
	web := httptest.NewServer(s)
	ends(b, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), callSlack)
		defer cancel()
		err := s.Close(ctx)
		web.Close()
		return err
	})
	return web.URL
}

// talkative is a model that answers everything with 60 words.
type talkative struct{}

// Generate implements pipeline.Model.
func (talkative) Generate(_ context.Context, _ pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	return pipeline.Usage{}, emit(pipeline.TextDelta{Text: strings.Repeat("one two three four five six seven eight nine ten. ", 6)})
}

// track is the sound of a whole call: an endless native.Source.
type track struct {
	mu  sync.Mutex
	pcm []int16 // at native.Rate
	at  int
	end chan struct{} // is closed after the last sample
}

// Frame implements native.Source.
func (s *track) Frame(pcm []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(pcm)
	before := s.at
	s.at += copy(pcm, s.pcm[s.at:])
	if before < len(s.pcm) && s.at == len(s.pcm) {
		close(s.end)
	}
}

// played returns how much of the track has been taken.
func (s *track) played() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(s.at) * time.Second / native.Rate
}

// span is where a sentence stands in the track.
type span struct{ from, to time.Duration }

// newTrack returns the sound of a call under a condition, and where its sentences are.
func newTrack(c condition, said, others []human.Sentence) (*track, []span, error) {
	at := func(x []float32) time.Duration { return time.Duration(len(x)) * time.Second / human.Rate }
	x := make([]float32, human.Rate*int(callLead/time.Second))
	var spans []span
	for _, p := range said {
		first, last := spoken(p.PCM)
		begin := at(x)
		x = append(x, p.PCM...)
		spans = append(spans, span{begin + at(p.PCM[:first]), begin + at(p.PCM[:last])})
		x = append(x, make([]float32, human.Rate*int(callGap/time.Second))...)
	}
	if c.change != nil {
		if err := c.change(x, others, rand.New(rand.NewPCG(5, 1))); err != nil {
			return nil, nil, err
		}
	}
	up, err := voice.NewResampler(human.Rate, native.Rate)
	if err != nil {
		return nil, nil, err
	}
	return &track{pcm: voice.FloatToPCM16(nil, up.Flush(up.Append(nil, x))), end: make(chan struct{})}, spans, nil
}

// spoken returns where the first and the last sound of a prompt is that is less than 26 dB below its level.
func spoken(x []float32) (first, last int) {
	loud := func(v float32) bool { return math.Abs(float64(v)) > level/20 }
	first = max(0, slices.IndexFunc(x, loud))
	for last = len(x); last > first && !loud(x[last-1]); {
		last--
	}
	return first, last
}

// change is a change of the confirmed state of a call, at a place of the track.
type change struct {
	at       time.Duration
	from, to sdk.State
}

// result is what a call has shown.
type result struct {
	onsets      []time.Duration // from the begin of each sentence that was heard
	answers     []time.Duration // from the end of each sentence that was answered
	interrupted int             // sentences that have interrupted the agent
	falseOnsets int             // where nobody spoke
	falseCuts   int             // of these, while the agent spoke
	wrong       int             // words
	words       int
}

// placeCall holds a call under a condition.
func placeCall(ctx context.Context, url string, c condition, said, others []human.Sentence) (r result, err error) {
	sound, spans, err := newTrack(c, said, others)
	if err != nil {
		return r, err
	}
	relay, err := rig.NewRelay(url, c.link)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, relay.Close()) }()
	dialer, err := native.NewDialer(native.Options{URL: relay.URL, Microphone: sound, Speaker: native.NewSpeaker(0), Loopback: true})
	if err != nil {
		return r, err
	}
	call, err := sdk.New(sdk.Options{Dialer: dialer, TurnDetection: c.turns})
	if err != nil {
		return r, err
	}
	var mu sync.Mutex
	var changes []change
	before := call.Snapshot().Confirmed
	call.Subscribe(func(now sdk.Snapshot) {
		mu.Lock()
		defer mu.Unlock()
		if now.Confirmed != before {
			changes = append(changes, change{sound.played(), before, now.Confirmed})
			before = now.Confirmed
		}
	})
	ctx, cancel := context.WithTimeout(ctx, callsPlace+spans[len(spans)-1].to+callGap+callSlack)
	defer cancel()
	if err := call.Connect(ctx); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, call.Close(context.WithoutCancel(ctx))) }()
	select {
	case <-sound.end:
	case <-ctx.Done():
		return r, ctx.Err()
	}
	mu.Lock()
	r.judge(changes, spans)
	mu.Unlock()
	var heard []string
	for _, e := range call.Snapshot().Transcript {
		if e.Role == sdk.User {
			heard = append(heard, e.Text)
		}
	}
	for _, p := range said {
		_, of := human.WrongWords(p.Text, "")
		r.words += of
	}
	var texts []string
	for _, p := range said {
		texts = append(texts, p.Text)
	}
	r.wrong, _ = human.WrongWords(strings.Join(texts, " "), strings.Join(heard, " "))
	return r, nil
}

// judge compares what the server has said with where the sentences are.
func (r *result) judge(changes []change, spans []span) {
	begun, answered := make([]bool, len(spans)), make([]bool, len(spans))
	for _, c := range changes {
		k := slices.IndexFunc(spans, func(s span) bool { return c.at >= s.from && c.at < s.to+callAfter })
		switch {
		case c.to == sdk.UserSpeaking && k < 0:
			r.falseOnsets++
			if c.from == sdk.AgentSpeaking {
				r.falseCuts++
			}
		case c.to == sdk.UserSpeaking && !begun[k]:
			begun[k] = true
			r.onsets = append(r.onsets, c.at-spans[k].from)
			if c.from == sdk.AgentSpeaking {
				r.interrupted++
			}
		case c.to == sdk.AgentSpeaking:
			for i, s := range slices.Backward(spans) {
				if c.at >= s.to {
					if !answered[i] {
						answered[i] = true
						r.answers = append(r.answers, c.at-s.to)
					}
					break
				}
			}
		}
	}
}

package main

// This file places a real call over WebRTC under each condition. The agent speaks all the time, and the person interrupts it with each sentence.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

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

// measureCalls prints the table of the part calls.
func measureCalls(ctx context.Context, o options, caller, others []prompt) (err error) {
	s, err := sherpa.Recogniser(sherpa.Config{Models: o.models, Processes: 1})
	if err != nil {
		return err
	}
	p := pipeline.Compose("calls", s, scripted.Model(scripted.Options{}), scripted.Synthesizer(scripted.Options{}))
	p.Model = talkative{}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := p.Warm(ctx); err != nil {
		return err
	}
	ahead, stop, err := serve(p, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	late, stopLate, err := serve(p, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopLate()) }()
	said := sentences(caller, o.n)
	fmt.Println("\n| condition | sentences heard | later than in a quiet room, p50 | interruptions of the agent | false onsets | false interruptions | wrong words | answer begins, p50 |\n|---|---|---|---|---|---|---|---|")
	quiet := time.Duration(0)
	for i, c := range append(conditions(), musical()...) {
		if i > 0 && !strings.Contains(c.name, o.only) {
			continue
		}
		url := ahead
		if c.late {
			url = late
		}
		r, err := placeCall(ctx, url, c, said, others)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if i == 0 {
			quiet = middle(r.onsets)
		}
		fmt.Printf("| %s | %d of %d | %v | %d of %d | %d | %d | %.1f %% | %v |\n", c.name, len(r.onsets), len(said), middle(r.onsets)-quiet, r.interrupted,
			len(said)-1, r.falseOnsets, r.falseCuts, 100*float64(r.wrong)/float64(r.words), middle(r.answers))
	}
	return nil
}

// serve starts a server for the pipeline. stop ends it.
func serve(p *pipeline.Pipeline, ahead bool) (url string, stop func() error, err error) {
	s, err := server.New(server.Config{Pipeline: p, Loopback: true, AnswerAhead: ahead})
	if err != nil {
		return "", nil, err
	}
	web := httptest.NewServer(s)
	return web.URL, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), callSlack)
		defer cancel()
		err := s.Close(ctx)
		web.Close()
		return err
	}, nil
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
func newTrack(c condition, said, others []prompt) (*track, []span, error) {
	at := func(x []float32) time.Duration { return time.Duration(len(x)) * time.Second / human.Rate }
	x := make([]float32, human.Rate*int(callLead/time.Second))
	var spans []span
	for _, p := range said {
		first, last := spoken(p.pcm)
		begin := at(x)
		x = append(x, p.pcm...)
		spans = append(spans, span{begin + at(p.pcm[:first]), begin + at(p.pcm[:last])})
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
func placeCall(ctx context.Context, url string, c condition, said, others []prompt) (r result, err error) {
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
		_, of := human.WrongWords(p.text, "")
		r.words += of
	}
	var texts []string
	for _, p := range said {
		texts = append(texts, p.text)
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

// middle returns the median, in steps of 10 ms; 0 of nothing.
func middle(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2].Round(10 * time.Millisecond)
}

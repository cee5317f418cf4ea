package logbook

// The stages and the link of a session that plays a logbook: they do nothing, because the logbook has their results.

import (
	"context"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
	"github.com/antiphon-rt/antiphon/internal/engine/sounds"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Stages say what a pipeline has.
type Stages struct {
	Name                                       string
	Prompts                                    map[string]pipeline.Prompt
	Counts, Noise, Ends, Retranscribes, Sounds bool
	OwnLanguages, Gated, FirstTurn             bool
	Deadline                                   time.Duration
	Tools                                      []Tool
	Announcement                               string
	After                                      time.Duration
}

// Tool is a tool of the server.
type Tool struct {
	Name, Description string
	Parameters        []byte
	Timeout           time.Duration
	Repeatable        bool
}

// StagesOf says what a pipeline has.
func StagesOf(p *pipeline.Pipeline, tools pipeline.ServerTools) Stages {
	s := Stages{
		Name: p.Name, Prompts: p.Prompts, Noise: p.Noise != nil, Ends: p.EndOfTurn != nil, Retranscribes: p.Retranscriber != nil, Sounds: p.Sounds != nil,
		OwnLanguages: p.Languages != nil, Gated: p.Gate != nil, Announcement: tools.Announcement, After: tools.After,
	}
	_, s.Counts = p.Model.(pipeline.TokenCounter)
	if p.Gate != nil {
		s.FirstTurn, s.Deadline = p.Gate.FirstTurn, p.Gate.Deadline
	}
	for _, t := range tools.Tools {
		s.Tools = append(s.Tools, Tool{t.Name, t.Description, t.Parameters, t.Timeout, t.Repeatable})
	}
	return s
}

// Stand returns a pipeline and tools that have the same, and do nothing.
func (s *Stages) Stand() (*pipeline.Pipeline, pipeline.ServerTools) {
	tools := pipeline.ServerTools{Announcement: s.Announcement, After: s.After}
	for _, t := range s.Tools {
		tools.Tools = append(tools.Tools, pipeline.ServerTool{
			Tool: pipeline.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters}, Timeout: t.Timeout, Repeatable: t.Repeatable,
			Run: func(context.Context, string) (string, error) { return "", nil },
		})
	}
	p := &pipeline.Pipeline{Name: s.Name, Transcriber: nobody{}, Model: nobodyWrites{}, Synthesizer: nobody{}, Prompts: s.Prompts, Warm: func(context.Context) error { return nil }}
	if s.Counts {
		p.Model = nobodyCounts{nobodyWrites{}}
	}
	if s.Noise {
		p.Noise = nobodyReduces{}
	}
	if s.Ends {
		p.EndOfTurn = endofturn.New
	}
	if s.Retranscribes {
		p.Retranscriber = nobody{}
	}
	if s.Sounds {
		p.Sounds = nobody{}
	}
	if s.Gated {
		p.Gate = &pipeline.VoiceGate{Verifier: nobody{}, FirstTurn: s.FirstTurn, Deadline: s.Deadline}
	}
	return p, tools
}

// nobody recognises, speaks, verifies and tags nothing.
type nobody struct{}

// Open implements pipeline.Transcriber.
func (nobody) Open(context.Context, pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	return &unheard{results: make(chan pipeline.TranscriptResult)}, nil
}

// Synthesize implements pipeline.Synthesizer.
func (nobody) Synthesize(context.Context, pipeline.Utterance, func([]int16) error) error { return nil }

// Verify implements pipeline.SpeakerVerifier.
func (nobody) Verify(context.Context, []float32) (v pipeline.SpeakerVerdict, err error) {
	return v, nil
}

// Tag implements sounds.Tagger.
func (nobody) Tag(context.Context, []float32) ([]sounds.Tag, error) { return nil, nil }

// unheard is a transcription without results.
type unheard struct {
	results chan pipeline.TranscriptResult
	closed  bool
}

// The methods of pipeline.Transcription.
func (*unheard) Write([]float32) error { return nil }

func (u *unheard) CloseInput() error {
	if !u.closed {
		close(u.results)
	}
	u.closed = true
	return nil
}

func (u *unheard) Results() <-chan pipeline.TranscriptResult { return u.results }
func (*unheard) Close() error                                { return nil }

// nobodyWrites calls each tool once, so that a body whose model called one waits for the next step.
type nobodyWrites struct{}

// Generate implements pipeline.Model.
func (nobodyWrites) Generate(_ context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (u pipeline.Usage, err error) {
	for _, t := range r.Tools {
		if err == nil {
			err = emit(pipeline.ToolCallDone{Name: t.Name})
		}
	}
	return u, err
}

type nobodyCounts struct{ nobodyWrites }

// The methods of pipeline.TokenCounter.
func (nobodyCounts) CountTokens(string) int { return 0 }
func (nobodyCounts) ContextWindow() int     { return 0 }

// nobodyReduces is a noise reduction.
type nobodyReduces struct{}

// The methods of pipeline.NoiseReducer.
func (nobodyReduces) Component() (c pipeline.Component) { return c }

func (nobodyReduces) Open(pipeline.NoiseField) (pipeline.NoiseReduction, error) {
	return nothingReduced{}, nil
}

func (nobodyReduces) Close() error { return nil }

type nothingReduced struct{}

// The methods of pipeline.NoiseReduction.
func (nothingReduced) Append(dst, _ []int16) ([]int16, error) { return dst, nil }
func (nothingReduced) Flush(dst []int16) ([]int16, error)     { return dst, nil }
func (nothingReduced) Delay() time.Duration                   { return 0 }
func (nothingReduced) Close()                                 {}

// Epoch is a journal that keeps nothing.
type Epoch uint32

// The methods of survival.Journal.
func (e Epoch) Epoch() uint32       { return uint32(e) }
func (Epoch) Record(journal.Record) {}

// silentOutput is an output that plays nothing.
type silentOutput struct{}

// The methods of link.Output.
func (silentOutput) Begin(uint64)                 {}
func (silentOutput) Write([]int16)                {}
func (silentOutput) End()                         {}
func (silentOutput) Hold() (sent voice.Samples)   { return 0 }
func (silentOutput) Soften(float32)               {}
func (silentOutput) Resume(uint64, voice.Samples) {}
func (silentOutput) Drop() (sent voice.Samples)   { return 0 }
func (silentOutput) Sent() voice.Samples          { return 0 }

// Link is what a link can.
type Link struct{ Paced, Timeline, Receipts, Reconnects bool }

// LinkOf says what a link can.
func LinkOf(l link.Link, can link.Capabilities) Link {
	return Link{l.Output() != nil, can.Timeline != nil, can.Receipts != nil, can.Reconnectable != nil}
}

// Stand returns a link without a client that can the same.
func (l Link) Stand() link.Link {
	if l.Reconnects {
		return nobodyReconnects{nobodysLink(l)}
	}
	return nobodysLink(l)
}

// nobodysLink is a link without a client.
type nobodysLink Link

// The methods of link.Link.
func (nobodysLink) Send(link.Event, func()) error { return nil }
func (nobodysLink) Close() error                  { return nil }

func (l nobodysLink) Output() link.Output {
	switch {
	case !l.Paced:
		return nil
	case l.Timeline && l.Receipts:
		return struct {
			silentOutput
			link.Timeline
			link.Receipts
		}{}
	case l.Timeline:
		return struct {
			silentOutput
			link.Timeline
		}{}
	case l.Receipts:
		return struct {
			silentOutput
			link.Receipts
		}{}
	}
	return silentOutput{}
}

type nobodyReconnects struct{ nobodysLink }

// DropConnection implements link.Reconnectable.
func (nobodyReconnects) DropConnection() {}

package stt

// The Transcriber against every way in which a server can misbehave.

import (
	"context"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/badserver"
	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// call returns a function that has a second of audio transcribed once.
func call(o Options) func(ctx context.Context, server remote.Config) error {
	return func(ctx context.Context, server remote.Config) error {
		o.Server = server
		o.PartialEvery = time.Hour
		tr, err := New(o)
		if err != nil {
			return err
		}
		defer tr.Close()
		u, err := tr.Open(ctx, pipeline.TranscribeConfig{Live: o.Stream})
		if err != nil {
			return err
		}
		defer u.Close()
		if err := u.Write(pipetest.Silence(1)); err != nil {
			return err
		}
		if err := u.CloseInput(); err != nil {
			return err
		}
		var end pipeline.TranscriptResult
		for end = range u.Results() {
		}
		return end.Err
	}
}

func TestBadServers(t *testing.T) {
	verbose := `{"text":" Good day. ","segments":[{"text":" Good day.","no_speech_prob":0.1}],"words":[{"word":"Good","start":0,"end":0.4}]}`
	stream := "data: {\"type\":\"transcript.text.delta\",\"delta\":\"Good\"}\n\ndata: {\"type\":\"transcript.text.done\",\"text\":\"Good day.\"}\n\n"
	chunks := "data: {\"choices\":[{\"delta\":{\"content\":\"Good\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\" day\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	for name, test := range map[string]struct {
		good badserver.Answer
		o    Options
	}{
		"json":         {badserver.Answer{Type: "application/json", Body: `{"text":" Good day."}`}, Options{}},
		"verbose json": {badserver.Answer{Type: "application/json", Body: verbose}, Options{Format: FormatVerbose}},
		"whisper.cpp":  {badserver.Answer{Type: "application/json", Body: verbose}, Options{Form: WhisperCPP}},
		"stream":       {badserver.Answer{Type: "text/event-stream", Body: stream}, Options{Stream: true}},
		"chat chunks":  {badserver.Answer{Type: "text/event-stream", Body: chunks}, Options{Stream: true}},
	} {
		t.Run(name, func(t *testing.T) {
			badserver.Check(t, badserver.Adapter{Stage: pipeline.StageTranscriber, Good: test.good, Call: call(test.o)})
		})
	}
}

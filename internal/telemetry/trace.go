package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/antiphon-rt/antiphon/wire"
)

// The trace of a turn: one span for the turn, and one below it for each stage.

// stage is a stage of a turn, and when it ended, in milliseconds since the end of the user's speech; negative if it never did.
type stage struct {
	name string
	ms   int
}

// stagePlayback is the stage that takes as long as the agent speaks.
const stagePlayback = "playback"

// stagesOf returns the stages of a turn in their order.
func stagesOf(t *wire.AntiphonTurnMetrics) []stage {
	return []stage{
		{"commit", t.CommitMS},
		{"transcript", t.TranscriptMS},
		{"first_token", t.FirstTokenMS},
		{"first_audio", t.FirstAudioMS},
		{"first_packet", t.FirstPacketMS},
		{stagePlayback, t.PlaybackEndMS},
	}
}

// trace emits the spans of a turn. They begin at the end of the user's speech, spoke.
func (m *Metrics) trace(session string, t *wire.AntiphonTurnMetrics, spoke time.Time) {
	at := func(ms int) time.Time { return spoke.Add(time.Duration(ms) * time.Millisecond) }
	ctx, whole := m.tracer.Start(context.Background(), "turn", trace.WithTimestamp(spoke), trace.WithAttributes(
		attribute.String("antiphon.session", session), attribute.String("antiphon.item", t.ItemID), attribute.String("antiphon.response", t.ResponseID)))
	before := 0
	for _, s := range stagesOf(t) {
		if s.ms < 0 {
			continue
		}
		_, span := m.tracer.Start(ctx, s.name, trace.WithTimestamp(at(before)))
		span.End(trace.WithTimestamp(at(max(before, s.ms))))
		before = max(before, s.ms)
	}
	whole.End(trace.WithTimestamp(at(before)))
}

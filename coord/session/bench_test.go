package session

// The benchmark of the composition.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// BenchmarkTurn times one voice turn with its answer: ten events, from the onset to the end of the playback.
func BenchmarkTurn(b *testing.B) {
	open, _, _ := Next(New(Config{Interrupt: true, CreateResponse: true}), playout.Position{}, OfConn{conn.Opened{VAD: true}})
	script := []Event{
		OfTurn{turn.Onset{}},
		OfTranscription{transcription.Ready{Turn: 1}},
		OfTurn{turn.Silence{Turn: 1}},
		OfTranscription{transcription.Done{Turn: 1}},
		OfSynthesis{synthesis.Enqueue{Clause: 1}},
		OfPlayout{playout.Begin{Resp: 1}},
		OfSynthesis{synthesis.Finish{}},
		OfSynthesis{synthesis.WorkerExited{}},
		OfResponse{response.BodyEnded{ID: 1, Status: response.Completed}},
		OfPlayout{playout.Drained{Resp: 1, Gen: 1}},
	}
	b.ReportAllocs()
	for b.Loop() {
		s := open
		for _, e := range script {
			s, _, _ = Next(s, playout.Position{}, e)
		}
		if (s.Owed != machine.Request{}) || s.LastResponse != 1 {
			b.Fatal("the turn was not answered")
		}
	}
}

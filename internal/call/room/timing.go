package room

// The times of a turn and its answer, for antiphon.turn.metrics. The turn's recognition sets the first moments and the response that answers it sets the others.

import (
	"time"

	"github.com/antiphon-rt/antiphon/wire"
)

// Timing is what a response needs of the turn that it answers. It belongs to the session's goroutine.
type Timing struct {
	ItemID   string // the id of the item that the turn became
	Wordless bool   // nobody spoke in it: idle_timeout_ms passed

	// Zero is a moment that has not come.
	spoke, commit, transcript, thinking, firstToken, firstAudio, firstPacket time.Time

	ahead time.Duration
}

// Committed notes that the turn ended: the user stopped at spoke, and it was committed at now. A zero spoke is taken as now.
func (t *Timing) Committed(spoke, now time.Time) {
	if t.commit, t.spoke = now, spoke; spoke.IsZero() {
		t.spoke = now
	}
}

// Transcribed notes that the transcript was there at now.
func (t *Timing) Transcribed(now time.Time) { t.transcript = now }

// FirstToken notes that the model answered at now. Only the first call counts; so it is for the other moments of the answer, because
// a turn that was taken away by a false barge-in is answered again.
func (t *Timing) FirstToken(now time.Time) { firstOf(&t.firstToken, now) }

// Thinking notes that the model reported at now that it thinks before it answers.
func (t *Timing) Thinking(now time.Time) { firstOf(&t.thinking, now) }

// FirstAudio notes that the answer's first audio was made at now.
func (t *Timing) FirstAudio(now time.Time) { firstOf(&t.firstAudio, now) }

// FirstPacket notes that the answer's first audio was sent at now.
func (t *Timing) FirstPacket(now time.Time) { firstOf(&t.firstPacket, now) }

func firstOf(at *time.Time, now time.Time) {
	if at.IsZero() {
		*at = now
	}
}

// Ahead notes that the answer was begun so long before its response began.
func (t *Timing) Ahead(by time.Duration) { t.ahead = by }

// Spoke returns the end of the user's speech; zero before the turn was committed.
func (t *Timing) Spoke() time.Time { return t.spoke }

// Event returns the event for the response that answered the turn, whose playback ended at end. Its times are in milliseconds since
// the end of the user's speech; -1 stands for a moment that never came.
func (t *Timing) Event(responseID string, end time.Time) *wire.AntiphonTurnMetrics {
	since := func(at time.Time) int {
		if at.IsZero() || t.spoke.IsZero() {
			return -1
		}
		return int(at.Sub(t.spoke).Milliseconds())
	}
	e := &wire.AntiphonTurnMetrics{
		ItemID: t.ItemID, ResponseID: responseID, SpeechStoppedMS: since(t.spoke), CommitMS: since(t.commit),
		TranscriptMS: since(t.transcript), FirstTokenMS: since(t.firstToken), FirstAudioMS: since(t.firstAudio),
		FirstPacketMS: since(t.firstPacket), PlaybackEndMS: since(end),
	}
	e.ThinkingMS = max(since(t.thinking), 0)
	e.AheadMS = int(t.ahead.Milliseconds())
	return e
}

package session

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// userTurn is what the session knows of one turn of the user.
type userTurn struct {
	id     turn.ID
	itemID string        // of the item that it will be: one name from the onset on
	start  voice.Samples // its first sample in the input, at format.InputRate, pre-roll included

	ear       *ear
	text      string // the live transcript so far
	caption   string // what of it was sent
	announced bool   // speech_started is sent
	wordless  bool   // nobody spoke in it
	eou       bool   // its end of utterance was heard
	final     string
	words     []pipeline.Word // of final, where they are known
	failure   error
	audio     []int16 // what was committed, until it is transcribed
	it        *item   // the item it became

	times turnTimes
}

// turnTimes are the moments of a turn and its answer; zero is what did not happen.
type turnTimes struct {
	spoke, commit, transcript, firstToken, firstAudio, firstPacket time.Time
}

// once sets *at the first time only.
func (*turnTimes) once(at *time.Time, now time.Time) {
	if at.IsZero() {
		*at = now
	}
}

// metrics are the times as the client gets them, in milliseconds since the end of the user's speech.
func (t *turnTimes) metrics(itemID, responseID string, end time.Time) *wire.AntiphonTurnMetrics {
	since := func(at time.Time) int {
		if at.IsZero() || t.spoke.IsZero() {
			return -1
		}
		return int(at.Sub(t.spoke).Milliseconds())
	}
	return &wire.AntiphonTurnMetrics{
		ItemID: itemID, ResponseID: responseID, SpeechStoppedMS: since(t.spoke), CommitMS: since(t.commit),
		TranscriptMS: since(t.transcript), FirstTokenMS: since(t.firstToken), FirstAudioMS: since(t.firstAudio),
		FirstPacketMS: since(t.firstPacket), PlaybackEndMS: since(end),
	}
}

// newTurn notes that turn t begins where the voice was first heard.
func (s *Session) newTurn(t turn.ID) {
	s.turns[t] = &userTurn{id: t, itemID: newID("item_"), start: s.input.TurnStart()}
}

// turnOf is the turn t, made if the client commits without the detector.
func (s *Session) turnOf(t turn.ID) *userTurn {
	if u := s.turns[t]; u != nil {
		return u
	}
	u := &userTurn{id: t, itemID: newID("item_"), start: s.input.Start()}
	s.turns[t] = u
	return u
}

func (s *Session) dropTurn(t turn.ID) {
	if u := s.turns[t]; u != nil && u.ear != nil {
		u.ear.close()
	}
	delete(s.turns, t)
}

// caption sends what is new of a live transcript. The protocol's deltas only add, so a text that was revised waits for
// the final transcript, which replaces everything; and the last word waits for the next result, since it changes most.
func (s *Session) caption(u *userTurn) {
	if !u.announced || s.settings.Transcription() == nil {
		return
	}
	stable := u.text
	for i := len(stable) - 1; i >= 0 && stable[i] != ' '; i-- {
		stable = stable[:i]
	}
	if len(stable) <= len(u.caption) || stable[:len(u.caption)] != u.caption {
		return
	}
	s.send(&wire.ConversationItemInputAudioTranscriptionDelta{ItemID: u.itemID, Delta: stable[len(u.caption):]})
	u.caption = stable
}

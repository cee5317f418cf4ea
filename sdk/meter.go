package sdk

import (
	"time"

	"github.com/antiphon-rt/antiphon/wire"
)

// meter measures one turn at a time.
type meter struct {
	turn  Turn
	since time.Duration
	on    bool
	last  *Turn // what is shown; replaced, never written to
}

func newTurn(item string) Turn {
	return Turn{ItemID: item, FirstText: Never, FirstSound: Never, PlaybackEnd: Never}
}

// begin: the person has finished.
func (m *meter) begin(item string, now time.Duration) {
	m.turn, m.since, m.on = newTurn(item), now, true
}

// answer: this response answers the turn, or goes on answering it after a tool.
func (m *meter) answer(response string) {
	if m.on && m.turn.PlaybackEnd == Never {
		m.turn.ResponseID = response
	}
}

func (m *meter) text(now time.Duration) {
	if m.on && m.turn.ResponseID != "" && m.turn.FirstText == Never {
		m.turn.FirstText = now - m.since
		m.show()
	}
}

func (m *meter) sound(now time.Duration) {
	if m.on && m.turn.ResponseID != "" && m.turn.FirstSound == Never {
		m.turn.FirstSound = now - m.since
		m.show()
	}
}

func (m *meter) silence(now time.Duration) {
	if m.on && m.turn.FirstSound != Never {
		m.turn.PlaybackEnd = now - m.since
		m.show()
	}
}

func (m *meter) show() {
	shown := m.turn
	m.last = &shown
}

// told takes the server's measurement. It reports whether it belongs to a turn that is shown or going on.
func (m *meter) told(e *wire.AntiphonTurnMetrics) bool {
	ms := func(n int) time.Duration {
		if n < 0 {
			return Never
		}
		return time.Duration(n) * time.Millisecond
	}
	told := &ServerTurn{
		SpeechStopped: ms(e.SpeechStoppedMS), Commit: ms(e.CommitMS), Transcript: ms(e.TranscriptMS),
		FirstToken: ms(e.FirstTokenMS), FirstAudio: ms(e.FirstAudioMS), FirstPacket: ms(e.FirstPacketMS),
		PlaybackEnd: ms(e.PlaybackEndMS),
	}
	of := func(t *Turn) bool {
		return e.ItemID != "" && t.ItemID == e.ItemID || e.ResponseID != "" && t.ResponseID == e.ResponseID
	}
	found := false
	if m.on && of(&m.turn) {
		m.turn.Server, found = told, true
	}
	if m.last != nil && of(m.last) {
		shown := *m.last
		shown.Server = told
		m.last, found = &shown, true
	}
	return found
}

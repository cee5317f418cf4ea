package sdk

// The times of the latest turn.

import "time"

// turnMeasurement measures one turn at a time.
type turnMeasurement struct {
	turn  TurnMetrics
	since time.Duration
	on    bool
	last  *TurnMetrics // Snapshot.LastTurn; replaced, never written to
}

// begin starts a measurement: the user has finished speaking, or has sent a message.
func (m *turnMeasurement) begin(item string, now time.Duration) {
	m.turn, m.since, m.on = TurnMetrics{ItemID: item, FirstText: Never, FirstSound: Never, PlaybackEnd: Never}, now, true
}

// answer notes the response to the turn, or the next response to it after a tool call.
func (m *turnMeasurement) answer(response string) {
	if m.on && m.turn.PlaybackEnd == Never {
		m.turn.ResponseID = response
	}
}

// text notes that text of the answer has come.
func (m *turnMeasurement) text(now time.Duration) {
	if m.on && m.turn.ResponseID != "" && m.turn.FirstText == Never {
		m.turn.FirstText = now - m.since
		m.show()
	}
}

// sound notes that the playback of the answer has begun.
func (m *turnMeasurement) sound(now time.Duration) {
	if m.on && m.turn.ResponseID != "" && m.turn.FirstSound == Never {
		m.turn.FirstSound = now - m.since
		m.show()
	}
}

// silence notes that the playback has ended.
func (m *turnMeasurement) silence(now time.Duration) {
	if m.on && m.turn.FirstSound != Never {
		m.turn.PlaybackEnd = now - m.since
		m.show()
	}
}

func (m *turnMeasurement) show() {
	shown := m.turn
	m.last = &shown
}

// told takes the server's measurement. It returns whether the measurement belongs to the shown or the present turn.
func (m *turnMeasurement) told(e *serverEvent) bool {
	of := func(t *TurnMetrics) bool {
		return e.itemID != "" && t.ItemID == e.itemID || e.responseID != "" && t.ResponseID == e.responseID
	}
	found := false
	if m.on && of(&m.turn) {
		m.turn.Server, found = e.times, true
	}
	if m.last != nil && of(m.last) {
		shown := *m.last
		shown.Server = e.times
		m.last, found = &shown, true
	}
	return found
}

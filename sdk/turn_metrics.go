package sdk

import "time"

// turnMeasurement measures one turn at a time.
type turnMeasurement struct {
	turn  TurnMetrics
	since time.Duration
	on    bool
	last  *TurnMetrics // what is shown; replaced, never written to
}

func newTurn(item string) TurnMetrics {
	return TurnMetrics{ItemID: item, FirstText: Never, FirstSound: Never, PlaybackEnd: Never}
}

// begin: the person has finished.
func (m *turnMeasurement) begin(item string, now time.Duration) {
	m.turn, m.since, m.on = newTurn(item), now, true
}

// answer: this response answers the turn, or goes on answering it after a tool.
func (m *turnMeasurement) answer(response string) {
	if m.on && m.turn.PlaybackEnd == Never {
		m.turn.ResponseID = response
	}
}

func (m *turnMeasurement) text(now time.Duration) {
	if m.on && m.turn.ResponseID != "" && m.turn.FirstText == Never {
		m.turn.FirstText = now - m.since
		m.show()
	}
}

func (m *turnMeasurement) sound(now time.Duration) {
	if m.on && m.turn.ResponseID != "" && m.turn.FirstSound == Never {
		m.turn.FirstSound = now - m.since
		m.show()
	}
}

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

// told takes the server's measurement. It reports whether it belongs to a turn that is shown or going on.
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

package sdk

import "time"

// meter measures one turn at a time.
type meter struct {
	turn  TurnMetrics
	since time.Duration
	on    bool
	last  *TurnMetrics // what is shown; replaced, never written to
}

func newTurn(item string) TurnMetrics {
	return TurnMetrics{ItemID: item, FirstText: Never, FirstSound: Never, PlaybackEnd: Never}
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
func (m *meter) told(e *received) bool {
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

package bargein

// The figures about the candidates.

import (
	"time"

	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
)

// Figures count how well the client predicts interruptions. The fields are those of sdk.Interruptions.
type Figures struct {
	Candidates                 int
	Confirmed, Ahead           int
	Rejected, Expired          int
	LeadMS, LastLeadMS         int
	MispredictedMS, RollbackMS int
	RepeatedMS, LostMS         int
}

// measurement measures the candidates. Its zero value has counted nothing.
type measurement struct {
	shown      Figures
	leads      []int // by how many milliseconds the last confirmed predictions were early; at most maxLeads
	begunAt    time.Duration
	silencedAt time.Duration // when the agent was silenced; deadline.Never while it is audible
	lostMS     int           // how much of the agent was silenced since the candidate, in milliseconds
	replayMS   int           // how much the agent plays again if the candidate is not confirmed, in milliseconds
	resumable  bool          // the position to resume at is known, so no sound is lost
	waiting    bool          // a candidate waits for its verdict
}

func (m *measurement) candidateBegan(now time.Duration) {
	m.shown.Candidates++
	*m = measurement{shown: m.shown, leads: m.leads, begunAt: now, silencedAt: deadline.Never, waiting: true}
}

// restored notes that the agent is audible again.
func (m *measurement) restored(now time.Duration) {
	if m.silencedAt != deadline.Never {
		m.lostMS += int((now - m.silencedAt).Milliseconds())
		m.silencedAt = deadline.Never
	}
}

// replays notes that the agent plays so many milliseconds again, unless the candidate is confirmed.
func (m *measurement) replays(ms int) {
	m.resumable = true
	if m.waiting {
		m.replayMS = ms
		return
	}
	m.shown.RepeatedMS += ms
	m.shown.LostMS -= m.lostMS // the sound is played again after all
	m.lostMS = 0
}

// confirmed notes that the server has confirmed an interruption. predicted says that a candidate was waiting.
func (m *measurement) confirmed(predicted bool, now time.Duration) {
	m.shown.Confirmed++
	m.waiting = false
	if !predicted {
		return
	}
	lead := int((now - m.begunAt).Milliseconds())
	if len(m.leads) < maxLeads {
		m.leads = append(m.leads, lead)
	} else {
		m.leads[m.shown.Ahead%maxLeads] = lead
	}
	m.shown.Ahead++
	m.shown.LastLeadMS, m.shown.LeadMS = lead, median(m.leads)
}

const maxLeads = 64

// median returns the median of a short, non-empty list.
func median(of []int) int {
	sorted := make([]int, 0, len(of))
	for _, v := range of {
		at := len(sorted)
		for sorted = append(sorted, v); at > 0 && sorted[at-1] > v; at-- {
			sorted[at] = sorted[at-1]
		}
		sorted[at] = v
	}
	return sorted[len(sorted)/2]
}

// notConfirmed adds the time that a candidate has lasted which was not confirmed.
func (m *measurement) notConfirmed(now time.Duration) {
	took := int((now - m.begunAt).Milliseconds())
	m.shown.MispredictedMS += took
	m.shown.RollbackMS = max(m.shown.RollbackMS, took)
	m.restored(now)
	m.waiting = false
	m.shown.RepeatedMS += m.replayMS
	if m.resumable {
		m.lostMS = 0
	}
	m.shown.LostMS += m.lostMS
}

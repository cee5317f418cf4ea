package sdk

// The figures about predicted interruptions.

import "time"

// predictionStats counts how well the client predicts interruptions. Its zero value has counted nothing.
type predictionStats struct {
	shown      Interruptions
	leads      []int // by how many milliseconds the last confirmed predictions were early; at most maxLeads
	begunAt    time.Duration
	silencedAt time.Duration // when the agent was silenced; Never while it is audible
	lostMS     int           // how much of the agent was silenced since the candidate, in milliseconds
	replayMS   int           // how much the agent plays again if the candidate is not confirmed, in milliseconds
	resumable  bool          // the position to resume at is known, so no sound is lost
	waiting    bool          // a candidate waits for its verdict
}

func (s *predictionStats) candidateBegan(now time.Duration) {
	s.shown.Candidates++
	s.begunAt, s.silencedAt, s.lostMS, s.replayMS, s.resumable, s.waiting = now, Never, 0, 0, false, true
}

func (s *predictionStats) silenced(now time.Duration) { s.silencedAt = now }

func (s *predictionStats) restored(now time.Duration) {
	if s.silencedAt != Never {
		s.lostMS += int((now - s.silencedAt).Milliseconds())
		s.silencedAt = Never
	}
}

// replays notes that the agent plays so many milliseconds again, unless the candidate is confirmed.
func (s *predictionStats) replays(ms int) {
	s.resumable = true
	if s.waiting {
		s.replayMS = ms
		return
	}
	s.shown.RepeatedMS += ms
	s.shown.LostMS -= s.lostMS // the sound is played again after all
	s.lostMS = 0
}

func (s *predictionStats) confirmed(waited bool, now time.Duration) {
	s.shown.Confirmed++
	s.waiting = false
	if !waited {
		return
	}
	lead := int((now - s.begunAt).Milliseconds())
	if len(s.leads) < maxLeads {
		s.leads = append(s.leads, lead)
	} else {
		s.leads[s.shown.Ahead%maxLeads] = lead
	}
	s.shown.Ahead++
	s.shown.LastLeadMS, s.shown.LeadMS = lead, median(s.leads)
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

func (s *predictionStats) rejected(now time.Duration) {
	s.shown.Rejected++
	s.mispredicted(now)
}

func (s *predictionStats) expired(now time.Duration) {
	s.shown.Expired++
	s.mispredicted(now)
}

// mispredicted adds the time that a candidate has lasted which was not confirmed.
func (s *predictionStats) mispredicted(now time.Duration) {
	took := int((now - s.begunAt).Milliseconds())
	s.shown.MispredictedMS += took
	s.shown.RollbackMS = max(s.shown.RollbackMS, took)
	s.restored(now)
	s.waiting = false
	s.shown.RepeatedMS += s.replayMS
	if s.resumable {
		s.lostMS = 0
	}
	s.shown.LostMS += s.lostMS
}

package sdk

import "time"

// score counts how well interruptions are predicted.
type score struct {
	shown Interruptions
	leads []int // of the last predictions that came true, in milliseconds: maxLeads at most
	begun time.Duration
	quiet time.Duration // when the agent was silenced; Never when it can be heard
	lost  int           // what of it has not been heard since the candidate, in milliseconds
	again int           // what of it is played again if the candidate comes to nothing, in milliseconds
	whole bool          // nothing is lost: it is known where to go on
	open  bool          // a candidate waits
}

func (s *score) began(now time.Duration) {
	s.shown.Candidates++
	s.begun, s.quiet, s.lost, s.again, s.whole, s.open = now, Never, 0, 0, false, true
}

func (s *score) silenced(now time.Duration) { s.quiet = now }

func (s *score) restored(now time.Duration) {
	if s.quiet != Never {
		s.lost += int((now - s.quiet).Milliseconds())
		s.quiet = Never
	}
}

// repeats: this many milliseconds are played again, unless the candidate is confirmed.
func (s *score) repeats(ms int) {
	s.whole = true
	if s.open {
		s.again = ms
		return
	}
	s.shown.RepeatedMS += ms
	s.shown.LostMS -= s.lost // they were given up too early
	s.lost = 0
}

func (s *score) confirmed(waited bool, now time.Duration) {
	s.shown.Confirmed++
	s.open = false
	if !waited {
		return
	}
	lead := int((now - s.begun).Milliseconds())
	if len(s.leads) < maxLeads {
		s.leads = append(s.leads, lead)
	} else {
		s.leads[s.shown.Ahead%maxLeads] = lead
	}
	s.shown.Ahead++
	s.shown.LastLeadMS, s.shown.LeadMS = lead, median(s.leads)
}

const maxLeads = 64

// median of some numbers, of which there are few.
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

func (s *score) rejected(now time.Duration) {
	s.shown.Rejected++
	s.inVain(now)
}

func (s *score) expired(now time.Duration) {
	s.shown.Expired++
	s.inVain(now)
}

func (s *score) inVain(now time.Duration) {
	took := int((now - s.begun).Milliseconds())
	s.shown.MispredictedMS += took
	s.shown.RollbackMS = max(s.shown.RollbackMS, took)
	s.restored(now)
	s.open = false
	s.shown.RepeatedMS += s.again
	if s.whole {
		s.lost = 0
	}
	s.shown.LostMS += s.lost
}

package bargein

// A random test of what the server is told: any event in any order, beside a listener who notes what was heard.

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk/internal/playback"
)

// listener is the user of a random call, and what the server does there.
type listener struct {
	*rand.Rand
	*gomega.WithT
	p       *Prediction
	now     time.Duration
	at      uint32 // what is played now
	replies int
	seldom  int // how many acknowledgements come in place of a verdict

	muted    bool   // the user does not hear the response
	missed   bool   // the user did not hear some of it, since the candidate
	held     bool   // the client does not play on
	heard    uint32 // what the user has heard last
	full     uint32 // what the user has heard at full level, without a gap
	lowered  bool   // a candidate has had no answer, so that full stays
	newest   int    // the candidate that was reported last
	told     bool   // the client has reported for it that it plays at full level
	awaits   uint32 // the position at which the client may report that it plays at full level
	mayReady bool   // it may do so now
}

// TestWhatTheServerIsToldWasHeard: whatever happens, a report says how far the user has heard the response, or has heard it at full level. The client reports full level only
// when the silence of the server plays, or after it has silenced the response itself, and an acknowledgement that names no silence is not waited for.
func TestWhatTheServerIsToldWasHeard(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			l := &listener{Rand: rand.New(rand.NewPCG(seed, 3)), WithT: gomega.NewWithT(t), p: speaking(seed%2 == 0, true), seldom: 1}
			if seed%5 == 0 {
				l.seldom = 20
			}
			for range 200 {
				l.now += time.Duration(1+l.IntN(300)) * time.Millisecond
				if !l.held {
					l.at += uint32(1+l.IntN(50)) * 480
				}
				l.something()
			}
		})
	}
}

// moment is the present moment.
func (l *listener) moment() Moment {
	return Moment{Now: l.now, At: playback.Position{Timestamp: l.at}, Known: true}
}

func (l *listener) something() {
	p, m, what := l.p, l.moment(), l.IntN(12)
	if what >= 6 && what != 9 && l.IntN(l.seldom) > 0 {
		what = 4
	}
	switch what {
	case 0, 1:
		l.take(p.Onset(m))
	case 2:
		l.take(p.Sustained(m))
	case 3:
		l.take(p.SpeechEnded(m))
	case 4, 5:
		l.acknowledge(1 + l.IntN(3)*480)
	case 6:
		l.mayReady = l.awaits != 0
		l.take(p.Passed(playback.Position{Timestamp: l.awaits}, m))
	case 7: // a position for which nobody waits any more
		l.take(p.Passed(playback.Position{Timestamp: l.awaits + 1}, m))
		l.take(p.WentBack(playback.Position{Timestamp: l.at + 960}))
	case 8:
		l.lowered = false
		l.take(p.RejectedByServer(l.newest, m))
	case 9:
		if p.Waiting() {
			l.lowered = !l.told && !l.p.rewinds
			l.take(p.TimedOut(m))
		}
	case 10:
		if l.IntN(2) == 0 {
			l.take(p.Interrupted(true, m))
			l.Expect(p.Waiting()).To(gomega.BeFalse(), "the candidate is confirmed")
		}
	default:
		switch l.IntN(6) {
		case 0:
			l.replies++
			p.Responses.Started(strconv.Itoa(l.replies))
		case 1:
			p.Responses.Heard = 0 // the response has ended
		}
		if was, _ := responseOf(p.State()); l.IntN(3) > 0 {
			l.take(p.Played(l.now))
			is, _ := responseOf(p.State())
			l.lowered = l.lowered && was == is
		}
	}
	l.mayReady = false
}

// acknowledge answers the newest candidate. The server names the position of its silence, or plays none.
func (l *listener) acknowledge(after int) {
	silence := 0
	if l.IntN(3*l.seldom) > 0 {
		silence = int(l.at) + after
	}
	waited := l.p.Waiting()
	l.mayReady = silence == 0
	done := l.p.Acknowledged("candidate "+strconv.Itoa(l.newest), silence, l.moment())
	l.take(done)
	if waited && l.p.Waiting() && silence == 0 {
		l.Expect(l.p.awaited.candidate == 0 || l.p.State().Name() == "Restored").To(gomega.BeTrue(), "nothing plays that could be waited for")
	}
}

// take notes what is done, and checks what is reported.
func (l *listener) take(actions []Action) {
	for _, a := range actions {
		switch a.Do {
		case SendCandidate:
			l.newest, l.told = a.Candidate, false
			l.p.Reported(a.Candidate, "candidate "+strconv.Itoa(a.Candidate))
			if !l.lowered {
				l.full, l.missed = l.at, false
			}
		case Silence, Hold:
			if !l.muted {
				l.heard = l.at
			}
			l.muted, l.missed, l.held = true, true, l.held || a.Do == Hold
		case Duck:
			l.muted = l.held
		case Resume:
			l.held = false
		case NotConfirmed:
			l.muted = false
		case Mute:
			l.held, l.lowered = false, false
		case Await:
			l.awaits = a.At.Timestamp
		case SendReady:
			l.Expect(l.mayReady || l.missed || l.p.rewinds).To(gomega.BeTrue(), "the silence of the server has not played")
			l.Expect(a.At.Timestamp).To(gomega.Equal(l.full))
			l.awaits, l.lowered, l.told, l.missed = 0, false, true, false
		case SendHeard:
			want := l.at
			if l.muted {
				want = l.heard
			}
			l.Expect(a.At.Timestamp).To(gomega.Equal(want))
			l.muted = false
		case Restore, ExpectVerdict, ExpectInterruption, SpeechOver, Rejected:
		}
	}
	l.Expect(!l.p.rewinds || l.held == l.muted).To(gomega.BeTrue(), "what is not heard is not played")
}

package bargein

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
	"github.com/antiphon-rt/antiphon/sdk/internal/playback"
)

// at is a moment in milliseconds, at which the user hears the packet with this timestamp.
func at(ms int, timestamp uint32) Moment {
	return Moment{Now: time.Duration(ms) * time.Millisecond, At: playback.Position{Timestamp: timestamp}, Known: timestamp != 0}
}

// speaking returns a prediction while the response "r" is heard.
func speaking(rewinds, serverTakes bool) *Prediction {
	p := New()
	p.Bind(true, rewinds)
	p.ServerTakes = serverTakes
	p.Responses.Started("r")
	p.Played(0)
	return &p
}

// what returns what is to be done.
func what(actions []Action) (all []Do) {
	for _, a := range actions {
		all = append(all, a.Do)
	}
	return all
}

func TestARejectedCandidateIsPlayedAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	p := speaking(false, true)
	done := p.Onset(at(0, 480))
	g.Expect(what(done)).To(gomega.ConsistOf(ExpectVerdict, Duck, SendCandidate))
	for _, a := range done {
		if a.Do == SendCandidate {
			g.Expect(a).To(gomega.Equal(Action{Do: SendCandidate, At: playback.Position{Timestamp: 480}, Candidate: 1, Response: "r"}))
			p.Reported(a.Candidate, "event")
		}
	}
	g.Expect(p.Deadline).To(gomega.Equal(VerdictTime))
	g.Expect(p.Onset(at(5, 500))).To(gomega.BeEmpty(), "a candidate waits")
	g.Expect(what(p.Sustained(at(160, 8_160)))).To(gomega.ContainElements(ExpectInterruption, Silence))
	g.Expect(p.Acknowledged("another", 9_600, at(170, 8_640))).To(gomega.BeEmpty())
	g.Expect(p.Acknowledged("event", 9_600, at(170, 8_640))).To(gomega.Equal([]Action{{Do: Await, At: playback.Position{Timestamp: 11_520}}}))
	g.Expect(p.Passed(playback.Position{Timestamp: 9_600}, at(180, 9_600))).To(gomega.BeEmpty(), "the end of the response rings on")
	ready := p.Passed(playback.Position{Timestamp: 11_520}, at(200, 11_520))
	g.Expect(ready).To(gomega.ContainElement(Action{Do: SendReady, At: playback.Position{Timestamp: 480}, Candidate: 1}))
	g.Expect(what(ready)).To(gomega.ContainElement(Restore))
	g.Expect(what(p.SpeechEnded(at(250, 9_600)))).To(gomega.Equal([]Do{SpeechOver}))
	g.Expect(what(p.RejectedByServer(1, at(500, 9_600)))).To(gomega.Equal([]Do{Rejected, NotConfirmed}))
	g.Expect(p.Waiting()).To(gomega.BeFalse())
	g.Expect(p.Deadline).To(gomega.Equal(deadline.Never))
	g.Expect(p.Figures()).To(gomega.Equal(Figures{Candidates: 1, Rejected: 1, MispredictedMS: 500, RollbackMS: 500, RepeatedMS: 190}))
}

// The server has rejected the candidate before it was silent itself. What is under way comes again: the agent stays ducked until then.
func TestTheAgentIsDuckedUntilTheServerGoesBack(t *testing.T) {
	back := playback.Position{Timestamp: 30_000}
	for name, ends := range map[string]func(p *Prediction) []Action{
		"it goes back":                    func(p *Prediction) []Action { return p.Passed(back, at(700, 30_000)) },
		"the deadline":                    func(p *Prediction) []Action { return p.TimedOut(at(2_100, 90_000)) },
		"the next response":               func(p *Prediction) []Action { p.Responses.Started("s"); return p.Played(time.Second) },
		"the response is cut in the end":  func(p *Prediction) []Action { return p.Cut("r", false, at(800, 31_000)) },
		"the connection is over meantime": func(p *Prediction) []Action { return p.Close(at(800, 31_000)) },
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			p := speaking(false, true)
			p.Onset(at(0, 480))
			p.Sustained(at(160, 8_160))
			p.SpeechEnded(at(260, 12_960))
			done := p.RejectedByServer(1, at(500, 24_480))
			g.Expect(what(done)).To(gomega.Equal([]Do{Rejected, Duck, SendReady, NotConfirmed}))
			g.Expect(done).To(gomega.ContainElement(Action{Do: SendReady, At: playback.Position{Timestamp: 480}, Candidate: 1}))
			g.Expect(p.WentBack(back)).To(gomega.Equal([]Action{{Do: Await, At: back}}))
			g.Expect(p.RejectedByServer(1, at(600, 26_000))).To(gomega.BeEmpty(), "once more")
			g.Expect(what(ends(p))).To(gomega.ContainElement(Restore))
			g.Expect(p.WentBack(back)).To(gomega.BeEmpty())
		})
	}
}

// A second candidate while the agent is ducked for the first: its rejection does not raise the level before the server has gone back.
func TestASecondCandidateBeforeTheServerGoesBack(t *testing.T) {
	back := playback.Position{Timestamp: 30_000}
	g := gomega.NewWithT(t)
	p := speaking(false, true)
	p.Onset(at(0, 480))
	p.Sustained(at(160, 8_160))
	p.RejectedByServer(1, at(500, 24_480))
	g.Expect(p.WentBack(back)).To(gomega.Equal([]Action{{Do: Await, At: back}}))
	g.Expect(what(p.Onset(at(510, 25_000)))).To(gomega.ConsistOf(ExpectVerdict, Duck, SendCandidate))
	g.Expect(what(p.RejectedByServer(2, at(550, 27_000)))).To(gomega.Equal([]Do{Rejected, NotConfirmed}))
	g.Expect(p.Deadline).To(gomega.Equal(550*time.Millisecond + VerdictTime))
	g.Expect(what(p.Passed(back, at(620, 30_000)))).To(gomega.Equal([]Do{Restore}))
	g.Expect(p.Deadline).To(gomega.Equal(deadline.Never))
}

// The rejection comes after the deadline, which has raised the level: what is under way comes again, so the agent is ducked until it does.
func TestALateRejectionDucksUntilTheServerGoesBack(t *testing.T) {
	back := playback.Position{Timestamp: 99_000}
	g := gomega.NewWithT(t)
	p := speaking(false, true)
	p.Onset(at(0, 480))
	p.Sustained(at(160, 8_160))
	g.Expect(what(p.TimedOut(at(1_500, 72_480)))).To(gomega.Equal([]Do{Restore, NotConfirmed}))
	done := p.RejectedByServer(1, at(1_700, 82_080))
	g.Expect(what(done)).To(gomega.Equal([]Do{Duck, SendReady}))
	g.Expect(done).To(gomega.ContainElement(Action{Do: SendReady, At: playback.Position{Timestamp: 480}, Candidate: 1}))
	g.Expect(p.Deadline).To(gomega.Equal(1_700*time.Millisecond + VerdictTime))
	p.WentBack(back)
	g.Expect(what(p.Passed(back, at(2_100, 99_000)))).To(gomega.Equal([]Do{Restore}))
}

func TestAConfirmedCandidateMutesTheRest(t *testing.T) {
	g := gomega.NewWithT(t)
	p := speaking(false, true)
	p.Onset(at(0, 480))
	p.Sustained(at(160, 8_160))
	done := p.Interrupted(true, at(400, 20_000))
	g.Expect(what(done)).To(gomega.ContainElements(Mute, Restore))
	g.Expect(done).To(gomega.ContainElement(Action{Do: SendHeard, At: playback.Position{Timestamp: 8_160}, Response: "r"}), "silenced there")
	g.Expect(what(done)).NotTo(gomega.ContainElement(NotConfirmed))
	g.Expect(p.Figures()).To(gomega.Equal(Figures{Candidates: 1, Confirmed: 1, Ahead: 1, LeadMS: 400, LastLeadMS: 400}))
	g.Expect(p.Cut("r", true, at(410, 20_480))).To(gomega.BeEmpty(), "it was cut already")
	g.Expect(p.Cut("unknown", true, at(410, 20_480))).To(gomega.BeEmpty())
}

// A server that knows no candidates gets none, and cannot play anything again: so the agent is ducked, and not silenced.
func TestAServerThatTakesNoCandidates(t *testing.T) {
	g := gomega.NewWithT(t)
	p := speaking(false, false)
	g.Expect(what(p.Onset(at(0, 480)))).To(gomega.ConsistOf(ExpectVerdict, Duck))
	g.Expect(what(p.Sustained(at(160, 8_160)))).To(gomega.Equal([]Do{ExpectInterruption}))
	g.Expect(what(p.TimedOut(at(1500, 72_000)))).To(gomega.ConsistOf(Restore, NotConfirmed))
	g.Expect(p.Figures().Expired).To(gomega.Equal(1))
}

// Where the client plays the sound itself, it holds the playback and goes on at the last position at full level.
func TestAHeldPlaybackIsResumed(t *testing.T) {
	g := gomega.NewWithT(t)
	p := speaking(true, false)
	in := func(ms int) Moment {
		return Moment{Now: time.Duration(ms) * time.Millisecond, At: playback.Position{ItemID: "i", MS: ms}, Known: true}
	}
	p.Onset(in(100))
	g.Expect(what(p.Sustained(in(260)))).To(gomega.ContainElements(Silence, Hold))
	done := p.TimedOut(in(260))
	g.Expect(done).To(gomega.ContainElement(Action{Do: Resume, At: playback.Position{ItemID: "i", MS: 100}}))
	g.Expect(p.Figures().RepeatedMS).To(gomega.Equal(160))
}

func TestCandidatesAreNumberedOverAllPeersOfACall(t *testing.T) {
	g := gomega.NewWithT(t)
	p := speaking(false, true)
	p.Onset(at(0, 480))
	g.Expect(what(p.Close(at(10, 960)))).To(gomega.ContainElements(Restore, NotConfirmed))
	p.Bind(true, false)
	p.ServerTakes = true
	g.Expect(p.Onset(at(20, 960))).To(gomega.BeEmpty(), "nothing is heard")
	p.Responses.Started("s")
	p.Played(0)
	g.Expect(p.Onset(at(30, 960))).To(gomega.ContainElement(gomega.HaveField("Candidate", 2)))
	g.Expect(p.Figures().Candidates).To(gomega.Equal(2))
	p.Bind(false, false)
	g.Expect(p.Onset(at(40, 960))).To(gomega.BeEmpty())
	g.Expect(p.Interrupted(true, at(40, 960))).To(gomega.BeEmpty())
	g.Expect(p.RejectedByServer(2, at(40, 960))).To(gomega.BeEmpty())
}

// Eight candidates share the slots of the reported events: the newest of a slot is meant.
func TestTheNinthCandidateIsAcknowledged(t *testing.T) {
	g := gomega.NewWithT(t)
	p := speaking(false, true)
	for i := 1; i <= 9; i++ {
		p.Onset(at(i*10, uint32(i)*480))
		p.Reported(i, "event")
		if i < 9 {
			p.RejectedByServer(i, at(i*10+5, uint32(i)*480))
		}
	}
	p.Reported(1+8, "ninth")
	g.Expect(what(p.Acknowledged("ninth", 9_600, at(100, 4_800)))).To(gomega.Equal([]Do{Await}))
}

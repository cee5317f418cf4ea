package trace

// Tests of the lookup of steps in a specification, and of the renaming of identifiers.

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/internal/coord/journal"
)

func TestSpec(t *testing.T) {
	g := gomega.NewWithT(t)
	specs, err := Read(t.Context(), "../../specs", "response", "synthesis", "playout", "conn", "journal")
	g.Expect(err).NotTo(gomega.HaveOccurred())

	t.Run("what was recorded is a path of the specs", func(t *testing.T) {
		g := gomega.NewWithT(t)
		c := New(specs...)
		g.Expect(c.Log(recorded, strings.NewReader(strings.Join(lines(g), "\n")))).To(gomega.Succeed())
		g.Expect(c.Figures().Specified).To(gomega.BeNumerically(">", 50))
		g.Expect(c.Figures().Beyond).To(gomega.BeZero())
	})
	t.Run("a code that has left its spec is seen, whatever the identifiers are", func(t *testing.T) {
		g := gomega.NewWithT(t)
		of := machine.Request{Client: 12}
		supersedes := step{
			from: response.Active{ID: 16}, event: response.CreateByTurn{ID: 17, Interrupt: true, Request: of}, action: "Supersede",
			to: response.Replacing{Old: 16, Next: 17},
			effects: []machine.Named{
				response.CancelBody{ID: 16},
				response.EmitTerminal{ID: 16, Status: response.TurnDetected},
				response.EmitCreated{ID: 17, Request: of},
			},
		}
		g.Expect(specs[0].ask(supersedes)).To(gomega.Equal(answer{}))
		supersedes.effects[1] = response.EmitTerminal{ID: 17, Status: response.TurnDetected}
		g.Expect(specs[0].ask(supersedes).what).To(gomega.ContainSubstring("goes to Replacing"))

		resumes := step{
			from:    playout.Held{Resp: 9, Candidate: 31, At: playout.Position{Item: 1, MS: 1240}, Started: true, Gen: 12},
			event:   playout.Reject{Candidate: 31},
			to:      playout.Playing{Resp: 9, Gen: 13},
			effects: []machine.Named{playout.RewindAndResume{Resp: 9, From: playout.Position{Item: 1, MS: 1240}, Gen: 13}},
		}
		g.Expect(specs[2].ask(resumes)).To(gomega.Equal(answer{}))
		resumes.effects = []machine.Named{playout.RewindAndResume{Resp: 9, From: playout.Position{Item: 1, MS: 1220}, Gen: 13}}
		g.Expect(specs[2].ask(resumes).what).To(gomega.ContainSubstring("RewindAndResume"))
	})
	t.Run("what a row says is not renamed", func(t *testing.T) {
		g := gomega.NewWithT(t)
		givesUp := func(why conn.Reason) step {
			return step{
				from: conn.Interrupted{VAD: true, Gen: 5}, event: conn.GraceExpired{Gen: 5}, to: conn.Closing{Reason: why},
				effects: []machine.Named{conn.StopVAD{}, conn.StopChildren{Reason: why}},
			}
		}
		g.Expect(specs[3].ask(givesUp(conn.GraceOver))).To(gomega.Equal(answer{}))
		g.Expect(specs[3].ask(givesUp(conn.ByClient)).what).To(gomega.ContainSubstring("Closing reason=GraceOver"))
		g.Expect(specs[3].ask(step{
			from: conn.Live{Gen: 5}, event: conn.Close{Reason: conn.TimeLimit}, to: conn.Closing{Reason: conn.TimeLimit},
			effects: []machine.Named{conn.StopChildren{Reason: conn.TimeLimit}},
		})).To(gomega.Equal(answer{}))
	})
	t.Run("what a spec does not know is said to be beyond it", func(t *testing.T) {
		of := machine.Request{Turn: 1}
		gomega.NewWithT(t).Expect(specs[0].ask(step{
			from: response.Replacing{Old: 1, Next: 2}, event: response.CreateByTurn{ID: 1, Interrupt: true, Request: of}, to: response.Idle{},
			effects: []machine.Named{response.EmitCreated{ID: 3, Request: of}, response.EmitCreated{ID: 4, Request: of}},
		})).To(gomega.Equal(answer{beyond: true}))
	})
	t.Run("a spec without values so far apart does not decide", func(t *testing.T) {
		g := gomega.NewWithT(t)
		stored := func(recorded journal.Record, armed journal.Record) step {
			return step{
				from: journal.Writing{Recorded: recorded, Stored: 7}, event: journal.Stored{To: 8}, to: journal.Writing{Recorded: recorded, Stored: 8},
				effects: []machine.Named{journal.Release{To: 8}, journal.Arm{Record: armed}, journal.Append{To: recorded}},
			}
		}
		g.Expect(specs[4].ask(stored(10, 9))).To(gomega.Equal(answer{}))
		g.Expect(specs[4].ask(stored(20, 9))).To(gomega.Equal(answer{beyond: true}))
		g.Expect(specs[4].ask(stored(10, 8)).what).To(gomega.ContainSubstring("Arm record=3"))
	})
	t.Run("a spec that is not there", func(t *testing.T) {
		g := gomega.NewWithT(t)
		_, err := Read(t.Context(), t.TempDir())
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("read a spec")))
		_, err = NewSpec("session of nobody", nil)
		g.Expect(err).To(gomega.MatchError("there is no adapter for the spec session of nobody"))
	})
}

func TestForms(t *testing.T) {
	form := func(stored, recorded journal.Record) string {
		writing := journal.Writing{Recorded: recorded, Stored: stored}
		asked, _ := step{from: writing, event: journal.Failed{}, to: writing}.forms()
		return asked
	}
	g := gomega.NewWithT(t)
	g.Expect(form(7, 8)).To(gomega.Equal(form(1, 2)))
	g.Expect(form(7, 9)).To(gomega.Equal(form(0, 5)), "the older stays the older")
	g.Expect(form(7, 9)).NotTo(gomega.Equal(form(7, 8)), "a gap stays a gap")
	g.Expect(form(7, 7)).NotTo(gomega.Equal(form(7, 8)), "two values stay two")
	g.Expect(form(9, 7)).NotTo(gomega.Equal(form(7, 9)))
}

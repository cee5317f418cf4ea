package sdk

// The limits of the list of runs, and what a lost conversation leaves of it.

import (
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// told returns a session with default limits that has taken these messages of runs.
func told(messages ...runMessage) *Session {
	s := &Session{limits: Limits{}.withDefaults()}
	for i := range messages {
		s.runTold(&messages[i])
	}
	return s
}

// runIDs returns the ids of the runs of a session, in their order.
func runIDs(s *Session) (all []string) {
	for _, r := range s.runs {
		all = append(all, r.ID)
	}
	return all
}

func TestTheListOfRunsIsBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	var messages []runMessage
	for i := range maxRuns {
		messages = append(messages, runMessage{run: strconv.Itoa(i), seq: 1, kind: "run.progress"})
	}
	messages[3].kind = "run.result"
	s := told(messages...)
	before := s.runs
	s.runTold(&runMessage{run: "new", seq: 1, kind: "run.progress"})
	g.Expect(s.runs).To(gomega.HaveLen(maxRuns))
	g.Expect(runIDs(s)).NotTo(gomega.ContainElement("3"), "the oldest that has ended leaves")
	g.Expect(runIDs(s)[0]).To(gomega.Equal("new"))
	s.runTold(&runMessage{run: "newer", seq: 1, kind: "run.progress"})
	g.Expect(runIDs(s)).NotTo(gomega.ContainElement("0"), "none has ended: the oldest leaves")
	g.Expect(before[maxRuns-1].ID).To(gomega.Equal("0"), "an older snapshot stays as it was")
}

func TestARunIsBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	var messages []runMessage
	for i := range 2 * maxRunSteps {
		messages = append(messages, runMessage{run: "r", seq: i + 1, kind: "run.progress", text: strings.Repeat("x", 70_000)})
	}
	s := told(messages...)
	g.Expect(s.runs[0].Timeline).To(gomega.HaveLen(maxRunSteps))
	g.Expect(s.runs[0].Progress).To(gomega.HaveLen(s.limits.EntryBytes))
}

func TestALostConversationKeepsTheRunsThatHaveEnded(t *testing.T) {
	s := told(runMessage{run: "open", seq: 1, kind: "run.progress"}, runMessage{run: "ended", seq: 1, kind: "run.result"})
	s.loseRuns()
	gomega.NewWithT(t).Expect(runIDs(s)).To(gomega.Equal([]string{"ended"}))
}

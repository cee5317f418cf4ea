package sdk

// What a new conversation hears of them.

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// runIDs returns the ids of the runs of a session, in their order.
func runIDs(s *Session) (all []string) {
	for _, r := range s.Snapshot().Runs {
		all = append(all, r.ID)
	}
	return all
}

// TestANewConversationHearsOfRuns: a call whose server has lost the conversation follows its runs again, but for those that have ended. A run of which the
// server does not tell it leaves the list.
func TestANewConversationHearsOfRuns(t *testing.T) {
	bubble(t, "the server has restarted", func(t *testing.T) {
		l := connectedBy(t, Options{}, plan{}, plan{})
		told := func(run string, seq int, message string) {
			now := l.x.peers[len(l.x.peers)-1]
			now.sink(messageOf(run, seq, message))
		}
		asks := `"type":"interaction.requested","data":{"interaction_id":"ia_1","kind":"approval","prompt":"Book?"}`
		told("run_open", 1, asks)
		told("run_gone", 1, `"type":"run.progress","data":{"text":"half"}`)
		told("run_ended", 1, `"type":"run.result","data":{"status":"succeeded"}`)
		l.g.Expect(l.ApproveRun("run_open", "ia_1", true)).To(gomega.Succeed())
		l.x.peers[0].sink(PeerBroken{})
		l.wait(time.Second)
		second := l.x.peers[1]
		follows := map[string]string{} // the event by run
		for _, sent := range second.got() {
			if fields := strings.Fields(sent); fields[1] == "antiphon.run.follow" {
				follows[fields[2]] = fields[0]
			}
		}
		l.g.Expect(follows).To(gomega.And(gomega.HaveLen(2), gomega.HaveKey("run_open"), gomega.HaveKey("run_gone")))
		gone := follows["run_gone"]
		second.sink(message(&wire.ErrorEvent{Error: wire.Error{Type: "invalid_request_error", Code: "run_not_found", EventID: &gone}}))
		l.g.Expect(runIDs(l.Session)).To(gomega.Equal([]string{"run_ended", "run_open"}))
		l.g.Expect(l.Snapshot().Err).To(gomega.MatchError(ErrBegunAnew), "it is no error of the user")
		l.g.Expect(l.Snapshot().Runs[1].Question.Answered).To(gomega.BeFalse(), "the answer was lost")
		told("run_open", 1, asks)
		l.g.Expect(l.Snapshot().Runs[1].Timeline).To(gomega.HaveLen(1), "a message that came before changes nothing")
		told("run_open", 2, `"type":"interaction.reply.accepted","data":{}`)
		l.g.Expect(l.Snapshot().Runs[1].Question).To(gomega.BeNil())
	})
}

// messageOf returns a message of a run; fields are its type and data.
func messageOf(run string, seq int, fields string) Message {
	return message(&wire.AntiphonRunMessage{
		EventID: run + strconv.Itoa(seq), RunID: run, Tool: "book", Message: wire.Raw(`{"seq":` + strconv.Itoa(seq) + `,` + fields + `}`),
	})
}

func TestAtMostSixteenRunsAreFollowed(t *testing.T) {
	bubble(t, "the newest", func(t *testing.T) {
		l := connectedBy(t, Options{}, plan{}, plan{})
		for i := range 18 {
			l.x.peers[0].sink(messageOf("run_"+strconv.Itoa(i), 1, `"type":"run.progress","data":{"text":"half"}`))
		}
		l.x.peers[0].sink(PeerBroken{})
		l.wait(time.Second)
		l.g.Expect(runIDs(l.Session)).To(gomega.And(gomega.HaveLen(16), gomega.ContainElement("run_2"), gomega.Not(gomega.ContainElement("run_1"))))
	})
}

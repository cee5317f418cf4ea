package runs

import (
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

const mostBytes = 65536

// told returns a list that has taken these messages.
func told(messages ...Message) *List {
	l := New(mostBytes)
	for i := range messages {
		l.Take(&messages[i])
	}
	return &l
}

// ids returns the ids of the runs, in their order.
func ids(l *List) (all []string) {
	for _, r := range l.All {
		all = append(all, r.ID)
	}
	return all
}

func TestTheListIsBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	var messages []Message
	for i := range maxRuns {
		messages = append(messages, Message{run: strconv.Itoa(i), seq: 1, kind: "run.progress"})
	}
	messages[3].kind = "run.result"
	l := told(messages...)
	before := l.All
	l.Take(&Message{run: "new", seq: 1, kind: "run.progress"})
	g.Expect(l.All).To(gomega.HaveLen(maxRuns))
	g.Expect(ids(l)).NotTo(gomega.ContainElement("3"), "the oldest that has ended leaves")
	g.Expect(ids(l)[0]).To(gomega.Equal("new"))
	l.Take(&Message{run: "newer", seq: 1, kind: "run.progress"})
	g.Expect(ids(l)).NotTo(gomega.ContainElement("0"), "none has ended: the oldest leaves")
	g.Expect(before[maxRuns-1].ID).To(gomega.Equal("0"), "an older snapshot stays as it was")
}

func TestARunIsBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	var messages []Message
	for i := range 2 * maxSteps {
		messages = append(messages, Message{run: "r", seq: i + 1, kind: "run.progress", text: strings.Repeat("x", 70_000)})
	}
	l := told(messages...)
	g.Expect(l.All[0].Timeline).To(gomega.HaveLen(maxSteps))
	g.Expect(l.All[0].Progress).To(gomega.HaveLen(mostBytes))
}

func TestAMessageCountsOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	l := told(Message{run: "r", seq: 2, kind: "run.progress", text: "half"})
	l.Changed = false
	l.Take(&Message{run: "r", seq: 2, kind: "run.progress", text: "again"})
	l.Take(&Message{run: "r", seq: 1, kind: "run.progress", text: "earlier"})
	g.Expect(l.All[0].Progress).To(gomega.Equal("half"))
	g.Expect(l.Changed).To(gomega.BeFalse())
}

func TestAQuestionIsAnsweredAndGoes(t *testing.T) {
	g := gomega.NewWithT(t)
	asked := Message{run: "r", seq: 1, kind: "interaction.requested", question: "q", text: "Book?"}
	for _, end := range []Message{
		{kind: "interaction.reply.accepted"}, {kind: "interaction.auto_decide.timeout"}, {kind: "conversation.state.changed", to: "running"},
	} {
		l := told(asked)
		shown := l.All
		l.Answered("r", true)
		g.Expect(l.All[0].Question.Answered).To(gomega.BeTrue())
		g.Expect(shown[0].Question.Answered).To(gomega.BeFalse(), "an older snapshot stays as it was")
		end.run, end.seq = "r", 2
		l.Take(&end)
		g.Expect(l.All[0].Question).To(gomega.BeNil())
	}
}

func TestTheNewestRunsAreFollowed(t *testing.T) {
	g := gomega.NewWithT(t)
	l := told(Message{run: "ended", seq: 1, kind: "run.result"})
	for i := range maxFollowed + 1 {
		l.Take(&Message{run: strconv.Itoa(i), seq: 1, kind: "interaction.requested"})
	}
	l.Answered("5", true)
	followed := l.Follow()
	g.Expect(followed).To(gomega.HaveLen(maxFollowed))
	g.Expect(followed[0]).To(gomega.Equal("16"))
	g.Expect(ids(l)).To(gomega.And(gomega.ContainElement("ended"), gomega.Not(gomega.ContainElement("0"))))
	g.Expect(l.All[l.find("5")].Question.Answered).To(gomega.BeFalse(), "perhaps the answer was lost")
}

package outgoing

import (
	"strconv"
	"testing"

	"github.com/onsi/gomega"
)

func TestTheBufferIsBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	var o Buffer
	for i := range maxSent + 10 {
		o.Record(Event{ID: strconv.Itoa(i), Text: []byte("x")})
	}
	g.Expect(o.Sent).To(gomega.HaveLen(maxSent))
	g.Expect(o.sentBytes).To(gomega.Equal(maxSent))
	o.Record(Event{ID: "big", Text: make([]byte, maxSentBytes)})
	g.Expect(o.Sent).To(gomega.HaveLen(1))
	g.Expect(o.Hold(Event{ID: "late", Text: []byte("y")})).To(gomega.BeTrue())
	g.Expect(o.Hold(Event{Text: make([]byte, maxWaitingBytes)})).To(gomega.BeFalse())
	o.RequeueUntaken("of a time before")
	all := o.TakeWaiting()
	g.Expect(all).To(gomega.HaveLen(2))
	g.Expect(all[0].ID).To(gomega.Equal("big"))
	g.Expect(all[1].ID).To(gomega.Equal("late"))
	g.Expect(o.TakeWaiting()).To(gomega.BeEmpty())
}

// ids returns the ids of events.
func ids(events []Event) (all []string) {
	for _, e := range events {
		all = append(all, e.ID)
	}
	return all
}

func TestWhatTheServerHasNotTakenIsSentAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	var o Buffer
	for _, id := range []string{"1", "2", "3"} {
		o.Record(Event{ID: id})
	}
	g.Expect(o.Hold(Event{ID: "4"})).To(gomega.BeTrue())
	o.RequeueUntaken("2")
	g.Expect(ids(o.TakeWaiting())).To(gomega.Equal([]string{"3", "4"}))
}

// A new conversation gets the messages that the lost one has not taken, each with the request for its answer, and nothing else.
func TestANewConversationGetsTheMessages(t *testing.T) {
	g := gomega.NewWithT(t)
	var o Buffer
	o.Record(Event{ID: "1", Intent: Intent{Kind: Message, Item: "taken"}})
	o.Record(Event{ID: "2", Intent: Intent{Kind: Answer}})
	o.Record(Event{ID: "3", Intent: Intent{Kind: Message, Item: "lost", Seq: 7}})
	o.Record(Event{ID: "4", Intent: Intent{Kind: Answer}})
	o.Record(Event{ID: "5", Intent: Intent{Kind: Cancel}})
	g.Expect(o.Hold(Event{ID: "6", Intent: Intent{Kind: Clear}})).To(gomega.BeTrue())
	g.Expect(o.Hold(Event{ID: "7", Intent: Intent{Kind: Message}})).To(gomega.BeTrue())
	o.KeepMessages(map[string]bool{"lost": true})
	g.Expect(o.Sent).To(gomega.BeEmpty())
	all := o.TakeWaiting()
	g.Expect(ids(all)).To(gomega.Equal([]string{"3", "4", "7"}))
	g.Expect(all[0].Intent.Seq).To(gomega.BeZero(), "the prediction was for the lost conversation")
}

func TestTheLastIntentsAreRemembered(t *testing.T) {
	g := gomega.NewWithT(t)
	p := NewIntents()
	for i := range maxIntents + 1 {
		p.Add(strconv.Itoa(i), Intent{Kind: Run, Item: strconv.Itoa(i)})
	}
	_, known := p.Of("0")
	g.Expect(known).To(gomega.BeFalse())
	in, known := p.Of("1")
	g.Expect(known).To(gomega.BeTrue())
	g.Expect(in.Item).To(gomega.Equal("1"))
}

func TestEventsThatAreSentAgainCountAsWaiting(t *testing.T) {
	g := gomega.NewWithT(t)
	var o Buffer
	o.Record(Event{ID: "1", Text: make([]byte, maxSentBytes)})
	o.RequeueUntaken("")
	g.Expect(o.Hold(Event{Text: make([]byte, maxWaitingBytes-maxSentBytes+1)})).To(gomega.BeFalse())
	g.Expect(o.Hold(Event{Text: make([]byte, maxWaitingBytes-maxSentBytes)})).To(gomega.BeTrue())
}

func TestHalfOfTheRoomIsForEventsThatGoWithMessages(t *testing.T) {
	g := gomega.NewWithT(t)
	var o Buffer
	for range maxWaiting / 2 {
		g.Expect(o.TakesMessages()).To(gomega.BeTrue())
		g.Expect(o.Hold(Event{Text: []byte("x")})).To(gomega.BeTrue())
	}
	g.Expect(o.TakesMessages()).To(gomega.BeFalse())
	o.TakeWaiting()
	g.Expect(o.Hold(Event{Text: make([]byte, maxWaitingBytes/2)})).To(gomega.BeTrue())
	g.Expect(o.TakesMessages()).To(gomega.BeFalse())
}

package cluster

// Calls that another server has taken over: requests reach the present owner, and a reconnect takes no call over that somebody has.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/store"
)

// answers sends requests about a call to servers, and checks that one of the servers answers them all.
func (c *servers) answers(owner *member, mark string, asked ...*member) {
	c.t.Helper()
	for _, at := range asked {
		status, _ := c.post(at.URL+"/"+mark, "an offer")
		c.g.Expect(status).To(gomega.Equal(http.StatusCreated))
		c.g.Expect(owner.asked).To(gomega.Receive(gomega.Equal("POST 127.0.0.1 an offer")), mark)
	}
}

// adopts has a server publish that it has taken over calls, as the owner with that epoch.
func (c *servers) adopts(m *member, epoch uint32, marks ...string) {
	m.epoch.Store(epoch)
	l := Load{Most: 10}
	for _, mark := range marks {
		l.Adopted = append(l.Adopted, Adopted{Mark: mark, Epoch: epoch})
	}
	c.publish(m.Node, l)
}

// A request about a call that was taken over reaches the present owner from every server, whether the former one is gone, still answers, or has the call itself, as one does
// that hung for a while.
func TestThePresentOwnerAnswers(t *testing.T) {
	c := opened(t)
	one, two, three := c.join(), c.join(), c.join()
	for _, kind := range []string{text, "RESUME" + text} {
		was, gone := two.Mark(kind), c.node("http://127.0.0.1:1").Mark(kind)
		c.adopts(three, 2, was, gone)
		c.meet(one.Node, two.Node, three.Node)
		c.answers(three, gone, one, two, three)
		c.answers(three, was, one, two, three)
		c.adopts(one, 3, was)
		c.meet(one.Node, two.Node, three.Node)
		c.answers(one, was, one, two, three)
		one.epoch.Store(0)
		three.epoch.Store(0)
	}
}

// A request about a call that was taken over a moment ago has the server look at the records again.
func TestACallThatWasTakenOverAMomentAgo(t *testing.T) {
	c := opened(t)
	one, three := c.join(), c.join()
	c.meet(one.Node, three.Node)
	mark := c.node("http://127.0.0.1:1").Mark(text)
	c.adopts(three, 2, mark)
	c.answers(three, mark, one)
}

// A server publishes at once that it has taken a call over.
func TestTakingOverIsPublishedAtOnce(t *testing.T) {
	c := opened(t)
	one := c.join()
	published := make(chan bool, 1000)
	c.g.Expect(one.Publish(t.Context(), func() Load { published <- true; return Load{Most: 10} }, func(string, uint64, uint64) {})).To(gomega.Succeed())
	c.g.Expect(published).To(gomega.Receive())
	one.TookOver()
	c.g.Eventually(one.changed, patience).Should(gomega.BeEmpty())
	c.g.Eventually(published, patience).Should(gomega.Receive())
}

// A reconnect goes to the server that owns the call according to the journal. It stays where it is if that one is gone or drains, so that the call is taken over there.
func TestTheJournalNamesTheOwner(t *testing.T) {
	c := opened(t)
	one, two, three := c.join(), c.join(), c.join()
	mark := c.node("http://127.0.0.1:1").Mark("RESUME" + text)
	c.meet(one.Node, two.Node, three.Node)
	one.journal.Store(&three.id)
	three.journal.Store(&three.id)
	c.answers(three, mark, one)
	one.journal.Store(&one.id)
	c.answers(one, mark, one)
	gone := "GONEGONE"
	one.journal.Store(&gone)
	c.answers(one, mark, one)
	one.journal.Store(&three.id)
	c.publish(three.Node, Load{Most: 10, Draining: true})
	c.meet(one.Node)
	c.answers(one, mark, one)
}

// A server that gets a reconnect from another one, and knows that a third one owns the call, has the other one look for the owner.
func TestAFormerOwnerLetsTheCallGo(t *testing.T) {
	c := opened(t)
	one, two, three := c.join(), c.join(), c.join()
	c.meet(one.Node, two.Node, three.Node)
	for _, m := range []*member{one, two, three} {
		m.journal.Store(&three.id)
	}
	mark := two.Mark("LOSTRESUME" + text)
	status, _ := c.post(one.URL+"/"+mark, "an offer")
	c.g.Expect(status).To(gomega.Equal(http.StatusNotFound), "three has no call with LOST in its mark, and one neither")
	c.g.Expect(two.asked).NotTo(gomega.Receive(), "it would take the call over")
	c.g.Expect(three.asked).To(gomega.Receive())
	_, passed := one.Stats()
	c.g.Expect(passed).To(gomega.HaveKeyWithValue(resultRefused, uint64(2)))
}

// A reconnect stays with the server that got it if the owner drains, unless the journal does not have the call. A hangup goes to the owner.
func TestAReconnectLeavesADrainingOwner(t *testing.T) {
	c := opened(t)
	one, two := c.join(), c.join()
	c.publish(two.Node, Load{Most: 10, Draining: true})
	c.meet(one.Node)
	c.answers(two, two.Mark(text), one)
	c.answers(two, two.Mark("RESUME"+text), one)
	one.journal.Store(&two.id)
	c.answers(one, two.Mark("RESUME"+text), one)
}

// A reconnect that the owner does not take is answered here.
func TestWhatIsRefused(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, c := range []struct {
		status                  int
		about, reconnects, anew bool
	}{
		{http.StatusOK, false, false, false},
		{http.StatusConflict, false, false, false},
		{http.StatusForbidden, false, false, true},
		{http.StatusNotFound, true, true, true},
		{http.StatusTooManyRequests, false, true, true},
		{http.StatusInternalServerError, false, false, true},
		{http.StatusServiceUnavailable, false, true, true},
	} {
		got := []bool{sending{}.refused(c.status), sending{reconnects: true}.refused(c.status), sending{anew: true}.refused(c.status)}
		g.Expect(got).To(gomega.Equal([]bool{c.about, c.reconnects, c.anew}), "%d", c.status)
	}
}

// A record has a bounded number of calls, and none of their ids. What is not such a list is read as far as it goes.
func TestTheListOfAdoptedCalls(t *testing.T) {
	g, now := gomega.NewWithT(t), time.Now()
	key := sealKey("key")
	var many []Adopted
	for i := range 2 * maxAdopted {
		many = append(many, Adopted{Mark: fmt.Sprint("call ", i), Epoch: uint32(i + 2)}) //nolint:gosec // small
	}
	text := key.writeAdopted(many)
	g.Expect(text).To(gomega.HaveLen(maxAdopted * adoptedSize))
	known := table{own: "own", silence: silence, avoidFor: avoidFor}
	value, err := json.Marshal(record{Name: "other", URL: "http://127.0.0.1:1", Adopted: append(text, text[:adoptedSize-1]...)})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	known.update(map[string]store.Entry{"other": {Value: value, Revision: 7, Written: now}}, now, now)
	g.Expect(known.adopted).To(gomega.HaveLen(maxAdopted))
	g.Expect(known.adopter(key.adopted("call 0"), 1, now)).NotTo(gomega.BeNil())
	g.Expect(known.adopter(key.adopted("call 0"), 2, now)).To(gomega.BeNil(), "the epoch of this server is the same")
	g.Expect(known.adopter(key.adopted("nobody's"), 0, now)).To(gomega.BeNil())
	known.failed("other", now)
	g.Expect(known.adopter(key.adopted("call 0"), 1, now)).To(gomega.BeNil(), "it has just not answered")
}

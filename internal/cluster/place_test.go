package cluster

// New calls: which server gets them.

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/store"
)

// A new call goes to a server with clearly less load, and to any that takes calls if the server that got it takes none.
func TestWhoGetsANewCall(t *testing.T) {
	now := time.Now()
	for _, row := range []struct {
		name  string
		own   Load
		other Load
		late  time.Duration // since the other server has published
		moves [2]bool       // a call over WebRTC, and one over a WebSocket
	}{
		{"as much load", Load{Calls: 5, Most: 10}, Load{Calls: 5, Most: 10}, 0, [2]bool{}},
		{"a little less", Load{Calls: 14, Most: 200}, Load{Most: 200}, 0, [2]bool{}},
		{"clearly less", Load{Calls: 30, Most: 200}, Load{Calls: 1, Most: 200}, 0, [2]bool{true, false}},
		{"clearly less of its processor", Load{Calls: 1, Most: 200, CPU: 80}, Load{Calls: 1, Most: 200, CPU: 20}, 0, [2]bool{true, false}},
		{"less of a processor that is not busy", Load{Calls: 1, Most: 200, CPU: 45}, Load{Calls: 1, Most: 200, CPU: 5}, 0, [2]bool{}},
		{"a larger server", Load{Calls: 30, Most: 100}, Load{Calls: 60, Most: 1000}, 0, [2]bool{true, false}},
		{"this one is full", Load{Calls: 10, Most: 10, Full: true}, Load{Calls: 9, Most: 10}, 0, [2]bool{true, true}},
		{"this one drains", Load{Most: 10, Draining: true}, Load{Calls: 9, Most: 10, CPU: 100}, 0, [2]bool{true, true}},
		{"both are full", Load{Calls: 10, Most: 10, Full: true}, Load{Calls: 10, Most: 10, Full: true}, 0, [2]bool{}},
		{"the other one drains", Load{Calls: 9, Most: 10}, Load{Most: 10, Draining: true}, 0, [2]bool{}},
		{"the other one is silent", Load{Calls: 9, Most: 10}, Load{Most: 10}, silence, [2]bool{}},
		{"the other one was heard just in time", Load{Calls: 9, Most: 10}, Load{Most: 10}, silence - time.Millisecond, [2]bool{true, false}},
		{"nonsense", Load{Calls: 9, Most: 10}, Load{Calls: -100, Most: -5, CPU: -1}, 0, [2]bool{true, false}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for i, onlyIfFull := range []bool{false, true} {
				known := table{own: "own", silence: silence, avoidFor: avoidFor}
				published := time.Unix(5, 0) // by a clock that has nothing to do with this one
				known.update(map[string]store.Entry{"other": entry(t, row.other, published)}, published.Add(row.late), now)
				gomega.NewWithT(t).Expect(known.place(row.own, onlyIfFull, now) != nil).To(gomega.Equal(row.moves[i]), "onlyIfFull %v", onlyIfFull)
			}
		})
	}
}

func entry(t *testing.T, l Load, written time.Time) store.Entry {
	value, err := json.Marshal(record{Name: "other", URL: "http://127.0.0.1:1", Load: l})
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return store.Entry{Value: value, Revision: 7, Written: written}
}

// Many new calls within a second do not all go to the server that had least at its beginning.
func TestNewCallsAreSpread(t *testing.T) {
	g, now := gomega.NewWithT(t), time.Now()
	known := table{own: "own", silence: silence, avoidFor: avoidFor}
	look := func() { known.update(map[string]store.Entry{"other": entry(t, Load{Most: 10}, now)}, now, now) }
	look()
	own, moved := Load{Calls: 6, Most: 10}, 0
	for range 20 {
		look() // the record is the same as before
		if known.place(own, false, now) != nil {
			moved++
		}
	}
	g.Expect(moved).To(gomega.Equal(6))
}

// A server that says that it has room and refuses calls gets none for a while. The server that got the request answers it.
func TestAServerThatLiesAboutItsLoad(t *testing.T) {
	c := opened(t)
	one, liar := c.join(), c.join()
	c.publish(one.Node, Load{Calls: 9, Most: 10})
	liar.full.Store(http.StatusServiceUnavailable)
	c.meet(one.Node)
	for range 3 {
		status, _ := c.post(one.URL+"/new", "an offer", "Idempotency-Key", "k")
		c.g.Expect(status).To(gomega.Equal(http.StatusCreated))
		c.g.Expect(one.asked).To(gomega.Receive(gomega.Equal("POST 127.0.0.1 an offerk")))
		c.meet(one.Node)
	}
	c.g.Expect(liar.asked).To(gomega.Receive(gomega.Equal("POST 127.0.0.1 an offer")), "without the key: the first server answers its tries")
	c.g.Expect(liar.asked).NotTo(gomega.Receive(), "it was asked once")
}

// Servers that all say that they are full pass a request on once at most.
func TestFullServersDoNotPassARequestOnForEver(t *testing.T) {
	c := opened(t)
	one, two := c.join(), c.join()
	for _, m := range []*member{one, two} {
		c.publish(m.Node, Load{Calls: 9, Most: 10})
	}
	c.meet(one.Node, two.Node)
	for _, m := range []*member{one, two} {
		m.full.Store(http.StatusTooManyRequests)
		c.publish(m.Node, Load{Calls: 10, Most: 10, Full: true}) // the others do not know it yet
	}
	status, _ := c.post(one.URL+"/new", "an offer")
	c.g.Expect(status).To(gomega.Equal(http.StatusTooManyRequests))
	c.g.Expect(one.asked).To(gomega.HaveLen(1))
	c.g.Expect(two.asked).To(gomega.HaveLen(1))
}

// A server that drains asks another server if the first one refuses.
func TestADrainingServerAsksAnother(t *testing.T) {
	c := opened(t)
	one, liar, two := c.join(), c.join(), c.join()
	c.publish(one.Node, Load{Most: 10, Draining: true})
	c.publish(two.Node, Load{Calls: 5, Most: 10})
	liar.full.Store(http.StatusServiceUnavailable)
	c.meet(one.Node)
	status, _ := c.post(one.URL+"/new", "an offer")
	c.g.Expect(status).To(gomega.Equal(http.StatusCreated))
	c.g.Expect(liar.asked).To(gomega.Receive())
	c.g.Expect(two.asked).To(gomega.Receive(gomega.Equal("POST 127.0.0.1 an offer")))
	c.g.Expect(one.asked).NotTo(gomega.Receive())
}

// A client that gets no call from another server, because it has as many as it may or sends no whole body, keeps nobody else from that server.
func TestAClientKeepsNobodyFromAServer(t *testing.T) {
	c := opened(t)
	one, two := c.join(), c.join()
	c.publish(one.Node, Load{Most: 10, Draining: true})
	c.meet(one.Node)
	for _, status := range []int32{http.StatusTooManyRequests, http.StatusUnauthorized, http.StatusInternalServerError} {
		two.full.Store(status)
		c.post(one.URL+"/new", "an offer")
		c.g.Expect(two.asked).To(gomega.Receive(), "%d", status)
		c.g.Expect(one.asked).To(gomega.Receive(), "%d: it was asked once, and then this one answers", status)
	}
	two.full.Store(0)
	cut, err := net.Dial("tcp", one.Listener.Addr().String())
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = io.WriteString(cut, "POST /new HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nan")
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	c.g.Expect(cut.Close()).To(gomega.Succeed())
	c.g.Eventually(one.asked).WithTimeout(patience).Should(gomega.Receive(gomega.Equal("POST 127.0.0.1 an")))

	status, _ := c.post(one.URL+"/new", "an offer")
	c.g.Expect(status).To(gomega.Equal(http.StatusCreated))
	c.g.Expect(two.asked).To(gomega.Receive(gomega.Equal("POST 127.0.0.1 an offer")))
}

// Many requests that wait for a server that hangs are one line of the log.
func TestAServerFailsOnce(t *testing.T) {
	g, now := gomega.NewWithT(t), time.Now()
	known := table{own: "own", silence: silence, avoidFor: avoidFor}
	known.update(map[string]store.Entry{"other": entry(t, Load{Most: 10}, now)}, now, now)
	g.Expect(known.failed("other", now)).To(gomega.BeTrue())
	g.Expect(known.failed("other", now.Add(time.Millisecond))).To(gomega.BeFalse())
	g.Expect(known.find("other", now.Add(time.Millisecond))).To(gomega.BeNil())
	g.Expect(known.failed("other", now.Add(avoidFor+time.Second))).To(gomega.BeTrue())
	g.Expect(known.failed("nobody", now)).To(gomega.BeFalse())
}

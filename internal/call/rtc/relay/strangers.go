package relay

import (
	"hash/maphash"
	"net"
	"sync"
	"time"

	"github.com/pion/stun/v4"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/internal/limited"
)

// What strangers get over UDP. Their addresses may be forged, so that an answer goes to somebody who has not asked: answers are short, and few for one network.

const (
	// answersPerSecond and answersAtOnce bound the answers to strangers of one network: enough for an office whose clients all connect at once.
	answersPerSecond, answersAtOnce = 50, 400
	// maxBuckets is how many budgets there are. A network has one of them, which it may share with others.
	maxBuckets = 4096
)

// strangers is the UDP socket of the TURN server. It drops requests that no client sends, and makes the answers short that need no credentials. One goroutine reads.
type strangers struct {
	net.PacketConn
	seed maphash.Seed
	now  func() time.Time

	mu      sync.Mutex
	buckets [maxBuckets]answers
}

// answers are what a network has got: so many up to a time, less answersPerSecond.
type answers struct {
	n  float64
	at time.Time
}

func newStrangers(c net.PacketConn) *strangers {
	return &strangers{PacketConn: c, seed: maphash.MakeSeed(), now: time.Now}
}

// ReadFrom implements net.PacketConn.
func (c *strangers) ReadFrom(b []byte) (int, net.Addr, error) {
	for {
		n, from, err := c.PacketConn.ReadFrom(b)
		if err != nil || wanted(b[:n]) {
			return n, from, err
		}
	}
}

// wanted reports whether a client may have sent a packet. A client asks for an allocation, or for its own address, without credentials, and for all else with them.
func wanted(b []byte) bool {
	if !stun.IsMessage(b) {
		return true // data of a channel
	}
	m := stun.Message{Raw: b}
	if m.Decode() != nil {
		return false
	}
	switch {
	case m.Type.Class != stun.ClassRequest, m.Type.Method == stun.MethodBinding, m.Contains(stun.AttrMessageIntegrity):
		return true
	}
	return m.Type.Method == stun.MethodAllocate && m.Contains(stun.AttrRequestedTransport)
}

// WriteTo implements net.PacketConn.
func (c *strangers) WriteTo(b []byte, to net.Addr) (int, error) {
	answer := b
	if m := (stun.Message{Raw: b}); stun.IsMessage(b) && m.Decode() == nil && !m.Contains(stun.AttrMessageIntegrity) &&
		(m.Type.Class == stun.ClassErrorResponse || m.Type == stun.BindingSuccess) {
		if !c.take(limited.Client(to)) {
			return len(b), nil
		}
		answer = short(&m)
	}
	if _, err := c.PacketConn.WriteTo(answer, to); err != nil {
		return 0, err
	}
	return len(b), nil
}

// short returns an answer without its checksum, which tells STUN from other packets of one port: no client needs it here.
func short(m *stun.Message) []byte {
	out := stun.Message{TransactionID: m.TransactionID, Type: m.Type}
	out.WriteHeader()
	for _, a := range m.Attributes {
		if a.Type != stun.AttrFingerprint {
			out.Add(a.Type, a.Value)
		}
	}
	return out.Raw
}

// take takes one answer from the budget of a network. It reports false if there is none left.
func (c *strangers) take(network string) bool {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	of := &c.buckets[maphash.String(c.seed, network)%maxBuckets]
	of.n, of.at = max(0, of.n-now.Sub(of.at).Seconds()*answersPerSecond), now
	if of.n+1 > answersAtOnce {
		return false
	}
	of.n++
	return true
}

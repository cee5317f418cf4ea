package world

// The connections of a simulated call: the pacer as a server has it, and the simulated network to the client.

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pion/rtp"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// connection is a connection of the call's client over WebRTC.
type connection struct {
	server  *server
	pacer   *rtc.Pacer
	network *network
	client  *peer
	opened  func() // what the session learns once the client's data channel is open

	mu     sync.Mutex
	frame  *step // the next frame of the pacer
	closed bool
}

var _ link.Connection = (*connection)(nil)

// connect gives the call of a server a connection.
func (s *server) connect(n *network, client *peer) *connection {
	k := &connection{server: s, network: n, client: client}
	k.pacer = rtc.NewPacer(s.output, k, samples{}, s.session, func(err error) { _, _ = s.Write([]byte("the pacer failed: " + err.Error())) })
	client.connection = k
	k.pace()
	return k
}

// pace sends a frame every 20 ms until the connection is closed.
func (k *connection) pace() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return
	}
	k.frame = k.server.w.add(20*time.Millisecond, func() {
		k.pacer.Send()
		k.pace()
	})
}

// open reports whether the session gets what comes over this connection.
func (k *connection) open() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.closed && !k.server.dead.Load()
}

func (k *connection) heard(pcm []int16) {
	if k.open() {
		k.server.session.Audio(pcm)
	}
}

func (k *connection) missing(samples int) {
	if k.open() {
		k.server.session.Missing(samples)
	}
}

func (k *connection) message(text []byte) {
	if k.open() {
		k.server.session.Message(text, true)
	}
}

func (k *connection) failed(err error) {
	if k.open() {
		k.server.session.Failed(err)
	}
}

// isCut tells the session that its client cannot be reached, and for how long sound may have been lost.
func (k *connection) isCut(since time.Duration) {
	if k.open() {
		k.server.output.CutSince(since)
		k.server.session.Lost()
	}
}

func (k *connection) isBack() {
	if k.open() {
		k.server.session.Restored()
	}
}

// Send implements link.Link.
func (k *connection) Send(e link.Event, sent func()) error {
	if sent != nil {
		k.server.w.add(0, sent)
	}
	if text := slices.Clone(e.Text); !k.server.dead.Load() {
		k.network.down.put(func() { k.client.message(text) })
	}
	return nil
}

// Output implements link.Link.
func (k *connection) Output() link.Output { return k.server.output }

// Close implements link.Link.
func (k *connection) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	k.server.w.drop(k.frame)
	return nil
}

// Abandon implements link.Connection.
func (k *connection) Abandon() []func() {
	if k.open() {
		k.server.output.CutSince(0) // the client reports what it receives, and so the server knows when the cut began
	}
	_ = k.Close()
	return nil
}

// WriteRTP is the track of the pacer.
func (k *connection) WriteRTP(p *rtp.Packet) error {
	stamp, sound := p.Timestamp, slices.Clone(p.Payload)
	k.network.scatter(k.network.downward, k.network.faults.lossDown, func() { k.client.packet(stamp, sound) }, func() { k.client.lost(sound) })
	return nil
}

// samples is an encoder that sends samples as they are, and the pool that lends it.
type samples struct{}

// Take and Give implement the pool.
func (samples) Take() (opus.Encoding, error) { return samples{}, nil }
func (samples) Give(opus.Encoding)           {}

// Encode implements opus.Encoding.
func (samples) Encode(pcm []int16, packet []byte) (int, error) {
	return copy(packet, voice.PCM16ToBytes(nil, pcm)), nil
}

// Reset implements opus.Encoding.
func (samples) Reset() {}

// alarm collects what must not happen.
type alarm struct {
	mu  sync.Mutex
	all []string
}

func (a *alarm) add(line string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, line)
}

// network is the way between the two ends. Events arrive in order, and wait while there is no connection. Sound that is on its way then is lost.
type network struct {
	w                *world
	faults           faults
	up, down         *lane // of events
	upward, downward *source
	media            time.Duration // how long sound takes at least
	mu               sync.Mutex
	cut              bool
	unnoticed        bool // the cut is so short that nobody notices it: sound is lost as if alone
}

// newNetwork returns the network of a call's dial with that number.
func newNetwork(w *world, f faults, dial int) *network {
	part := func(name string) *source { return w.source(fmt.Sprintf("%s of dial %d", name, dial)) }
	n := &network{w: w, faults: f, upward: part("sound up"), downward: part("sound down")}
	n.media = part("distance").between(15*time.Millisecond, 120*time.Millisecond)
	n.up, n.down = &lane{n: n, chance: part("up")}, &lane{n: n, chance: part("down")}
	return n
}

// sound carries a packet of sound, unless it is lost. If it is lost alone, gone is called in its place.
func (n *network) sound(chance *source, loses bool, arrive, gone func()) {
	after := n.media + chance.between(0, 20*time.Millisecond)
	if loses && chance.chance(3) {
		arrive = gone
	}
	n.carry(after, arrive, gone)
}

// scatter is sound for packets that may also come twice, or after later ones.
func (n *network) scatter(chance *source, scatters bool, arrive, gone func()) {
	if scatters && chance.chance(5) {
		n.carry(n.media+chance.between(0, 100*time.Millisecond), arrive, gone)
		if chance.chance(50) {
			return
		}
	}
	n.sound(chance, scatters, arrive, gone)
}

func (n *network) carry(after time.Duration, arrive, gone func()) {
	n.w.add(after, func() {
		n.mu.Lock()
		lost, unnoticed := n.cut, n.unnoticed
		n.mu.Unlock()
		switch {
		case !lost:
			arrive()
		case unnoticed:
			gone()
		}
	})
}

// lane carries events in order.
type lane struct {
	n       *network
	chance  *source
	waiting []func()
	last    time.Time
}

// put sends an event.
func (l *lane) put(arrive func()) {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	l.waiting = append(l.waiting, arrive)
	if !l.n.cut {
		l.plan()
	}
}

// plan plans the arrival of the newest event. The caller holds the lock.
func (l *lane) plan() {
	due := time.Now().Add(l.n.media + l.chance.between(0, 30*time.Millisecond))
	if l.n.faults.lateEvents && l.chance.chance(4) { // the data channel sends again what was lost
		due = due.Add(l.chance.between(100*time.Millisecond, 700*time.Millisecond))
	}
	if due.Before(l.last) {
		due = l.last
	}
	l.last = due.Add(time.Nanosecond)
	l.n.w.add(time.Until(due), l.arrive)
}

// arrive brings the oldest event, if there is a connection.
func (l *lane) arrive() {
	l.n.mu.Lock()
	if l.n.cut || len(l.waiting) == 0 {
		l.n.mu.Unlock()
		return
	}
	first := l.waiting[0]
	l.waiting = l.waiting[1:]
	l.n.mu.Unlock()
	first()
}

// set cuts the connection, or restores it.
func (n *network) set(cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = cut
	if !cut {
		for _, l := range []*lane{n.up, n.down} {
			for range l.waiting {
				l.plan()
			}
		}
	}
}

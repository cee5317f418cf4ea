package world

// The server of a simulated call: the session with its rooms, the hub, and the output with its pacer, as a server has them. Only the network is simulated.

import (
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/pion/rtp"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/rtc"
	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/call/session"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// server is the server's side of a call over WebRTC, and the connection to its client.
type server struct {
	w       *world
	session *session.Session
	output  *rtc.Output
	pacer   *rtc.Pacer
	network *network
	client  *peer

	mu     sync.Mutex
	frame  *step // the next frame of the pacer
	closed bool
}

var _ link.Connection = (*server)(nil)

// serve begins a call of a client.
func serve(w *world, p *pipeline.Pipeline, cfg session.Config, n *network, client *peer) (*server, error) {
	s := &server{w: w, output: rtc.NewOutput(uint32(1 + w.source("RTP").number(1<<31))), network: n, client: client}
	cfg.Pipeline, cfg.Settings, cfg.Env, cfg.CheckInvariants = p, wire.DefaultSession(), machine{w}, true
	var err error
	if s.session, err = session.New(cfg); err != nil {
		return nil, err
	}
	s.pacer = rtc.NewPacer(s.output, s, samples{}, s.session, func(err error) { cfg.Logger.Error("the pacer failed", "err", err) })
	s.session.Start(link.NewHub(machine{w}, s, s.session.Resumable))
	s.session.Opened()
	s.pace()
	return s, nil
}

// pace sends a frame every 20 ms until the call is closed.
func (s *server) pace() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	s.frame = s.w.add(20*time.Millisecond, func() {
		s.pacer.Send()
		s.pace()
	})
}

// Send implements link.Link.
func (s *server) Send(e link.Event, sent func()) error {
	if sent != nil {
		s.w.add(0, sent)
	}
	text := slices.Clone(e.Text)
	s.network.down.put(func() { s.client.message(text) })
	return nil
}

// Output implements link.Link.
func (s *server) Output() link.Output { return s.output }

// Close implements link.Link.
func (s *server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.w.drop(s.frame)
	return nil
}

// Abandon implements link.Connection.
func (s *server) Abandon() []func() {
	_ = s.Close()
	return nil
}

// WriteRTP is the track of the pacer.
func (s *server) WriteRTP(p *rtp.Packet) error {
	stamp, sound := p.Timestamp, slices.Clone(p.Payload)
	s.network.scatter(s.network.downward, s.network.faults.lossDown, func() { s.client.packet(stamp, sound) }, func() { s.client.lost(sound) })
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

// alarm collects what the session logs as an error.
type alarm struct {
	mu  sync.Mutex
	all []string
}

func (a *alarm) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(a, &slog.HandlerOptions{Level: slog.LevelError}))
}

// Write implements io.Writer.
func (a *alarm) Write(line []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, string(line))
	return len(line), nil
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
}

func newNetwork(w *world, f faults) *network {
	n := &network{w: w, faults: f, upward: w.source("sound up"), downward: w.source("sound down")}
	n.media = w.source("distance").between(15*time.Millisecond, 120*time.Millisecond)
	n.up, n.down = &lane{n: n, chance: w.source("up")}, &lane{n: n, chance: w.source("down")}
	return n
}

// sound carries a packet of sound, unless it is lost. If it is lost alone, gone is called in its place.
func (n *network) sound(chance *source, loses bool, arrive, gone func()) {
	after := n.media + chance.between(0, 20*time.Millisecond)
	if loses && chance.chance(3) {
		arrive = gone
	}
	n.carry(after, arrive)
}

// scatter is sound for packets that may also come twice, or after later ones.
func (n *network) scatter(chance *source, scatters bool, arrive, gone func()) {
	if scatters && chance.chance(5) {
		n.carry(n.media+chance.between(0, 100*time.Millisecond), arrive)
		if chance.chance(50) {
			return
		}
	}
	n.sound(chance, scatters, arrive, gone)
}

func (n *network) carry(after time.Duration, arrive func()) {
	n.w.add(after, func() {
		n.mu.Lock()
		lost := n.cut
		n.mu.Unlock()
		if !lost {
			arrive()
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

package speaking

// The reports of a client that predicts barge-ins. The client reports RTP timestamps of its playout, and only the server knows which position
// of which response a timestamp is; coord/bargein is the client's half.

import (
	"math"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	// reportWait is how long a report of the client may take in addition to the round trip.
	reportWait = 300 * time.Millisecond
	// usualTrip is the round trip where nothing has measured it.
	usualTrip = 200 * time.Millisecond
)

type (
	// ReadyDue: the client has not reported in time that it plays at full level again.
	ReadyDue struct{ Turn turn.ID }
	// HeardDue: the client has not reported in time how far it played the track of Resp.
	HeardDue struct{ Resp response.ID }
)

func (ReadyDue) playerEvent() {}
func (HeardDue) playerEvent() {}

// claim is the state of the client's own candidates. Their numbers count up; only the newest counts.
type claim struct {
	candidate int           // the number of the newest; 0 before the first
	turn      turn.ID       // the turn of the newest candidate while it waits for its verdict; 0 otherwise
	from      voice.Samples // how far the client had played at full level when it ducked the agent
	ducked    bool          // the client has ducked the agent and has reported from
	// back is where the response continues after the silence that is being sent, once that is decided.
	back      voice.Samples
	decided   bool
	late      int // the newest candidate, if it was rejected while the response went on: the client may still report that it has missed something
	estimates int // how often the server's estimate replaced a report
	// played are the last responses that were played, by their ids for the client. cut are the last ones that were dropped: a client may
	// send a candidate for one of them before it learns of the cut. Both are rings.
	played [2]string
	cut    [8]string
}

// remember puts name into a ring, the newest first.
func remember(ring []string, name string) {
	copy(ring[1:], ring)
	ring[0] = name
}

func remembered(ring []string, name string) bool { return name != "" && slices.Contains(ring, name) }

// NewClient forgets the candidates of the former client, because a new client counts from 1.
func (p *Player) NewClient() { p.claim.candidate, p.claim.turn, p.claim.late = 0, 0, 0 }

// WasCut reports whether the response called name was dropped a short time ago.
func (p *Player) WasCut(name string) bool { return remembered(p.claim.cut[:], name) }

// TakeCandidate notes candidate number n of the client for the response called name. fresh is false for a number that is
// not newer than the last. opens says that the response has played, and that its audio may still be unplayed at the far
// end, so that the machines must judge the candidate.
func (p *Player) TakeCandidate(n int, name string, s playout.State) (fresh, opens bool) {
	if n <= p.claim.candidate {
		return false, false
	}
	p.claim.candidate, p.claim.turn, p.claim.late = n, 0, 0
	_, silent := s.(playout.Silent)
	return true, remembered(p.claim.played[:], name) && !(silent && p.ServerPaced() && p.tail == nil)
}

// DuckedAt notes that the client ducks the agent since RTP timestamp ts, and returns how far the client has played the
// audible response at full level. Where the timestamp is not known it returns how far the response was sent. The position stands
// for the client's ready report if that does not come.
func (p *Player) DuckedAt(ts int) playout.Position {
	t := p.Audible()
	if t == nil {
		return p.ItemPosition()
	}
	if p.claim.from, p.claim.ducked = p.fullUpTo(t, ts); p.claim.ducked {
		return t.ItemPosition(p.claim.from)
	}
	return p.ItemPosition()
}

// Opened notes that the client's newest candidate is a candidate of turn t.
func (p *Player) Opened(t turn.ID) { p.claim.turn = t }

// Judged reports whether the client's newest candidate has its verdict.
func (p *Player) Judged() bool { return p.claim.turn == 0 }

// Confirmed notes that the client's candidate was a barge-in: the client learns that from the protocol's own events.
func (p *Player) Confirmed() { p.claim.turn = 0 }

// Acknowledge returns the answer to the client's event called id, with the first packet of the silence that is being sent.
func (p *Player) Acknowledge(id string) *wire.AntiphonAck {
	ack := &wire.AntiphonAck{Acknowledges: id}
	if l := p.able.Timeline; l != nil {
		if ts, silent := l.FirstSilent(); silent {
			ack.RTPTimestamp = int(ts)
		}
	}
	return ack
}

// RejectNewest returns the event that tells the client that its newest candidate is rejected.
func (p *Player) RejectNewest() *wire.AntiphonBargeInRejected {
	return &wire.AntiphonBargeInRejected{Candidate: p.claim.candidate}
}

// Reject returns the event that tells the client that its candidate of turn t is rejected, nil if the client has none.
func (p *Player) Reject(t turn.ID) *wire.AntiphonBargeInRejected {
	if t == 0 || t != p.claim.turn {
		return nil
	}
	p.claim.turn, p.claim.ducked = 0, false
	return p.RejectNewest()
}

// Settled returns the rejection of a client's candidate that no longer waits for a verdict and held nothing. The playout
// machine reports the rejection of a candidate that held something. It returns nil where there is none.
func (p *Player) Settled(s *coord.State) *wire.AntiphonBargeInRejected {
	t := p.claim.turn
	if t == 0 || turn.Open(s.Turn) == t {
		return nil
	}
	if h, held := s.Playout.(playout.Held); held && h.Client == t {
		return nil
	}
	return p.Reject(t)
}

// Ready takes the client's report that it plays at full level again, and that it played the response without a gap up to
// timestamp ts, or that it has missed what follows. ok is false for a report for which the server does not wait, or whose timestamp is not known.
func (p *Player) Ready(candidate, ts int, s playout.State) (e coord.Event, ok bool) {
	if !p.ServerPaced() || candidate <= 0 || candidate != p.claim.candidate {
		return nil, false
	}
	h, held := s.(playout.Held)
	t := p.Audible()
	if t != nil && p.claim.late == candidate {
		return p.goBack(t, ts, s)
	}
	if !held || !h.Awaits || h.Client != p.claim.turn || t == nil {
		return nil, false
	}
	at, ok := p.fullUpTo(t, ts)
	if !ok {
		return nil, false
	}
	p.claim.back, p.claim.decided = at, true
	return coord.OfPlayout{Event: playout.Ready{Candidate: h.Client, At: t.ItemPosition(at)}}, true
}

// Heard takes the client's report that it played t, which was cut, up to timestamp ts. ok is false if the timestamp is
// not known.
func (p *Player) Heard(t *Track, ts int) (e coord.Event, ok bool) {
	at, ok := p.position(ts)
	if !ok {
		return nil, false
	}
	return coord.OfPlayout{Event: playout.Heard{Resp: t.resp, At: t.ItemPosition(t.heardAt(at))}}, true
}

// TailHeard takes the client's report that it stopped the tail, the track of resp, at timestamp ts. The next track may be on air already. ok is false if
// that is not the tail, or if the client has played all of it. The tail is forgotten: nothing of it will be played.
func (p *Player) TailHeard(resp response.ID, ts int) (end playout.Position, ok bool) {
	at, known := p.position(ts)
	t := p.tail
	if t == nil {
		t = p.former
	}
	if t == nil || t.resp != resp || !known || t == p.former && at.Gen >= p.next {
		return playout.Position{}, false
	}
	p.EndTail()
	p.former = nil
	end = t.ItemPosition(t.heardAt(at))
	return end, !t.Whole(end)
}

// position returns the position that the client plays at a timestamp that it has reported.
func (p *Player) position(ts int) (at link.Position, ok bool) {
	if p.able.Timeline == nil || ts <= 0 || ts > math.MaxUint32 {
		return link.Position{}, false
	}
	return p.able.Timeline.PositionAt(uint32(ts))
}

// heardAt returns how far the client has played t, at any level, when it plays position at. Once t was to be played again from a
// position, the ducked audio after that position counts as unplayed.
func (t *Track) heardAt(at link.Position) voice.Samples {
	switch {
	case at.Gen < t.gen: // the client plays the response before t, or none yet
		return 0
	case at.NextGen != 0:
		return at.Next
	}
	return at.At
}

// fullUpTo returns how far the client has played t without a gap when it plays timestamp ts. In a silence of the server that is where t
// continues after the silence.
func (p *Player) fullUpTo(t *Track, ts int) (voice.Samples, bool) {
	at, ok := p.position(ts)
	switch {
	case !ok:
		return 0, false
	case at.NextGen >= t.gen && at.NextGen != 0:
		return at.Next, true
	case at.Gen < t.gen:
		return 0, true
	case at.Silent && p.claim.decided:
		return p.claim.back, true
	case at.Silent:
		return p.out.Sent(), true
	}
	return at.At, true
}

// --- reports that do not come in time

// AwaitReady begins the wait for the client's ready report of its candidate t.
func (p *Player) AwaitReady(t turn.ID) {
	if p.soft.on {
		p.soft.ready = t
		return
	}
	p.timers.Start("ready", p.reportIn(), func() { p.post(ReadyDue{t}) })
}

// AwaitHeard begins the wait for the client's report of how far it played t.
func (p *Player) AwaitHeard(t *Track) {
	p.awaited = t
	p.timers.Start("heard", p.reportIn(), func() { p.post(HeardDue{t.resp}) })
}

func (p *Player) reportIn() time.Duration {
	trip := usualTrip
	if l := p.able.RoundTripper; l != nil && l.RoundTrip() > 0 {
		trip = l.RoundTrip()
	}
	return trip + reportWait
}

// estimate takes the place of a report that has not come: the machines take event in place of the report. It is the only case in which a
// word may be lost or played twice, or an item may be cut at another position than the far end heard. uncertain is how
// much audio may be affected.
type estimate struct {
	report    string // the report's name in the log
	event     coord.Event
	uncertain time.Duration
}

// estimateReady returns the estimate for a ready report: the response continues from where the client has ducked it, if the
// client reported that, or else from where it was held.
func (p *Player) estimateReady(e ReadyDue) estimate {
	return estimate{"ready", coord.OfPlayout{Event: playout.ReadyExpired{Candidate: e.Turn}}, p.uncertain(p.out.Sent())}
}

// estimateHeard returns the estimate in place of a report of how far t was played: at is where the response was held, or the
// sent position. The item is cut there.
func (p *Player) estimateHeard(t *Track, at playout.Position) estimate {
	return estimate{"heard", coord.OfPlayout{Event: playout.HeardExpired{Resp: t.resp}}, p.uncertain(t.Position(at))}
}

func (p *Player) uncertain(sent voice.Samples) time.Duration {
	if !p.claim.ducked {
		return 0
	}
	return time.Duration(max(0, sent-p.claim.from).Milliseconds(room.OutputRate)) * time.Millisecond
}

// use gives an estimate to the machines. s is their state before that. Estimates that the machines have taken are counted.
func (p *Player) use(e estimate, s *coord.State) (out room.List) {
	before := s.Playout
	out.Step(e.event)
	out.Then(func(s *coord.State) room.List {
		if s.Playout != before {
			p.claim.estimates++
			p.log.Warn("a client did not report in time what it played: the server uses its estimate", "report", e.report,
				"uncertain_ms", e.uncertain.Milliseconds(), "estimates", p.claim.estimates)
		}
		return nil
	})
	return out
}

// Estimates returns how many estimates the machines have taken.
func (p *Player) Estimates() int { return p.claim.estimates }

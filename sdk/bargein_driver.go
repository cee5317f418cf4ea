package sdk

// The barge-in machine of one peer: it gets events, and its effects are performed here.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/view"
)

// verdictTime is how long a candidate waits for the server to confirm or reject it. The server decides within 1.2 s.
const verdictTime = 1500 * time.Millisecond

// bargeInDriver drives coord/bargein for one peer: it turns what the detector, the playback and the server report into events of
// the machine, and performs the effects. Its zero value predicts nothing.
type bargeInDriver struct {
	bound       peerKey // the peer that this driver is for; zero without a call
	playout     playout
	machine     *machine.Coordinator[bargein.State, bargein.Event, bargein.Effect] // nil where nothing is predicted
	serverTakes bool                                                               // the server accepts candidates

	candidate bargein.ID // the number of the newest candidate
	asked     [8]string  // the ids of the events that reported the last candidates, by candidate
	due       time.Duration
	dueOf     bargein.ID
	awaited   PlayedPosition
	awaits    bargein.ID
	reached   bargein.ID // the candidate whose awaited position was reached at once

	responses recentResponses

	suspects   view.Seq       // the expectation that the candidate is confirmed
	lasts      view.Seq       // the expectation that sustained speech is confirmed
	full       PlayedPosition // where the newest candidate over a response at full level began
	fullKnown  bool
	quietAt    PlayedPosition // where the agent was silenced
	quietKnown bool           // the agent is silenced since quietAt
	stats      predictionStats
}

// peerKey identifies a peer by its call and dial. Two interface values would be compared by whatever they hold.
type peerKey struct{ call, dial uint64 }

// bindPeer makes a driver for a new peer, and ends the driver of a peer that is gone.
func (s *Session) bindPeer() {
	var peer Peer
	var of peerKey
	if c := s.call; c != nil && c.peer != nil {
		peer, of = c.peer, peerKey{c.n, c.dial}
	}
	in := &s.barge
	if in.bound == of {
		return
	}
	if in.machine != nil {
		s.bargeIn(bargein.Close{}) // the level belongs to the peer: it is restored
	}
	// Candidates keep their numbers over all peers of a call: the server takes only a number that is greater than every earlier one,
	// also over another connection.
	*in = bargeInDriver{bound: of, due: Never, stats: in.stats, candidate: in.candidate}
	if peer == nil {
		s.dialog.tell(view.Ended{}, 0)
		return
	}
	if s.audio.Volume != 1 {
		s.applyVolume(peer)
	}
	if s.opts.NoPrediction {
		return
	}
	if in.playout = newPlayout(peer); in.playout.canDuck() {
		in.machine = machine.NewCoordinator(bargein.Table, bargein.State(bargein.Silent{}), s.bargeInStepped)
	}
}

// state returns the state of the machine; Closed where nothing is predicted.
func (in *bargeInDriver) state() bargein.State {
	if in.machine == nil {
		return bargein.Closed{}
	}
	return in.machine.State()
}

// pending returns the candidate that waits for its verdict; 0 when none does.
func (in *bargeInDriver) pending() bargein.ID { return bargein.Pending(in.state()) }

// bargeIn gives the machine one event and performs its effects.
func (s *Session) bargeIn(e bargein.Event) {
	in := &s.barge
	waited := in.pending()
	for _, f := range in.machine.Step(e) {
		s.perform(f)
	}
	s.resumePlayout(waited)
	s.dirty = true
	if waited != 0 && in.pending() == 0 {
		in.due = Never
		if _, cut := e.(bargein.Confirmed); !cut {
			s.dialog.drop(in.suspects)
			s.dialog.drop(in.lasts)
		}
	}
	if c := in.reached; c != 0 {
		in.reached = 0
		s.bargeIn(bargein.Passed{Candidate: c})
	}
}

func (s *Session) bargeInStepped(t machine.Transition[bargein.State, bargein.Event, bargein.Effect]) {
	s.inspector.add(Transition{
		At: s.clock.Now(), Lane: "client", Machine: "bargein",
		From: t.From.Name(), Event: t.Event.Name(), Action: t.Action, To: t.To.Name(),
	})
}

func (s *Session) perform(f bargein.Effect) {
	in := &s.barge
	switch f := f.(type) {
	case bargein.Duck:
		in.playout.setGain(s.opts.duckedGain())
		if !in.playout.held {
			in.quietKnown = false
		}
	case bargein.Silence:
		in.quietAt, in.quietKnown = in.playout.here()
		in.playout.setGain(0)
		in.playout.hold()
		if in.playout.ducker != nil {
			in.stats.silenced(s.clock.Now())
		}
	case bargein.Restore:
		in.playout.setGain(1)
		in.stats.restored(s.clock.Now())
	case bargein.SendCandidate:
		s.sendCandidate(f)
	case bargein.ArmDeadline:
		in.due, in.dueOf = s.clock.Now()+verdictTime, f.Candidate
	case bargein.AwaitPosition:
		s.awaitPosition(f)
	case bargein.SendReady:
		if in.playout.ducker != nil {
			in.stats.replays(in.replayed(f.At))
		}
		s.sendReady(f)
	case bargein.Mute:
		if in.playout.ducker != nil {
			in.playout.ducker.Mute()
		} else {
			s.stopPlayer()
		}
	case bargein.SendHeard:
		s.sendHeard(f)
	}
}

// awaitPosition waits until the user hears the silence that the server has put into the sound. A Rewinder is held instead: the
// server then sends nothing that it has to wait for.
func (s *Session) awaitPosition(f bargein.AwaitPosition) {
	in := &s.barge
	known := false
	in.awaits = f.Candidate
	in.awaited, known = in.playout.position(f.At)
	switch {
	case in.playout.rewinder != nil:
		in.playout.hold()
		in.reached = f.Candidate
	case !known: // the server named no position
		in.reached = f.Candidate
	default:
		in.playout.ducker.AwaitPosition(in.awaited)
	}
}

// resumePlayout ends the hold of a Rewinder when the candidate with the number waited is decided. The Rewinder plays on from the last
// position at full level.
func (s *Session) resumePlayout(waited bargein.ID) {
	in := &s.barge
	switch in.state().(type) {
	case bargein.Ducked, bargein.Silenced, bargein.Restored:
		return
	case bargein.Silent, bargein.Closed: // the held sound is discarded
		in.quietKnown, in.playout.held = false, false
	case bargein.Playing, bargein.Unanswered:
		in.quietKnown = false
		if waited == 0 || in.playout.rewinder == nil {
			return
		}
		in.stats.replays(in.heldBack())
		in.playout.resume(in.full, in.fullKnown)
	}
}

// replayed returns how much of the response the server plays again, in milliseconds, when it resumes at the position with number n
// what it has stopped at the awaited position; 0 where one of the two is not known.
func (in *bargeInDriver) replayed(n bargein.Position) int {
	from, known := in.playout.position(n)
	if !known || in.awaited == (PlayedPosition{}) {
		return 0
	}
	return from.until(in.awaited)
}

// heldBack returns the sound from the last position at full level to the present one, in milliseconds; 0 where one of the two is
// not known.
func (in *bargeInDriver) heldBack() int {
	at, known := in.playout.here()
	if !known || !in.fullKnown {
		return 0
	}
	return in.full.until(at)
}

// reportPlayback tells the machine which response the user hears, when that changed while a candidate was pending.
func (s *Session) reportPlayback() {
	in := &s.barge
	for range 2 {
		switch now := in.state().(type) {
		case bargein.Silent:
			if in.responses.playing <= now.Last {
				return
			}
			s.bargeIn(bargein.Began{Resp: in.responses.playing})
		case bargein.Playing:
			switch {
			case in.responses.playing > now.Resp:
				s.bargeIn(bargein.Began{Resp: in.responses.playing})
			case in.responses.playing == 0:
				s.bargeIn(bargein.Ended{Resp: now.Resp})
			default:
				return
			}
		case bargein.Unanswered:
			if in.responses.playing <= now.Resp {
				return
			}
			s.bargeIn(bargein.Began{Resp: in.responses.playing})
		case bargein.Ducked, bargein.Silenced, bargein.Restored, bargein.Closed:
			return
		}
	}
}

// concernedResponse returns the response that an interruption would cut now: the newest one that is played or that the pending
// candidate is about; 0 for none.
func (in *bargeInDriver) concernedResponse() id.Response {
	if in.pending() != 0 {
		resp, _ := responseOf(in.state())
		return max(resp, in.responses.playing)
	}
	return in.responses.playing
}

// responseOf returns the newest response that a state knows, and whether the server has cut it off.
func responseOf(s bargein.State) (newest id.Response, cut bool) {
	switch s := s.(type) {
	case bargein.Silent:
		return s.Last, s.Cut
	case bargein.Playing:
		return s.Resp, false
	case bargein.Ducked:
		return s.Resp, false
	case bargein.Silenced:
		return s.Resp, false
	case bargein.Restored:
		return s.Resp, false
	case bargein.Unanswered:
		return s.Resp, false
	case bargein.Closed:
	}
	return 0, true
}

// cutOff notes that response n was interrupted. spoken says that the server heard speech; otherwise the application asked for it.
func (s *Session) cutOff(n id.Response, spoken bool) {
	in := &s.barge
	newest, cut := responseOf(in.state())
	if n == 0 || in.machine == nil || n < newest || n == newest && cut {
		return
	}
	at, known := in.quietAt, in.quietKnown
	if !known {
		at, known = in.playout.here()
	}
	if spoken {
		in.stats.confirmed(in.pending() != 0, s.clock.Now())
	}
	s.bargeIn(bargein.Confirmed{Resp: n, At: in.playout.number(at, known)})
}

package sdk

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/view"
)

// verdictTime is how long a candidate waits for its verdict. The server decides within 1.2 s.
const verdictTime = 1500 * time.Millisecond

// interruption drives coord/bargein for one peer: it turns what the detector, the playback and the server say into the
// machine's events, and performs its effects. The zero value predicts nothing.
type interruption struct {
	of    attended // zero without a call
	out   output
	steps *machine.Coordinator[bargein.State, bargein.Event, bargein.Effect] // nil where nothing is predicted
	knows bool                                                               // the server takes candidates

	candidate bargein.ID // the newest
	asked     [8]string  // the events that told of the last candidates, by candidate
	due       time.Duration
	dueOf     bargein.ID
	awaited   bargein.Mark
	awaits    bargein.ID
	reached   bargein.ID // its mark was reached before anybody could be asked to wait for it

	reply id.Response // the newest that was heard
	names [8]string   // of the last replies, by number
	heard id.Response // is heard now, as the server or the player says; 0 is none

	suspects view.Seq     // what is expected of the candidate
	lasts    view.Seq     // … of its voice that lasts
	full     bargein.Mark // where the candidate that was last began
	quietAt  bargein.Mark // where the agent was silenced; 0 while it can be heard
	score    score
}

// attended names a peer: two values of an interface compare at the cost of comparing whatever may be in them.
type attended struct{ call, dial uint64 }

// attend begins with a new peer, and ends with one that is gone.
func (s *Session) attend() {
	var peer Peer
	var of attended
	if c := s.call; c != nil && c.peer != nil {
		peer, of = c.peer, attended{c.n, c.dial}
	}
	in := &s.interruption
	if in.of == of {
		return
	}
	if in.steps != nil {
		s.bargeIn(bargein.Close{}) // the level is the peer's, not the session's: it goes up
	}
	*in = interruption{of: of, due: Never, score: in.score}
	if peer == nil {
		s.flow.tell(view.Ended{}, 0)
		return
	}
	if s.volume != 1 {
		s.applyVolume(peer)
	}
	if s.opts.NoPrediction {
		return
	}
	if in.out = newOutput(peer); in.out.able() {
		in.steps = machine.NewCoordinator(bargein.Table, bargein.State(bargein.Silent{}), s.bargeInStepped)
	}
}

// state is the machine's; Closed where nothing is predicted.
func (in *interruption) state() bargein.State {
	if in.steps == nil {
		return bargein.Closed{}
	}
	return in.steps.State()
}

// pending is the candidate that waits for its verdict, 0 when none does.
func (in *interruption) pending() bargein.ID { return bargein.Pending(in.state()) }

// bargeIn takes one step and performs its effects.
func (s *Session) bargeIn(e bargein.Event) {
	in := &s.interruption
	waited := in.pending()
	for _, f := range in.steps.Step(e) {
		s.perform(f)
	}
	s.goOn(waited)
	s.dirty = true
	if waited != 0 && in.pending() == 0 {
		in.due = Never
		if _, cut := e.(bargein.Confirmed); !cut {
			s.flow.drop(in.suspects)
			s.flow.drop(in.lasts)
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
	in := &s.interruption
	switch f := f.(type) {
	case bargein.Duck:
		in.out.setLevel(LevelDucked)
		if !in.out.held {
			in.quietAt = 0
		}
	case bargein.Silence:
		in.quietAt = in.out.here()
		in.out.setLevel(LevelSilent)
		in.out.hold()
		if in.out.lowerer != nil {
			in.score.silenced(s.clock.Now())
		}
	case bargein.Restore:
		in.out.setLevel(LevelFull)
		in.score.restored(s.clock.Now())
	case bargein.SendCandidate:
		s.sendCandidate(f)
	case bargein.ArmDeadline:
		in.due, in.dueOf = s.clock.Now()+verdictTime, f.Candidate
	case bargein.AwaitMark:
		s.awaitMark(f)
	case bargein.SendReady:
		if in.out.lowerer != nil {
			in.score.repeats(in.out.between(f.At, in.awaited))
		}
		s.sendReady(f)
	case bargein.Mute:
		if in.out.lowerer != nil {
			in.out.lowerer.Mute()
		} else {
			s.stopPlayer()
		}
	case bargein.SendHeard:
		s.sendHeard(f)
	}
}

// awaitMark: where the client plays the sound itself, the server's silence is that it holds.
func (s *Session) awaitMark(f bargein.AwaitMark) {
	in := &s.interruption
	in.awaits, in.awaited = f.Candidate, f.At
	switch {
	case in.out.holder != nil:
		in.out.hold()
		in.reached = f.Candidate
	case f.At == 0: // the server did not say
		in.reached = f.Candidate
	default:
		in.out.lowerer.AwaitMark(uint32(f.At))
	}
}

// goOn lets a Rewinder play on, from where the reply was heard at full level, when the candidate that waited does no more.
func (s *Session) goOn(waited bargein.ID) {
	in := &s.interruption
	switch in.state().(type) {
	case bargein.Ducked, bargein.Silenced, bargein.Restored:
		return
	case bargein.Silent, bargein.Closed: // what was held is thrown away
		in.quietAt, in.out.held = 0, false
	case bargein.Playing, bargein.Unanswered:
		in.quietAt = 0
		if waited == 0 || in.out.holder == nil {
			return
		}
		in.score.repeats(in.out.between(in.full, in.out.here()))
		in.out.goOn(in.full)
	}
}

// tellEar tells the machine of what began or ended while a candidate waited.
func (s *Session) tellEar() {
	in := &s.interruption
	for range 2 {
		switch now := in.state().(type) {
		case bargein.Silent:
			if in.heard <= now.Last {
				return
			}
			s.bargeIn(bargein.Began{Resp: in.heard})
		case bargein.Playing:
			switch {
			case in.heard > now.Resp:
				s.bargeIn(bargein.Began{Resp: in.heard})
			case in.heard == 0:
				s.bargeIn(bargein.Ended{Resp: now.Resp})
			default:
				return
			}
		case bargein.Unanswered:
			if in.heard <= now.Resp {
				return
			}
			s.bargeIn(bargein.Began{Resp: in.heard})
		case bargein.Ducked, bargein.Silenced, bargein.Restored, bargein.Closed:
			return
		}
	}
}

// sounds: this reply is heard from now on. The name may be empty, and the same reply may begin again.
func (in *interruption) sounds(name string) {
	if in.heard != 0 && in.names[in.heard%id.Response(len(in.names))] == name {
		return
	}
	in.reply++
	in.heard = in.reply
	in.names[in.reply%id.Response(len(in.names))] = name
}

// number is a reply's that was heard of late, 0 for any other.
func (in *interruption) number(name string) id.Response {
	oldest := max(int(in.reply)-len(in.names)+1, 1)
	for n := int(in.reply); n >= oldest; n-- {
		if in.names[n%len(in.names)] == name {
			return id.Response(n)
		}
	}
	return 0
}

// lastHeard is the reply that an interruption is about now: the one that is heard, or that a candidate waits for; else 0.
func (in *interruption) lastHeard() id.Response {
	if in.pending() != 0 {
		resp, _ := replyOf(in.state())
		return max(resp, in.heard)
	}
	return in.heard
}

// replyOf is the newest reply that a state knows, and whether it was cut off.
func replyOf(s bargein.State) (newest id.Response, cut bool) {
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

// cutOff: this reply was interrupted. spoken says that the server heard somebody, and not that the application asked.
func (s *Session) cutOff(n id.Response, spoken bool) {
	in := &s.interruption
	newest, cut := replyOf(in.state())
	if n == 0 || in.steps == nil || n < newest || n == newest && cut {
		return
	}
	at := in.quietAt
	if at == 0 {
		at = in.out.here()
	}
	if spoken {
		in.score.confirmed(in.pending() != 0, s.clock.Now())
	}
	s.bargeIn(bargein.Confirmed{Resp: n, At: at})
}

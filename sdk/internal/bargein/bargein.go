// Package bargein predicts the user's interruptions: it drives coord/bargein for one peer. Each method takes what has happened, and
// returns what is to be done, in order. It does nothing to the sound itself. One goroutine at a time may use it.
package bargein

import (
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/coord/bargein"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
	"github.com/antiphon-rt/antiphon/sdk/internal/playback"
)

// VerdictTime is how long a candidate waits for the server to confirm or reject it. The server decides within 1.2 s.
const VerdictTime = 1500 * time.Millisecond

// ringing is how long the end of the response rings on in the server's silence, in ticks of the RTP clock: two packets.
const ringing = 2 * 960

// Moment is a point in time, with the position that the user hears then. Known is false where nobody can say.
type Moment struct {
	Now   time.Duration
	At    playback.Position
	Known bool
}

// Step is a transition of the machine.
type Step = machine.Transition[bargein.State, bargein.Event, bargein.Effect]

// Prediction is the part of one peer in barge-ins. New makes one that predicts nothing.
type Prediction struct {
	// Machine is nil where nothing is predicted.
	Machine *machine.Coordinator[bargein.State, bargein.Event, bargein.Effect]
	// Steps are the transitions since the caller has last cleared them.
	Steps []Step
	// Responses has the responses that were heard. The caller keeps it up to date.
	Responses playback.Responses
	// ServerTakes: the server accepts candidates. Without that, nothing is reported to it.
	ServerTakes bool
	// Deadline is when a candidate is given up; deadline.Never when none waits.
	Deadline time.Duration

	rewinds   bool // the client plays the sound itself, and can go back in it
	held      bool // the playback is held
	positions playback.Positions
	newest    bargein.ID // the number of the newest candidate
	reported  [8]string  // the ids of the events that reported the last candidates, by candidate
	expiring  bargein.ID // the candidate that Deadline is for
	awaited   awaited
	full      Moment // where the newest candidate over a response at full level began
	silenced  Moment // where the agent was silenced; Known says that it still is
	measured  measurement
	returning bool     // the server is asked to go back in the response: until then the agent stays lowered, because what is under way comes again
	actions   []Action // what the running method returns
}

// awaited is the position that the user must hear before the machine goes on.
type awaited struct {
	at        playback.Position
	candidate bargein.ID // 0 when none waits
	reached   bool       // nothing needs to be waited for
}

// Action is something to be done.
type Action struct {
	Do        Do
	At        playback.Position // the position that the action is about; zero where it is not known
	Candidate int
	Response  string // the id of a response
}

// Do says what is to be done.
type Do uint8

// What is to be done.
const (
	Duck               Do = iota // lower the agent's volume
	Silence                      // silence the agent
	Restore                      // play the agent at full level
	Hold                         // hold the playback where it is
	Resume                       // play on from At
	Await                        // tell Passed when the user has heard At
	Mute                         // play nothing more of the response that is heard
	SendCandidate                // report Candidate over Response at At, and tell Reported the id of the event
	SendReady                    // report for Candidate that the user hears silence, and heard the response at full level up to At
	SendHeard                    // report that the user heard Response up to At
	ExpectVerdict                // predict that the server confirms the candidate
	ExpectInterruption           // predict that it surely does
	SpeechOver                   // take ExpectInterruption back
	NotConfirmed                 // take both back
	Rejected                     // the server has rejected the candidate
)

// New returns the part of a peer that predicts nothing.
func New() Prediction { return Prediction{Deadline: deadline.Never} }

// Bind begins with another peer. ducks says that the volume of the agent can be lowered there, rewinds that the client plays the sound
// itself and can go back in it. Candidates keep their numbers over all peers of a call: the server takes only a number that is
// greater than every earlier one, also over another connection.
func (p *Prediction) Bind(ducks, rewinds bool) {
	*p = Prediction{Deadline: deadline.Never, rewinds: rewinds, newest: p.newest, measured: p.measured, Steps: p.Steps}
	if ducks {
		p.Machine = machine.NewCoordinator(bargein.Table, bargein.State(bargein.Silent{}), p.stepped)
	}
}

// NewCall forgets the candidates of an earlier call.
func (p *Prediction) NewCall() { p.measured, p.newest = measurement{}, 0 }

func (p *Prediction) stepped(t Step) { p.Steps = append(p.Steps, t) }

// Figures say how well the call has predicted interruptions.
func (p *Prediction) Figures() Figures { return p.measured.shown }

// State returns the state of the machine; Closed where nothing is predicted.
func (p *Prediction) State() bargein.State {
	if p.Machine == nil {
		return bargein.Closed{}
	}
	return p.Machine.State()
}

// Waiting reports whether a candidate waits for its verdict.
func (p *Prediction) Waiting() bool { return p.pending() != 0 }

// Returning reports whether the agent stays ducked until the server goes back in the response.
func (p *Prediction) Returning() bool { return p.returning }

// pending returns the candidate that waits for its verdict; 0 when none does.
func (p *Prediction) pending() bargein.ID { return bargein.Pending(p.State()) }

func (p *Prediction) do(a Action) { p.actions = append(p.actions, a) }

// done returns what is to be done.
func (p *Prediction) done() []Action {
	actions := p.actions
	p.actions = nil
	return actions
}

// step gives the machine one event.
func (p *Prediction) step(e bargein.Event, m Moment) {
	waited, before := p.pending(), p.State()
	effects := p.Machine.Step(e)
	ended := p.returning && endsReturn(e) && (p.State() != before || len(effects) > 0)
	p.returning = p.returning && !ended
	if _, rejected := e.(bargein.Rejected); rejected && p.ServerTakes && !p.rewinds && slices.ContainsFunc(effects, isReady) {
		p.returning = true
		p.do(Action{Do: Duck})
	}
	for _, f := range effects {
		p.take(f, m)
	}
	if ended && !slices.Contains(effects, bargein.Effect(bargein.Restore{})) {
		p.take(bargein.Restore{}, m)
	}
	p.resume(waited, m)
	if waited != 0 && p.pending() == 0 {
		p.Deadline = deadline.Never
		if _, cut := e.(bargein.Confirmed); !cut {
			p.do(Action{Do: NotConfirmed})
		}
	}
	if p.returning && p.Deadline == deadline.Never {
		p.Deadline = m.Now + VerdictTime
	}
	if p.awaited.reached {
		p.awaited.reached = false
		p.step(bargein.Passed{Candidate: p.awaited.candidate}, m)
	}
}

func isReady(f bargein.Effect) bool {
	_, is := f.(bargein.SendReady)
	return is
}

// endsReturn reports whether an event that the machine does not ignore ends the wait for the server to go back.
func endsReturn(e bargein.Event) bool {
	switch e.(type) {
	case bargein.Passed, bargein.Confirmed, bargein.Expired, bargein.Began, bargein.Close:
		return true
	case bargein.Onset, bargein.Sustained, bargein.VoiceEnded, bargein.Acked, bargein.Rejected, bargein.Ended:
	}
	return false
}

// take turns an effect of the machine into what is to be done.
func (p *Prediction) take(f bargein.Effect, m Moment) {
	switch f := f.(type) {
	case bargein.Duck:
		p.do(Action{Do: Duck})
		p.silenced.Known = p.silenced.Known && p.held
	case bargein.Silence:
		p.silenced = m
		p.do(Action{Do: Silence})
		p.hold()
		if !p.rewinds {
			p.measured.silencedAt = m.Now
		}
	case bargein.Restore:
		if p.returning {
			break
		}
		p.do(Action{Do: Restore})
		p.measured.restored(m.Now)
	case bargein.SendCandidate:
		if !p.returning {
			p.awaited = awaited{}
		}
		p.report(Action{Do: SendCandidate, Candidate: int(f.Candidate), Response: p.Responses.ID(f.Resp)}, f.At)
	case bargein.ArmDeadline:
		p.Deadline, p.expiring = m.Now+VerdictTime, f.Candidate
	case bargein.AwaitPosition:
		at, known := p.positions.At(f.At)
		if known {
			at.Timestamp += ringing
		}
		// A playback that is held reaches no position: the server then sends nothing that it has to wait for.
		p.awaited = awaited{at: at, candidate: f.Candidate, reached: p.rewinds || !known}
		p.hold()
		if !p.awaited.reached {
			p.do(Action{Do: Await, At: at})
		}
	case bargein.SendReady:
		if p.rewinds && p.pending() == 0 { // it goes back itself
			break
		}
		if !p.rewinds {
			p.measured.replays(p.replayed(f.At, m))
		}
		p.report(Action{Do: SendReady, Candidate: int(f.Candidate)}, f.At)
	case bargein.Mute:
		p.do(Action{Do: Mute})
	case bargein.SendHeard:
		p.report(Action{Do: SendHeard, Response: p.Responses.ID(f.Resp)}, f.At)
	}
}

// report tells a server that accepts candidates something about the position with number n.
func (p *Prediction) report(a Action, n bargein.Position) {
	if p.ServerTakes {
		a.At, _ = p.positions.At(n)
		p.do(a)
	}
}

// hold stops the playback where that is possible.
func (p *Prediction) hold() {
	if p.rewinds && !p.held {
		p.held = true
		p.do(Action{Do: Hold})
	}
}

// resume ends the hold when the candidate with the number waited is decided. The playback goes on from the last position at full level.
func (p *Prediction) resume(waited bargein.ID, m Moment) {
	switch p.State().(type) {
	case bargein.Ducked, bargein.Silenced, bargein.Restored:
	case bargein.Silent, bargein.Closed: // the held sound is discarded
		p.silenced.Known, p.held = false, false
	case bargein.Playing, bargein.Unanswered:
		p.silenced.Known = false
		if waited == 0 || !p.rewinds {
			return
		}
		heldBack := 0
		if m.Known && p.full.Known {
			heldBack = p.full.At.Until(m.At)
		}
		p.measured.replays(heldBack)
		if p.full.Known || p.held {
			p.held = false
			p.do(Action{Do: Resume, At: p.full.At})
		}
	}
}

// replayed returns how much of the response the server plays again, in milliseconds, when it resumes at the position with number n
// what it has stopped at the awaited position, or what the user hears at m if it has not stopped; 0 where one of the two is not known.
func (p *Prediction) replayed(n bargein.Position, m Moment) int {
	from, known := p.positions.At(n)
	to := p.awaited.at
	switch {
	case to != (playback.Position{}):
		to.Timestamp -= ringing
	case m.Known:
		to = m.At
	default:
		return 0
	}
	if !known {
		return 0
	}
	return from.Until(to)
}

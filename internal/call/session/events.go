package session

// The events of a session: the sealed type of its queue, and the function that handles each event.

import (
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/call/remote"
	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
)

// event is one of the types below. Each goroutine posts its events; the actor alone takes them.
//
//sumtype:decl
type event interface{ event() }

type (
	// machineEvent is for the state machines.
	machineEvent struct{ coord.Event }
	// clientMessage is an event of the client, or of a side-band controller.
	clientMessage struct{ Message }
	// audioReceived is audio of the client's track: mono, format.InputRate. It is from audioBuffers, and goes back once it is handled.
	audioReceived struct{ pcm *[]int16 }
	// audioMissing stands for samples of the client's track that have not arrived.
	audioMissing struct{ samples int }
	// warmedUp: the back ends are loaded, or err says why not.
	warmedUp struct{ err error }
	// firstFrameSent: the first frame of the response on air has gone out, or the first one after a pause of it.
	firstFrameSent struct{}
	// The following events come from the rooms.
	inputEvent  struct{ listening.Event }
	playerEvent struct{ speaking.PlayerEvent }
	bodyEvent   struct{ speaking.Event }
	// summaryWritten: the summary of a long conversation has ended.
	summaryWritten struct{ conversation.Written }
	// runsEvent is of a run, or of a request for one.
	runsEvent struct{ runs.Event }
	// remoteEvent is of an MCP server.
	remoteEvent struct{ remote.Event }
	// fromLifetime is of the Lifetime.
	fromLifetime struct{ of lifetimeEvent }
	// leaving asks the session to wait for its client, which will reconnect over another connection.
	leaving struct{ answer chan<- left }
	// clientSettled: the client of a session that goes on here is back, and has had time to say what it knows.
	clientSettled struct{}
	// greeting has the agent speak first.
	greeting struct{ words string }
	// digitPressed is a key of a telephone. toModel says that the model gets it.
	digitPressed struct {
		key     string
		toModel bool
	}
	// digitsDue: the user has pressed no key for digitsPause.
	digitsDue struct{}
	// progressed: a call that the server places is as far as state says.
	progressed struct {
		state  string
		status int
	}
	// handled closes done: everything that was posted before is handled.
	handled struct{ done chan struct{} }
)

func (machineEvent) event()   {}
func (clientMessage) event()  {}
func (audioReceived) event()  {}
func (audioMissing) event()   {}
func (warmedUp) event()       {}
func (firstFrameSent) event() {}
func (inputEvent) event()     {}
func (playerEvent) event()    {}
func (bodyEvent) event()      {}
func (summaryWritten) event() {}
func (runsEvent) event()      {}
func (remoteEvent) event()    {}
func (fromLifetime) event()   {}
func (leaving) event()        {}
func (clientSettled) event()  {}
func (greeting) event()       {}
func (digitPressed) event()   {}
func (digitsDue) event()      {}
func (progressed) event()     {}
func (handled) event()        {}

// left is the answer to leaving: the event_id of the client's last event, and whether the session waits.
type left struct {
	taken string
	waits bool
}

// handle handles one event completely.
func (s *Session) handle(e event) {
	switch e := e.(type) {
	case machineEvent:
		s.step(e.Event)
	case clientMessage:
		s.fromClient(e.Message)
	case audioReceived:
		s.do(s.input.Audio(*e.pcm, &s.machines.state))
		audioBuffers.Put(e.pcm) // the input has copied the samples
	case audioMissing:
		s.do(s.input.Missing(e.samples, &s.machines.state))
	case warmedUp:
		s.opened(e.err)
	case firstFrameSent:
		s.firstPacket()
		s.tellPlaying(false)
	case inputEvent:
		s.do(s.input.Handle(e.Event, &s.machines.state, s.facts()))
	case playerEvent:
		s.do(s.player.Handle(e.PlayerEvent, &s.machines.state))
	case bodyEvent:
		s.survival.Touch() // a clause may be complete
		s.play(s.generator.Handle(e.Event, s.audible()))
	case fromLifetime:
		s.do(s.lifetime.Handle(e.of, &s.machines.state))
	case summaryWritten:
		s.do(s.summariser.Handle(e.Written))
	case runsEvent:
		s.survival.Touch()
		s.doFor(s.runs.Handle(e.Event, &s.machines.state))
	case remoteEvent:
		s.survival.Touch()
		s.do(s.client.Remote.Handle(e.Event))
	case leaving:
		out, waits := s.lifetime.Leave(&s.machines.state)
		s.do(out)
		if waits {
			s.survival.Left()
		}
		e.answer <- left{s.survival.Taken(), waits}
	case clientSettled:
		s.survival.Settled()
	case greeting:
		s.greet(e)
	case digitPressed:
		s.pressed(e)
	case digitsDue:
		s.dialled()
	case progressed:
		s.progresses(e)
	case handled:
		close(e.done)
	}
}

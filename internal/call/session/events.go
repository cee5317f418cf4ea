package session

// The events of a session: the sealed type of its queue, and the function that handles each event.

import (
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/client"
	"github.com/antiphon-rt/antiphon/internal/call/generation"
	"github.com/antiphon-rt/antiphon/internal/call/input"
	"github.com/antiphon-rt/antiphon/internal/call/lifetime"
	"github.com/antiphon-rt/antiphon/internal/call/output"
	"github.com/antiphon-rt/antiphon/internal/call/summary"
	"github.com/antiphon-rt/antiphon/server/pipeline/tool"
	"github.com/antiphon-rt/antiphon/wire"
)

// event is one of the types below. Each goroutine posts its events; the actor alone takes them.
//
//sumtype:decl
type event interface{ event() }

type (
	// machineEvent is for the state machines.
	machineEvent struct{ coord.Event }
	// clientMessage is an event of the client, or of a side-band controller.
	clientMessage struct{ client.Message }
	// audioReceived is audio of the client's track: mono, format.InputRate. It is from audioBuffers, and goes back once it is handled.
	audioReceived struct{ pcm *[]int16 }
	// audioMissing stands for samples of the client's track that have not arrived.
	audioMissing struct{ samples int }
	// warmedUp: the back ends are loaded, or err says why not.
	warmedUp struct{ err error }
	// firstFrameSent: the first frame of the response on air has gone out.
	firstFrameSent struct{}
	// The following events come from the rooms.
	inputEvent    struct{ input.Event }
	playerEvent   struct{ output.Event }
	bodyEvent     struct{ generation.Event }
	lifetimeEvent struct{ lifetime.Event }
	// summaryWritten: the summary of a long conversation has ended.
	summaryWritten struct{ summary.Written }
	// backgroundNews is what work says that a tool call of this session has begun.
	backgroundNews struct{ tool.News }
	// runFollowed: the session follows a run from now on, or there are no more news of it.
	runFollowed struct {
		run     string
		follows bool
	}
	// followedAgain: the session of before has followed a run, and this one does so now; refused says why not.
	followedAgain struct {
		run     string
		refused *wire.Error
	}
	// followAgainDue: it is time to try again to follow a run.
	followAgainDue struct{ run string }
	// runActed: the client's request for a run has ended. refused says why it was refused; nil if it was carried out.
	runActed struct{ refused *wire.Error }
	// spokenActed: the user's spoken answer to a run was taken, or refused.
	spokenActed struct {
		run     string
		refused *wire.Error
	}
	// leaving asks the session to wait for its client, which will reconnect over another connection.
	leaving struct{ answer chan<- left }
	// clientSettled: the client of a session that goes on here is back, and has had time to say what it knows.
	clientSettled struct{}
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
func (lifetimeEvent) event()  {}
func (summaryWritten) event() {}
func (backgroundNews) event() {}
func (runFollowed) event()    {}
func (followedAgain) event()  {}
func (followAgainDue) event() {}
func (runActed) event()       {}
func (spokenActed) event()    {}
func (leaving) event()        {}
func (clientSettled) event()  {}
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
	case inputEvent:
		s.do(s.input.Handle(e.Event, &s.machines.state))
	case playerEvent:
		s.do(s.player.Handle(e.Event, &s.machines.state))
	case bodyEvent:
		s.recorder.touch() // a clause may be complete
		s.play(s.generator.Handle(e.Event, s.audible()))
	case lifetimeEvent:
		s.do(s.lifetime.Handle(e.Event, &s.machines.state))
	case summaryWritten:
		s.do(s.summariser.Handle(e.Written))
	case backgroundNews:
		s.do(s.news(e.News))
	case runFollowed:
		s.recorder.touch()
		s.runs.followed.set(e.run, e.follows)
	case followedAgain:
		s.followedAgain(e)
	case followAgainDue:
		s.followAgain(e.run)
	case runActed:
		s.doFor(s.client.RunActed(e.refused))
	case spokenActed:
		s.do(s.spokenActed(e))
	case leaving:
		out, waits := s.lifetime.Leave(&s.machines.state)
		s.do(out)
		if waits {
			s.client.Left()
		}
		e.answer <- left{s.client.Taken(), waits}
	case clientSettled:
		s.continuation.ready = true
	case handled:
		close(e.done)
	}
}

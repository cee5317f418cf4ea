package survival

// Which answer goes on after a kill: the driver of internal/coord/continuation.

import (
	"slices"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/coord/continuation"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/wire"
)

// continued is the machine of what goes on after a kill.
var continued = room.Machine[continuation.State, continuation.Event, continuation.Effect, continuation.Seen]{
	Name: "continuation", Table: continuation.Table, Monitor: continuation.Monitor,
}

// going has the machine, and the answers that its state names.
type going struct {
	state   continuation.State
	seen    continuation.Seen // when invariants are checked
	newest  uint32
	answers map[uint32]journal.Answer
	// request is that of the newest response that ContinueAnswer has begun; nil for none. By it created knows this response.
	request *wire.ResponseParams
	turned  bool // a turn was committed since ContinueAnswer was last called
	back    bool // the client is back, and has had SettleTime
}

// kept returns what the journal keeps of the machine.
func (g *going) kept() journal.Answer {
	switch s := g.state.(type) {
	case continuation.Answered:
		return g.answers[s.Of]
	case continuation.Due:
		a := g.answers[s.Of]
		a.Due, a.Heard = true, s.Heard
		return a
	case continuation.Quiet:
	}
	return journal.Answer{Over: true}
}

// step runs an event through the machine, and performs the effects. told are the events about lost transcripts, and of is the response that a kill has cut off.
func (s *Survival) step(e continuation.Event, told room.List, of ...journal.Response) (out room.List) {
	s.touched = true
	effects, st := continued.Step(&s.going.state, &s.going.seen, e, s.Broken)
	room.LogStep(s.Log, st)
	if s.Trace != nil {
		s.Trace(st.Machine, st)
	}
	for _, f := range effects {
		switch f := f.(type) {
		case continuation.End:
			out = append(out, s.Generator.EndLost(of[0], f.Completed)...)
		case continuation.ClearInput:
			out.Send(&wire.InputAudioBufferCleared{})
		case continuation.FailTranscripts:
			out = append(out, told...)
		case continuation.AskAgain:
			s.Runs.Continue()
		case continuation.Continue:
			out = append(out, s.goOn(f)...)
		}
	}
	return out
}

// created notes that a response of the conversation has begun. One that continues an answer takes the place of that answer.
func (s *Survival) created(name string) {
	g := &s.going
	asked, says := s.Generator.Cause(name)
	if of, goes := g.state.(continuation.Answered); goes && asked != nil && asked == g.request {
		g.answers[of.Of] = journal.Answer{Response: name, Asked: g.answers[of.Of].Asked}
		return
	}
	g.newest++
	s.step(continuation.Created{Of: g.newest, Says: says, Behind: s.open.Playing != ""}, nil)
	if now, goes := g.state.(continuation.Answered); goes && now.Of == g.newest {
		g.answers = map[uint32]journal.Answer{now.Before: g.answers[now.Before], now.Of: {Response: name, Asked: asked}}
	}
}

// Due reports whether an answer is to go on. The server says nothing else of its own accord before.
func (s *Survival) Due() bool {
	_, due := s.going.state.(continuation.Due)
	return due
}

// Cancel notes that the client cancels a response, "" for the newest one, or the audio that plays. An answer that is to go on is cancelled, too.
func (s *Survival) Cancel(name string) {
	if s.Due() && (name == "" || name == s.going.kept().Response) {
		s.step(continuation.Cancelled{}, nil)
	}
}

// Settled notes that the client of a session that goes on is back, and has had SettleTime. The session may not have opened: Opened calls it again.
func (s *Survival) Settled() {
	s.going.back = true
	if s.opened {
		s.step(continuation.Settled{}, nil)
	}
}

// ContinueAnswer begins the response that goes on with an interrupted answer, once nobody speaks. The actor calls it after each event. A turn that the server does not answer takes its place.
func (s *Survival) ContinueAnswer(state *coord.State) room.List {
	turned := s.going.turned && state.Waiting == 0
	s.going.turned = false
	_, live := state.Conn.(conn.Live)
	_, quiet := state.Turn.(turn.Idle)
	_, free := state.Response.(response.Idle)
	switch {
	case !s.Due():
	case turned:
		return s.step(continuation.Turn{}, nil)
	case live && quiet && free && state.Waiting == 0 && !s.Generator.CallsAgain():
		return s.step(continuation.Free{}, nil)
	}
	return nil
}

// goOnNote tells the model why it is asked again.
const goOnNote = "\n\nA technical fault has cut off your last answer; the user has not interrupted you. The user has heard only the part of it that is written above. " +
	"Go on exactly where it stops. Repeat nothing, and do not mention the fault."

// goOn begins the response that goes on with an answer.
func (s *Survival) goOn(f continuation.Continue) room.List {
	p := wire.ResponseParams{}
	if asked := s.going.answers[f.Of].Asked; asked != nil {
		p = *asked
	}
	if it := s.Conversation.Interrupted(); f.Heard && it != nil {
		instructions := s.Settings.Instructions(&p) + goOnNote
		p.Instructions = &instructions
		if p.HasInput {
			p.Input = append(slices.Clip(p.Input), wire.Item{Type: wire.ItemReference, ID: it.ID})
		}
	}
	s.going.request = &p
	return s.Generator.Respond(&p)
}

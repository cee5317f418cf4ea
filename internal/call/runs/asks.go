package runs

// Answers to runs by speech: the server asks the question of a run in its own words, and takes the answer from a turn of the user.

import (
	"fmt"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// What the model reads of a question that the server asks.
const (
	asksItself = "Run %s of %s needs the user's approval. The server itself asks the user for it now, in words of its own, and only the user's answer counts. Do not ask for it, and do not say that it is given."
	approved   = "With these words the user has approved run %s of %s. The server passes that on. Say in a few words that the work goes on. Its result comes later, as a message."
	declined   = "With these words the user has declined run %s of %s. The server passes that on, and the work is not done. Say so in a few words."
	asksReply  = "Run %s of %s has a question for the user. The server itself asks the user now, in words of its own, and only the user's reply counts. Do not ask the question, and do not answer it."
	replied    = "With these words the user has answered the question of run %s of %s. The server passes on: %q. Say in a few words that the work goes on. Its result comes later, as a message."
	agreedCall = "With these words the user has approved the call of %s. The server makes the call now. Say in a few words that you do it. The result comes as the output of the call."
	refused    = "With these words the user has declined the call of %s, and it is not made. Say so in a few words."
	putOff     = "With these words the user has put off the question of run %s of %s. It stays open: the user can answer it in the application at any time. Say so in a few words."
	notTaken   = "The user's answer to run %s does not count: %s. Tell the user so."
)

// serverAsks returns what the model reads when the server asks a question.
func serverAsks(n tool.News) string {
	if n.Asks.Approval {
		return fmt.Sprintf(asksItself, n.Run, n.Tool)
	}
	return fmt.Sprintf(asksReply, n.Run, n.Tool)
}

// words returns the words of the session's language; nil if the language is not set, or has no words.
func (r *Runs) words() *Words {
	return FindWords(r.Settings.TranscribeConfig(false).Language)
}

// userQuestion returns what the server can ask the user by speech; ok is false if there is nothing, if the call may not act on runs, or if
// its client creates the responses.
func (r *Runs) userQuestion() (text string, ok bool) {
	detection := r.Settings.TurnDetection()
	if !r.Access.Keyed || r.Access.Act == nil && !r.SpokenApproval || !r.Generator.MaySpeak() || detection == nil || !detection.CreateResponse {
		return "", false
	}
	return r.approvals.Question(r.words())
}

// askUser begins the response that asks the question of a run, once nobody speaks.
func (r *Runs) askUser(s *coord.State) (out room.List) {
	if !r.approvals.Due() {
		return nil
	}
	_, silent := s.Playout.(playout.Silent)
	if now, _ := r.mayAnswer(s); !now || !silent {
		return nil
	}
	text, ok := r.userQuestion()
	if !ok {
		return r.giveUpQuestion()
	}
	of := r.Generator.Say(text)
	r.approvals.Asking(of, r.words(), text)
	r.question = question{}
	out.Step(coord.OfResponse{Event: response.Create{Request: of}})
	return out
}

// giveUpQuestion has the model tell the user of a question that the server has said it would ask, and cannot ask any more.
func (r *Runs) giveUpQuestion() room.List {
	text := r.approvals.GiveUp()
	if text == "" {
		return nil
	}
	out, told := r.inform("", text)
	r.informed = r.informed || told
	return out
}

// Cut notes that a response was cut: nobody has heard the whole of it.
func (r *Runs) Cut(of response.ID) { r.approvals.Cut(of) }

// question is the sound of a question that the server asks.
type question struct {
	response *speaking.Response // nil until all its sound is made
	outside  voice.Samples      // how much sound of out-of-band responses the call had had by then
}

// checkHeard drops the question if the client has lost words of it, or has got the sound of an out-of-band response after it.
func (r *Runs) checkHeard() {
	q := r.question
	if q.response != nil && (q.response.LostWords() || r.Player.OutOfBand() != q.outside) {
		r.approvals.Cut(q.response.ID())
	}
}

// Follow takes note of an effect that is about to be performed.
func (r *Runs) Follow(f coord.Effect) {
	a := &r.approvals
	switch f := f.(type) {
	case response.EmitCreated:
		a.Created(f.ID, f.Request)
	case response.EmitTerminal:
		if of := r.Generator.Find(f.ID); f.Status != response.Completed || of == nil || !of.Track().Begun() {
			a.Cut(f.ID) // nobody hears it, or not to its end
		} else if a.Asks(f.ID) {
			r.question = question{of, r.Player.OutOfBand()}
		}
	case playout.EmitStopped:
		a.Played(f.Resp, r.Env.Now())
	case playout.EmitCleared:
		a.Cut(f.Resp)
	case conn.ArmGrace:
		if !r.Player.ServerPaced() {
			a.forget() // the server does not know what of its sound has reached the client
		}
	case turn.OpenTurn:
		a.Opened(f.Turn, r.Env.Now())
	case turn.DiscardTurn:
		a.Discarded(f.Turn)
	}
}

// Said takes the words of a turn of the user. If they answer the question that the server has asked, it passes the answer on. Nothing else leads here: no item of
// a client, and no output of the model.
func (r *Runs) Said(t turn.ID, text string) (out room.List) {
	r.checkHeard()
	p, with := r.approvals.Said(t, text, r.words())
	if p == nil {
		return nil
	}
	r.Log.Info("the user has answered a run by speech", "run", p.Run, "approval", p.Approval, "approves", with.Approves, "later", with.Later)
	if p.Remote {
		return r.saidRemote(p, with.Approves)
	}
	run, answer := p.Run, wire.AntiphonRunReply{RunID: p.Run, InteractionID: p.Interaction}
	var told string
	switch {
	case with.Later:
		out, _ = r.inform(run, fmt.Sprintf(putOff, run, p.Tool))
		return out
	case !p.Approval:
		told, answer.Reply = fmt.Sprintf(replied, run, p.Tool, with.Reply), wire.AppendString(nil, with.Reply)
	case with.Approves:
		told, answer.Approve = fmt.Sprintf(approved, run, p.Tool), wire.Raw("true")
	default:
		told, answer.Approve = fmt.Sprintf(declined, run, p.Tool), wire.Raw("false")
	}
	out, _ = r.inform(run, told)
	r.actThen(&answer, func(refused *wire.Error) Event { return SpokenActed{run, refused} })
	return out
}

// saidRemote passes the user's spoken answer on to a call of a remote tool.
func (r *Runs) saidRemote(p *Pending, approves bool) room.List {
	told := refused
	if approves {
		told = agreedCall
	}
	out, _ := r.inform(p.Run, fmt.Sprintf(told, p.Tool))
	answered, waited := r.Generator.Approve(p.Run, approves, "")
	if !waited { // the client has answered first
		return nil
	}
	return append(out, answered...)
}

// noteRemote notes which calls of remote tools wait for the user, and whether one that has ended wants an answer of the agent.
func (r *Runs) noteRemote() {
	r.informed = r.Generator.TakeAnswerDue() || r.informed
	if !r.SpokenApproval {
		return
	}
	var calls []Pending
	for _, it := range r.Conversation.AskingCalls() {
		calls = append(calls, Pending{Run: it.ApprovalRequestID, Tool: it.Name, Remote: true, Approval: true, Arguments: []byte(it.Arguments)})
	}
	r.approvals.WaitsRemote(calls)
}

// spokenActed takes the end of a spoken answer to a run.
func (r *Runs) spokenActed(e SpokenActed) room.List {
	if e.Refused == nil {
		return nil
	}
	r.Log.Warn("the user's spoken answer to a run does not count", "run", e.Run, "why", e.Refused.Message)
	r.approvals.Refused(e.Run)
	out, told := r.inform(e.Run, fmt.Sprintf(notTaken, e.Run, e.Refused.Message))
	r.informed = r.informed || told
	return out
}

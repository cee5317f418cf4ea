package runs

// The Approvals of a call: which runs wait for the user, and how far the server is with its question.

import (
	"encoding/json"
	"time"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// Pending is a question for which a run of the call waits.
type Pending struct {
	Run, Tool, Interaction string
	// Remote: no run waits, but a call of a remote tool (MCP). Run is the id of its request for approval.
	Remote bool
	// Approval: the question asks for an approval. Arguments are what the user would approve.
	Approval  bool
	Arguments json.RawMessage
	// Prompt is what any other question asks, in the words of the run's worker. Choices are what the reply may be; empty for any words.
	Prompt  string
	Choices []string
	// Text is what the model reads if the server cannot ask the question; "" if it has read that.
	Text string
}

// Answer is what the user has said to a question.
type Answer struct {
	// Approves is the answer to an approval.
	Approves bool
	// Later: the user does not want to reply now, so the question stays open. Never of an approval.
	Later bool
	// Reply is the reply to any other question: the words of the turn, or one of the choices.
	Reply string
}

// mostAsked is how often the server asks a question.
const mostAsked = 3

// replyTime is how long after the end of a question, if it is no approval, a turn that replies may begin: any words may be a reply, also words that have nothing to do with it.
const replyTime = 30 * time.Second

// Approvals are the questions of the runs of a call. The zero value has none.
//
// The server asks the question itself, in its own words, while the run is the only one of the call that waits; a run whose question the user has put off does not count. A
// turn of the user answers the question if it begins after the end of the question was played, and if no other response came between. So the model can neither answer nor reword
// the question.
type Approvals struct {
	pending map[string]*waiting // by run

	request machine.Request // the request for the response that asks, until it is created; zero for none
	asks    response.ID     // the newest response of the call, if it asks; 0 for none
	of      *waiting        // what it asks about
	words   *Words          // in whose language it asks
	text    string          // what it says
	heard   time.Time       // when it was played to its end; zero before
	turn    turn.ID         // the turn that may answer it; 0 for none
}

// waiting is a run that waits for the user.
type waiting struct {
	Pending
	asked    int  // how often the server has asked
	answered bool // the user has answered by speech, and the store has not said yet that this counts
	left     bool // the user has put it off: the server asks no more
}

// Waits notes a question for which a run waits.
func (a *Approvals) Waits(p Pending) {
	if a.pending == nil {
		a.pending = map[string]*waiting{}
	}
	a.pending[p.Run] = &waiting{Pending: p}
	a.forget()
}

// Settled notes that a run waits no more.
func (a *Approvals) Settled(run string) {
	if a.pending[run] != nil {
		delete(a.pending, run)
		a.forget()
	}
}

// WaitsRemote says which calls of remote tools wait for an approval. Calls of before that are not among them wait no more.
func (a *Approvals) WaitsRemote(calls []Pending) {
	waits := map[string]bool{}
	for _, p := range calls {
		waits[p.Run] = true
		if a.pending[p.Run] == nil {
			a.Waits(p)
		}
	}
	for id, w := range a.pending {
		if w.Remote && !waits[id] {
			a.Settled(id)
		}
	}
}

// forget ends the question that was asked: no turn answers it any more.
func (a *Approvals) forget() {
	a.request, a.asks, a.of, a.words, a.text, a.heard, a.turn = machine.Request{}, 0, nil, nil, "", time.Time{}, 0
}

// single returns the question for which the only waiting run of the call waits; nil for none.
func (a *Approvals) single() (found *waiting) {
	for _, w := range a.pending {
		switch {
		case w.left:
		case found != nil:
			return nil
		default:
			found = w
		}
	}
	if found == nil || found.answered {
		return nil
	}
	return found
}

// Question returns what the server can ask in a language; ok is false if there is nothing.
func (a *Approvals) Question(w *Words) (text string, ok bool) {
	p := a.single()
	if p == nil || w == nil || p.asked == mostAsked {
		return "", false
	}
	if p.Approval {
		return w.Question(p.Tool, p.Arguments)
	}
	return w.Ask(p.Tool, p.Prompt, p.Choices)
}

// Due reports whether the server has to ask: nobody has been asked since the last response.
func (a *Approvals) Due() bool {
	return a.single() != nil && a.request == machine.Request{} && a.asks == 0
}

// GiveUp returns what the model reads of the question that the server cannot ask; "" for nothing, and if it was returned before.
func (a *Approvals) GiveUp() (text string) {
	if p := a.single(); p != nil {
		text, p.Text = p.Text, ""
	}
	return text
}

// Asking notes the request for the response that asks, with the text of Question in the language of w.
func (a *Approvals) Asking(of machine.Request, w *Words, text string) {
	a.forget()
	a.request, a.of, a.words, a.text = of, a.single(), w, text
	a.of.asked++
}

// Created notes a response that the machines have created. A response that does not ask ends the question before it.
func (a *Approvals) Created(of response.ID, why machine.Request) {
	if a.of == nil {
		return
	}
	if a.asks == 0 && why == a.request {
		a.asks, a.request = of, machine.Request{}
		return
	}
	a.forget()
}

// Played notes that a response was played to its end.
func (a *Approvals) Played(of response.ID, now time.Time) {
	if a.Asks(of) && a.heard.IsZero() {
		a.heard = now
	}
}

// Cut notes that the user has not heard the whole of a response.
func (a *Approvals) Cut(of response.ID) {
	if a.Asks(of) {
		a.forget()
	}
}

// Asks reports whether the response is the newest one of the call, and asks a question.
func (a *Approvals) Asks(of response.ID) bool { return a.asks != 0 && of == a.asks }

// Opened notes that a turn of the user has begun. If a second one begins before the first one is transcribed, neither answers. A turn that begins too long after a question
// that is no approval does not answer it.
func (a *Approvals) Opened(t turn.ID, now time.Time) {
	switch {
	case !a.Open():
	case a.turn != 0 && a.turn != t, !a.of.Approval && now.Sub(a.heard) > replyTime:
		a.forget()
	default:
		a.turn = t
	}
}

// Discarded notes that a turn had no words.
func (a *Approvals) Discarded(t turn.ID) {
	if a.turn == t {
		a.turn = 0
	}
}

// Open reports whether a turn of the user may answer now.
func (a *Approvals) Open() bool { return a.asks != 0 && !a.heard.IsZero() }

// Said takes the words of a turn, and returns the question that they answer; nil if they answer none. A turn without words leaves the question open.
// w has the words of the session's language: an answer in another language than that of the question does not count.
func (a *Approvals) Said(t turn.ID, text string, w *Words) (answered *Pending, with Answer) {
	if t == 0 || a.turn != t {
		return nil, Answer{}
	}
	a.turn = 0
	if text == "" {
		return nil, Answer{}
	}
	p, asked := a.single(), a.text
	matches := p != nil && p == a.of && w != nil && w == a.words
	a.forget()
	if !matches {
		return nil, Answer{}
	}
	var ok bool
	if p.Approval {
		with.Approves, ok = w.Answer(text)
	} else {
		with.Reply, with.Later, ok = w.Reply(text, asked, p.Choices)
	}
	if !ok {
		return nil, Answer{}
	}
	p.answered, p.left = !with.Later, with.Later
	return &p.Pending, with
}

// Refused notes that the answer to a run could not be stored: the server may ask again.
func (a *Approvals) Refused(run string) {
	if p := a.pending[run]; p != nil {
		p.answered = false
	}
}

package speaking

// The Generator: every response of a session, and the machine of each.

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/antiphon-rt/antiphon/coord/draft"
	"github.com/antiphon-rt/antiphon/coord/generation"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/ratelimit"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Parts are the other parts of the session that a Generator uses. They belong to the session's goroutine, as the Generator does.
type Parts struct {
	Env          env.Env
	Log          *slog.Logger
	Pipeline     *pipeline.Pipeline
	Guard        *watchdog.Guard // bounds the calls into the Pipeline
	Limits       ratelimit.Limiter
	Settings     *conversation.Settings
	Conversation *conversation.Conversation
	Player       *Player
	// Context ends with the session; Workers are its goroutines.
	Context context.Context //nolint:containedctx // the life of the session's goroutines, not of a call
	Workers *env.Group
	// Post takes the reports of bodies, from any goroutine. It reports false when the session has ended.
	Post func(Event) bool
	// Trace sees every step of machines that belong to one response; name is the response's id.
	Trace func(name string, step coord.Step)
	// Timed, when not nil, gets the times of each turn that was answered, and the end of the user's speech.
	Timed func(t *wire.AntiphonTurnMetrics, spoke time.Time)
	// AnswerAhead lets the Generator make drafts: it begins to answer before the end of the user's turn is certain.
	AnswerAhead bool
	// Tools are the tools that the server runs.
	Tools pipeline.ServerTools
	// AnswerRemote has the agent answer by itself after calls of remote tools.
	AnswerRemote bool
	// Caller is this session, for tools that tell it of work in the background.
	Caller *tool.Caller
	// Broken is called with an invariant that does not hold, where they are checked; nil where they are not.
	Broken func(invariant, event string)
}

// Generator makes a session's responses. It keeps each one from response.created until its body, its audio and its events have ended.
type Generator struct {
	Parts
	responses map[response.ID]*Response
	running   *Response // the response whose body the session's synthesis machine serves
	causes    causes
	drafts    drafts
	lastOwn   response.ID // how many out-of-band responses there were; counts their ids from firstOutOfBand
	bills     []int       // tokens of responses that have ended, until Settle
	// inputs are the sizes of the requests that are kept and take memory, in bytes.
	inputs    map[*wire.ResponseParams]int
	runs      map[int]toolRun         // tools that run, by their numbers
	called    int                     // how many have been called
	remote    map[string]RemoteServer // by label
	asked     []toolRun               // calls that wait for approval
	answerDue bool                    // a remote tool has ended, and the agent answers of its own accord
	again     int                     // those of them that CallAgain has called
	closed    bool                    // the session has ended
	// uncertain is closed when no end of a turn is tentative any more; nil when none is.
	uncertain chan struct{}
}

// New returns a Generator without responses.
func New(p Parts) *Generator {
	return &Generator{Parts: p, responses: map[response.ID]*Response{}, runs: map[int]toolRun{}}
}

// Find returns the response with the machines' id of; nil for one that the Generator has forgotten.
func (g *Generator) Find(of response.ID) *Response { return g.responses[of] }

// OnAir returns the response whose audio plays; nil for none.
func (g *Generator) OnAir() *Response {
	if t := g.Player.OnAir(); t != nil {
		return g.responses[t.resp]
	}
	return nil
}

// Near the end of a response, and after a question, one word of the user is an answer.
const (
	nearEnd      = time.Second      // for any response
	nearQuestion = 3 * time.Second  // for a response that ends with a question
	nearEstimate = 10 * time.Second // the same, where the client plays by itself: the played position is an estimate
)

// NearAnswer reports whether the user can be expected to answer: all audio of the audible response is there and only its
// end is unplayed, or more of it when its last sentence is a question.
func (g *Generator) NearAnswer() bool {
	left, complete := g.Player.Left()
	if !complete {
		return false
	}
	within := nearEnd
	if r := g.responses[g.Player.Audible().resp]; r != nil && r.asks() {
		within = nearQuestion
		if !g.Player.ServerPaced() {
			within = nearEstimate
		}
	}
	return left <= within
}

// Named returns the response whose id for the client is name; ok is false where there is none.
func (g *Generator) Named(name string) (of response.ID, ok bool) {
	for of, r := range g.responses {
		if r.object.ID == name {
			return of, true
		}
	}
	return 0, false
}

// Cause returns what the client has asked of the response with that id, nil for an answer to a turn, and whether the response says words of the server.
func (g *Generator) Cause(name string) (asked *wire.ResponseParams, says bool) {
	of, ok := g.Named(name)
	if !ok {
		return nil, false
	}
	return g.responses[of].request, g.responses[of].says != ""
}

// Unbegun returns the oldest response that the client has asked for and whose body has not begun; 0 for none.
func (g *Generator) Unbegun() (oldest response.ID) {
	for of, r := range g.responses {
		if _, waits := r.state.(generation.Waiting); waits && r.turn == nil && !r.OutOfBand() && (oldest == 0 || of < oldest) {
			oldest = of
		}
	}
	return oldest
}

// inOrder returns the responses in the order of their creation.
func (g *Generator) inOrder() []*Response {
	out := slices.AppendSeq(make([]*Response, 0, len(g.responses)), maps.Values(g.responses))
	slices.SortFunc(out, func(a, b *Response) int { return cmp.Compare(a.id, b.id) })
	return out
}

// Len returns how many responses the Generator keeps.
func (g *Generator) Len() int { return len(g.responses) }

// Close forgets the out-of-band responses: when the session has ended, their bodies cannot report any more.
func (g *Generator) Close() {
	g.closed = true
	if g.AnswerAhead {
		g.draft(draft.Shutdown{})
	}
	for of, r := range g.responses {
		if r.OutOfBand() {
			delete(g.responses, of)
		}
	}
}

// --- a response begins

// Created announces the response that the machines have created.
func (g *Generator) Created(f response.EmitCreated, conversation string) room.List {
	return g.announce(g.newResponse(f.ID, g.causes.known[f.Request], &conversation))
}

func (g *Generator) announce(r *Response) (out room.List) {
	g.responses[r.id] = r
	out.Send(&wire.ResponseCreated{Response: r.object})
	return out
}

// newResponse returns a response with the settings of its request and of the session. conversation is nil for an out-of-band response.
func (g *Generator) newResponse(of response.ID, why cause, conversation *string) *Response {
	r := &Response{
		id: of, request: why.request, turn: why.turn, says: why.says, state: generation.Announced{},
		text: text{splitter: pipeline.NewClauses(), saying: map[uint32]synthesizedPart{}},
	}
	set := g.Settings.Current()
	r.object = wire.Response{
		ID: g.Env.NewID("resp_"), Status: statusInProgress, ConversationID: conversation,
		OutputModalities: set.OutputModalities, MaxOutputTokens: set.MaxOutputTokens,
		Audio: &wire.ResponseAudio{Format: set.Audio.Output.Format, Voice: set.Audio.Output.Voice},
	}
	if r.request != nil {
		applyRequest(&r.object, r.request)
	}
	// Over WebRTC there is one audio track: out-of-band audio would sound over the conversation's.
	r.spoken = g.speaks(r) && !(conversation == nil && g.Player.ServerPaced())
	var encoder *room.Encoder
	if !r.spoken {
		r.object.OutputModalities, r.object.Audio = []string{"text"}, nil
	} else if !g.Player.ServerPaced() {
		var err error
		if encoder, err = room.NewEncoder(r.object.Audio.Format.Type); err != nil {
			g.Log.Error("a format of audio cannot be made", "err", err)
			encoder = &room.Encoder{}
		}
	}
	r.track = &Track{resp: of, name: r.object.ID, encoder: encoder}
	return r
}

// speaks reports whether a response is audio with a transcript.
func (g *Generator) speaks(r *Response) bool {
	return slices.Contains(r.object.OutputModalities, modalityAudio) && g.canSpeak()
}

// MaySpeak reports whether a response with the session's settings is spoken.
func (g *Generator) MaySpeak() bool {
	return slices.Contains(g.Settings.Current().OutputModalities, modalityAudio) && g.canSpeak()
}

// modalityAudio is the output modality of a spoken answer.
const modalityAudio = "audio"

// applyRequest replaces the session's settings by those that a request has.
func applyRequest(r *wire.Response, q *wire.ResponseParams) {
	if q.OutputModalities != nil {
		r.OutputModalities = q.OutputModalities
	}
	if q.MaxOutputTokens != nil {
		r.MaxOutputTokens = *q.MaxOutputTokens
	}
	if q.Audio != nil && q.Audio.Voice != "" {
		r.Audio.Voice = q.Audio.Voice
	}
	if q.Audio != nil && q.Audio.Format.Type != "" {
		r.Audio.Format = q.Audio.Format
	}
	r.Metadata = q.Metadata
}

// canSpeak reports whether the pipeline has a synthesizer that works. Without one every answer is text.
func (g *Generator) canSpeak() bool {
	for _, c := range g.Pipeline.Components() {
		if c.Stage == pipeline.StageSynthesizer && (c.State == pipeline.StateMissing || c.State == pipeline.StateFailed) {
			return false
		}
	}
	return true
}

// --- the machine of one response

// Ask lets the body of a response begin as soon as its input is complete: the response machine's StartBody.
func (g *Generator) Ask(of response.ID) room.List { return g.step(g.responses[of], generation.Ask{}) }

// Cancel ends the body of a response: the response machine's CancelBody.
func (g *Generator) Cancel(of response.ID) room.List {
	return g.step(g.responses[of], generation.Cancel{})
}

// End announces the end of a response: the response machine's EmitTerminal.
func (g *Generator) End(f response.EmitTerminal) room.List {
	r := g.responses[f.ID]
	if r != nil {
		r.status = f.Status
	}
	return g.step(r, generation.Terminal{})
}

// step runs one event through the machine of r and performs the effects. A forgotten response takes no events.
func (g *Generator) step(r *Response, e generation.Event) room.List { return g.stepWith(r, e, nil) }

// stepWith is step for an event with which a body may begin. o is the order of the body.
func (g *Generator) stepWith(r *Response, e generation.Event, o *order) room.List {
	if r == nil {
		return nil
	}
	from := r.state
	next, effects, row := generation.Table.Next(from, e)
	r.state = next
	g.log(r, coord.Step{
		Machine: "generation", From: from, Event: e, To: next, Action: generation.Table[row].Action, Why: generation.Table[row].Why,
	})
	var out room.List
	for _, f := range effects {
		switch f.(type) {
		case generation.Run:
			g.run(r, *o)
		case generation.Stop:
			r.body.cancel()
		case generation.ReportRefused:
			r.body = noBody(r.id)
		case generation.ReportOver:
			status, _ := r.outcome()
			out = append(out, g.respond(r, response.BodyEnded{ID: r.id, Status: status})...)
		case generation.Close:
			out = append(out, g.close(r)...)
		}
	}
	return out
}

// HoldCalls holds back the calls of tools of all answers to turns while the end of a turn is tentative.
func (g *Generator) HoldCalls(tentative bool) {
	switch {
	case tentative && g.uncertain == nil:
		g.uncertain = make(chan struct{})
	case !tentative && g.uncertain != nil:
		close(g.uncertain)
		g.uncertain = nil
	}
}

// Settle charges the responses that have ended, begins the bodies whose input is complete, reports bodies that were refused, and forgets
// responses that have ended completely. The actor calls it after every event until it returns nothing.
func (g *Generator) Settle(s *coord.State) room.List {
	out := g.spend()
	_, cut := s.Playout.(playout.Cut) // the played position of the response before is not known yet
	for _, r := range g.inOrder() {
		if _, waits := r.state.(generation.Waiting); waits && !cut && !g.Conversation.Pending() {
			out = append(out, g.begin(r)...)
		}
		out = append(out, g.nextStep(r)...)
		if r.body != nil && r.body.due {
			r.body.due = false
			out = append(out, g.synthesize(r, synthesis.WorkerExited{})...)
			out = append(out, g.step(r, generation.BodyOver{})...)
		}
		if _, ended := r.state.(generation.Ended); ended && !g.Player.Awaits(r.track, s) {
			delete(g.responses, r.id)
		}
	}
	g.release()
	return out
}

// spend takes the cost of the responses that have ended from the budget, and sends the client the rest of the budget.
func (g *Generator) spend() (out room.List) {
	for _, tokens := range g.bills {
		if left := g.Limits.Spend(tokens); left != nil && !g.closed {
			out.Send(&wire.RateLimitsUpdated{RateLimits: left})
		}
	}
	g.bills = nil
	return out
}

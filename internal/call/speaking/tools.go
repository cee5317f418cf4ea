package speaking

// The tools that the server runs: their calls inside of a response, the steps of the model after them, and the announcement of a long one.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/ratelimit"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/coord/remotecall"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	maxSteps = 10 // how often one response asks the model again after tools of the server
	maxRuns  = 16 // tools of the server that run at a time in one session, also for responses that have ended
)

type (
	// StepEnded: the model has called tools of the server, and waits for the next request.
	StepEnded struct{ ID response.ID }
	// ToolSlow: the tool of Run has taken so long that the agent may announce it.
	ToolSlow struct{ Run int }
	// ToolEnded: the tool of Run has ended.
	ToolEnded struct {
		Run    int
		Output string
		Err    error
	}
)

func (StepEnded) event() {}
func (ToolSlow) event()  {}
func (ToolEnded) event() {}

// toolRun is one tool that runs. Goroutines know its number.
type toolRun struct {
	r *Response // nil for a call that an earlier session of the call has begun
	o *outputItem
}

// toolSteps is how far a response has come with the tools of the server. The zero value has called none.
type toolSteps struct {
	own       map[string]bool        // the remote tools, and the tools of the server whose names no tool of the client has; nil before the first step
	offered   map[string]bool        // those of them that the model may call in the present step; nil for none
	remote    map[string]*remoteTool // the remote tools among own
	calls     int                    // calls of tools, also of the client's
	steps     int                    // how often the model was asked again
	running   int                    // tools that run
	waits     bool                   // the model waits for the next request
	clients   bool                   // the present step has called a tool of the client, or a remote tool, after which the client asks for the answer
	slow      bool                   // a tool has taken long
	announced bool
	err       error // why the model cannot be asked again
}

// offer adds the tools of the server to a request of r. A tool of the client with the same name takes the place of the server's. An out-of-band
// response has none, and the last step of a response, or one after all the calls that it may have, has no tools at all. offer adds the remote tools that are loaded, too.
func (g *Generator) offer(r *Response, q *pipeline.Request) {
	s := &r.tools
	s.own, s.offered, s.remote = g.ownTools(q), nil, nil
	if r.OutOfBand() {
		return
	}
	taken := maps.Clone(s.own)
	for _, t := range q.Tools {
		taken[t.Name] = true
	}
	s.remote = g.offerRemote(r, q, taken)
	for name := range s.remote {
		s.own[name] = true
	}
	if len(s.own) == 0 {
		return
	}
	if s.steps > 0 {
		q.ToolChoice = "auto" // the model has called what it had to call
	}
	if s.steps >= maxSteps || s.calls >= maxCalls {
		q.Tools, q.ToolChoice = nil, "none"
	}
	if q.ToolChoice == "none" {
		return
	}
	s.offered = s.own
	for _, t := range g.Tools.Tools {
		if s.own[t.Name] {
			q.Tools = append(q.Tools, t.Tool)
		}
	}
}

// withholds reports whether a name is that of a tool of the server which the model may not call now. The client knows no tool of that name.
func (s *toolSteps) withholds(name string) bool { return s.own[name] && !s.offered[name] }

// ownTools returns the names of the server's tools without those that a tool of the client in q has, too.
func (g *Generator) ownTools(q *pipeline.Request) map[string]bool {
	own := make(map[string]bool, len(g.Tools.Tools))
	for _, t := range g.Tools.Tools {
		own[t.Name] = true
	}
	for _, t := range q.Tools {
		delete(own, t.Name)
	}
	return own
}

// callDone starts the tool that o calls, or asks for approval. The arguments are complete.
func (g *Generator) callDone(r *Response, o *outputItem) (out room.List) {
	if o.text.Len() == 0 {
		out = r.argumentsDelta(o, conversation.NoArguments)
	}
	o.item.Arguments = o.text.String()
	out.Send(&wire.ResponseMCPCallArgumentsDone{ResponseID: r.object.ID, ItemID: o.item.ID, OutputIndex: o.index, Arguments: o.text.String()})
	if o.remote != nil {
		return append(out, g.stepRemote(toolRun{r, o}, remotecall.Complete{Ask: o.remote.tool.asks}, "")...)
	}
	out.Send(&wire.ResponseMCPCallInProgress{ItemID: o.item.ID, OutputIndex: o.index})
	r.tools.running++
	g.Conversation.BeginCall(o.item)
	return append(out, g.startTool(g.Tools.Find(o.item.Name), toolRun{r, o})...)
}

// startTool starts a tool of the server.
func (g *Generator) startTool(t *pipeline.ServerTool, run toolRun) room.List {
	run.o.running = true
	g.called++
	n := g.called
	g.runs[n] = run
	if len(g.runs) > maxRuns {
		return g.toolEnded(ToolEnded{Run: n, Err: fmt.Errorf("%d tools run already: try again later", maxRuns)})
	}
	id, arguments, stage := run.o.item.ID, run.o.item.Arguments, tool.Stage
	if run.o.remote != nil {
		stage = remoteStage
	}
	g.Workers.Go(func() {
		slow := g.Env.AfterFunc(g.Tools.Patience(), func() { g.Post(ToolSlow{n}) })
		defer slow.Stop()
		output, err := g.callTool(t, stage, id, arguments)
		g.Post(ToolEnded{n, output, err})
	})
	return nil
}

// CallAgain calls the tool of an item again, which an earlier session of the call has called without learning of the outcome. It reports false, and does nothing, if that may not be done.
func (g *Generator) CallAgain(it *conversation.Item) (room.List, bool) {
	t := g.Tools.Find(it.Name)
	if t == nil || !t.Repeatable || it.ServerLabel != mcp.OwnLabel { // a remote tool is never called again
		return nil, false
	}
	g.again++
	return g.startTool(t, toolRun{o: &outputItem{item: it, done: true}}), true
}

// ToolsRun reports whether a tool of the server runs.
func (g *Generator) ToolsRun() bool { return len(g.runs) > 0 }

// CallsAgain reports whether a tool of CallAgain runs.
func (g *Generator) CallsAgain() bool { return g.again > 0 }

// errToolTime is the error of a tool that took too long.
var errToolTime = errors.New("the tool took too long")

// callTool calls a tool and returns its output. id names the call. It is for a goroutine of its own.
func (g *Generator) callTool(t *pipeline.ServerTool, stage, id, arguments string) (output string, err error) {
	ctx := tool.WithCaller(g.Context, g.Caller)
	if t.Repeatable {
		ctx = pipeline.WithIdempotencyKey(ctx, id)
	}
	ctx, cancel := env.WithTimeout(g.Env, ctx, t.Limit(), errToolTime)
	defer cancel()
	err = g.Guard.Run(ctx, stage, func(w *watchdog.Watch) error {
		said, err := t.Run(ctx, arguments)
		return errors.Join(err, w.Deliver(func() error { output = said; return nil }))
	})
	if err != nil && context.Cause(ctx) == errToolTime { //nolint:errorlint // the cause is exactly this one
		err = fmt.Errorf("%w: more than %v", errToolTime, t.Limit())
	}
	return output, err
}

// toolEnded writes the outcome of a tool into its item. The response may have ended before.
func (g *Generator) toolEnded(e ToolEnded) (out room.List) {
	r, o := g.runs[e.Run].r, g.runs[e.Run].o
	delete(g.runs, e.Run)
	o.running = false
	if r == nil && o.remote == nil {
		g.again--
	}
	if r != nil {
		r.tools.running--
	}
	if e.Err != nil {
		room.LogFailure(g.Log, "a tool of the server has failed", e.Err, "tool", o.item.Name, "item", o.item.ID)
	}
	if run := (toolRun{r, o}); o.remote == nil {
		return g.closeCall(run, outputText(e.Output), e.Err)
	} else {
		o.remote.output, o.remote.err = outputText(e.Output), e.Err
		return g.remoteEnded(run)
	}
}

// closeCall writes the outcome of a call into its item, and sends it.
func (g *Generator) closeCall(run toolRun, output string, err error) (out room.List) {
	r, o := run.r, run.o
	o.running = false
	g.Conversation.EndCall(o.item, output, failureOf(err))
	late := o.remote != nil && o.remote.late
	if r == nil || r.closed() && !late {
		out.SendAll(g.Conversation.Done(o.item)) // response.output_item.done was sent without the outcome
		return out
	}
	if o.item.Error == nil {
		out.Send(&wire.ResponseMCPCallCompleted{ItemID: o.item.ID, OutputIndex: o.index})
	} else {
		out.Send(&wire.ResponseMCPCallFailed{ItemID: o.item.ID, OutputIndex: o.index})
	}
	if late {
		out.SendAll(g.Conversation.Done(o.item))
		return out
	}
	return append(out, g.closeItem(r, o, statusCompleted)...)
}

// outputText returns what the conversation keeps of an output.
func outputText(output string) string {
	if len(output) > pipeline.MaxToolOutput {
		output = output[:pipeline.MaxToolOutput] + "\n(The rest is left out: the output is too long.)"
	}
	return strings.ToValidUTF8(output, "\uFFFD")
}

// failureOf returns the error of a tool as its item has it; nil for none.
func failureOf(err error) wire.Raw {
	if err == nil {
		return nil
	}
	var remote *mcp.Error
	if errors.As(err, &remote) {
		return remote.JSON()
	}
	text, _ := json.Marshal(map[string]string{"type": "tool_execution_error", "message": outputText(err.Error())}) // strings always encode
	return text
}

// toolSlow notes that a tool has taken long.
func (g *Generator) toolSlow(run int) room.List {
	r := g.runs[run].r
	if r == nil { // the tool has ended, or an earlier session has begun the call
		return nil
	}
	r.tools.slow = true
	return g.announceTool(r)
}

// announceTool says the announcement, if a tool has taken long and goes on, the model waits for it, and nobody has said anything in this response.
func (g *Generator) announceTool(r *Response) room.List {
	s := &r.tools
	if !s.slow || !s.waits || s.running == 0 || s.announced || g.Tools.Announcement == "" || r.closed() || r.lastMessage() != nil {
		return nil
	}
	s.announced = true
	out := g.textDelta(r, g.Tools.Announcement)
	if o := r.text.message; o != nil {
		o.item.HideFromModel()
	}
	return append(out, g.flush(r)...)
}

// stepEnded notes that the model waits for the tools of its step.
func (g *Generator) stepEnded(r *Response) room.List {
	r.tools.waits = true
	return append(g.flush(r), g.announceTool(r)...)
}

// flush gives the synthesizer what it has not got of the text.
func (g *Generator) flush(r *Response) (out room.List) {
	if r.spoken && !r.closed() {
		for _, c := range r.text.splitter.Flush() {
			out = append(out, g.enqueue(r, c)...)
		}
	}
	return out
}

// nextStep asks the model again, once all tools of the step have ended and the text before them is spoken: then the next message can
// begin. The response ends in place of that if the client has to run a tool.
func (g *Generator) nextStep(r *Response) (out room.List) {
	s := &r.tools
	if !s.waits || s.running > 0 || r.closed() || len(r.text.saying) > 0 || g.Player.SentOf(r.track, 0, r.track.Length()) < r.track.Length() {
		return nil
	}
	s.waits, s.slow = false, false
	if r.text.message != nil {
		out = g.closeItem(r, r.text.message, statusCompleted)
	}
	if s.clients || s.steps >= maxSteps {
		close(r.body.more)
		return out
	}
	s.steps++
	s.clients, r.text.calls = false, nil
	prompt, err := g.request(r)
	if err == nil {
		err = ratelimit.Admit(g.Limits)
	}
	if err != nil {
		s.err = err
		close(r.body.more)
		return out
	}
	o := g.order(r, prompt)
	r.cost.prompt += o.tokens
	select {
	case r.body.more <- o:
	default: // a body that waits for it has taken the one before
	}
	return out
}

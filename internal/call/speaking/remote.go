package speaking

// The calls of remote tools, by MCP: which tools the model gets, and the driver of internal/coord/remotecall.

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/coord/remotecall"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	maxRemoteTools = 128 // remote tools that one request offers
	maxAsked       = 64  // calls that wait for approval and whose response this session has made
	remoteStage    = "mcp"
)

// called is the machine of a call of a remote tool.
var called = room.Machine[remotecall.State, remotecall.Event, remotecall.Effect, remotecall.Seen]{
	Name: "remotecall", Table: remotecall.Table, Monitor: remotecall.Monitor,
}

// RemoteServer is an MCP server whose tools are loaded.
type RemoteServer struct {
	Server *mcp.Server // nil where a logbook is played
	Tools  []mcp.Tool
	Limit  time.Duration // of a call
}

// remoteTool is a remote tool that a request offers.
type remoteTool struct {
	pipeline.ServerTool

	label, name string // of the server, and of the tool there
	asks        bool   // the user has to approve each call
}

// remoteCall is the state of a call of a remote tool. A response of another session has made it if made is nil.
type remoteCall struct {
	state remotecall.State
	seen  remotecall.Seen
	tool  *remoteTool // nil: the server of the tool is not loaded
	// output and err are those of the tool, once it is over.
	output string
	err    error
	late   bool // the user has answered the request after the response
}

// Serve says which MCP servers are loaded, by their labels.
func (g *Generator) Serve(loaded map[string]RemoteServer) { g.remote = loaded }

// offerRemote returns the remote tools for a request of r, by the names that the model uses. It adds them to q. taken are the names that others have.
func (g *Generator) offerRemote(r *Response, q *pipeline.Request, taken map[string]bool) map[string]*remoteTool {
	of := g.Settings.Remote(r.request)
	offered := map[string]*remoteTool{}
	var tools []pipeline.Tool
	for _, d := range of.Servers {
		for _, t := range g.remote[d.Label].Tools {
			if !d.Allows(&t) || len(offered) == maxRemoteTools || of.Only != "" && of.Only != d.Label {
				continue
			}
			name := t.Name
			if !pipeline.ToolName(name) || taken[name] || offered[name] != nil {
				name = plainName(d.Label + "__" + t.Name)
			}
			if taken[name] || offered[name] != nil {
				g.Log.Warn("a remote tool is left out: another tool has its name", "server", d.Label, "tool", t.Name)
				continue
			}
			rt := g.remoteTool(d.Label, t.Name)
			rt.Tool, rt.asks = pipeline.Tool{Name: name, Description: t.Description, Parameters: wire.Raw(t.Schema)}, d.Asks(&t)
			offered[name] = rt
			tools = append(tools, rt.Tool)
			if of.Name == t.Name {
				q.ToolChoice = name
			}
		}
	}
	switch {
	case of.Only == "" || len(tools) == 0:
	case of.Name == "":
		q.Tools, q.ToolChoice = nil, "required"
	default:
		q.Tools = nil
	}
	if q.ToolChoice != "none" {
		q.Tools = append(slices.Clip(q.Tools), tools...)
	}
	return offered
}

// plainName returns a name that models take.
func plainName(name string) string {
	plain := strings.Map(func(c rune) rune {
		if pipeline.ToolName(string(c)) {
			return c
		}
		return '_'
	}, name)
	return plain[:min(len(plain), 64)]
}

// remoteTool returns the tool of a server; nil if the server is not loaded, or has no such tool.
func (g *Generator) remoteTool(label, name string) *remoteTool {
	s, loaded := g.remote[label]
	if !loaded || !slices.ContainsFunc(s.Tools, func(t mcp.Tool) bool { return t.Name == name }) {
		return nil
	}
	return &remoteTool{label: label, name: name, ServerTool: pipeline.ServerTool{
		Timeout: s.Limit,
		Run: func(ctx context.Context, arguments string) (string, error) {
			return s.Server.Call(ctx, name, arguments)
		},
	}}
}

// errNotLoaded is the error of a call whose server is not loaded.
var errNotLoaded = &mcp.Error{Kind: "protocol_error", Code: "-32000", Message: "the MCP server of the tool is not connected: call the tool again when its tools are listed"}

// stepRemote runs an event through the machine of a call, and performs the effects.
func (g *Generator) stepRemote(run toolRun, e remotecall.Event, why string) (out room.List) {
	c := run.o.remote
	effects, st := called.Step(&c.state, &c.seen, e, g.Broken)
	room.LogStep(g.Log.With("item", run.o.item.ID), st)
	if g.Trace != nil {
		g.Trace(run.o.item.ID, st)
	}
	for _, f := range effects {
		switch f.(type) {
		case remotecall.Request:
			out = append(out, g.askApproval(run)...)
		case remotecall.Call:
			out = append(out, g.callRemote(run)...)
		case remotecall.Deliver:
			out = append(out, g.closeCall(run, c.output, c.err)...)
		case remotecall.Deny:
			out = append(out, g.closeCall(run, "", &mcp.Error{Kind: "tool_execution_error", Message: strings.TrimSuffix("the user has not approved the call: "+why, ": ")})...)
		case remotecall.Lose:
			g.Conversation.LoseOutcome(run.o.item)
		}
	}
	return out
}

// askApproval asks for the approval of a call.
func (g *Generator) askApproval(run toolRun) room.List {
	it := run.o.item
	o, out := g.openItem(run.r, wire.Item{
		ID: g.Env.NewID("item_"), Type: wire.ItemMCPApprovalRequest, Status: statusInProgress, ServerLabel: it.ServerLabel, Name: it.Name, Arguments: it.Arguments,
	})
	it.ApprovalRequestID, run.o.running = o.item.ID, true
	g.asked = append(g.asked, run)
	g.asked = g.asked[max(0, len(g.asked)-maxAsked):]
	return append(out, g.closeItem(run.r, o, statusCompleted)...)
}

// callRemote calls the tool of a call.
func (g *Generator) callRemote(run toolRun) (out room.List) {
	if run.r != nil {
		out.Send(&wire.ResponseMCPCallInProgress{ItemID: run.o.item.ID, OutputIndex: run.o.index})
		run.r.tools.running++
	}
	g.Conversation.BeginCall(run.o.item)
	t := run.o.remote.tool
	if t == nil {
		t = &remoteTool{ServerTool: pipeline.ServerTool{Run: func(context.Context, string) (string, error) { return "", errNotLoaded }}}
	}
	return append(out, g.startTool(&t.ServerTool, run)...)
}

// Approve answers the request for approval with that id. ok is false if no call waits for it.
func (g *Generator) Approve(id string, approve bool, reason string) (out room.List, ok bool) {
	it := g.Conversation.Asking(id)
	if it == nil {
		return nil, false
	}
	at := slices.IndexFunc(g.asked, func(run toolRun) bool { return run.o.item == it })
	var run toolRun
	if at >= 0 {
		run = g.asked[at]
		g.asked = slices.Delete(g.asked, at, at+1)
	} else {
		run = g.restored(it)
		g.stepRemote(run, remotecall.Lost{}, "") // another session made the call; a call that waits for approval goes on waiting
	}
	run.o.remote.late = run.r != nil && run.r.closed()
	run.o.remote.tool = g.remoteTool(it.ServerLabel, it.Name)
	return g.stepRemote(run, remotecall.Answer{Approve: approve}, reason), true
}

// restored returns a call that waits for approval and that another session has made.
func (g *Generator) restored(it *conversation.Item) toolRun {
	run := toolRun{o: &outputItem{item: it, done: true, remote: &remoteCall{state: remotecall.Writing{}}}}
	_, st := called.Step(&run.o.remote.state, &run.o.remote.seen, remotecall.Complete{Ask: true}, g.Broken)
	if g.Trace != nil {
		g.Trace(it.ID, st)
	}
	return run
}

// remoteEnded notes the end of a remote tool. If the operator wants that, the agent answers once nobody speaks.
func (g *Generator) remoteEnded(run toolRun) room.List {
	out := g.stepRemote(run, remotecall.Ended{}, "")
	g.answerDue = g.answerDue || g.AnswerRemote && (run.r == nil || run.o.remote.late)
	return out
}

// TakeAnswerDue reports whether a remote tool has ended, and the agent has to answer of its own accord. It reports that once.
func (g *Generator) TakeAnswerDue() (due bool) {
	due, g.answerDue = g.answerDue, false
	return due
}

// Package remote has the MCP servers of a call: it connects to those that the settings or a response name, lists their tools, and tells the room speaking which are loaded.
//
// A Remote belongs to the session's goroutine. Its goroutines post Events, which the actor gives to Handle.
package remote

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/wire"
)

// Parts are what a Remote works with. They belong to the session's goroutine, as the Remote does.
type Parts struct {
	Env          env.Env
	Log          *slog.Logger
	Settings     *conversation.Settings
	Conversation *conversation.Conversation
	Generator    *speaking.Generator
	// Principal is whose session it is: the connections count for it.
	Principal string
	// Context ends with the session; Workers are its goroutines.
	Context context.Context //nolint:containedctx // the life of the session's goroutines, not of a call
	Workers *env.Group
	// Post takes the Events, from any goroutine. It reports false when the session has ended.
	Post func(Event) bool
}

// Remote are the MCP servers of one call. See the package comment.
type Remote struct {
	Parts
	servers map[string]*server // by label
	newest  uint64
	opened  sync.Map // connections whose Listed is on its way, by the number of the list
}

// server is one MCP server: it is loading until Listed comes.
type server struct {
	definition mcp.Definition
	number     uint64 // of its list
	item       *conversation.Item
	cancel     context.CancelFunc
	loading    bool
	loaded     bool
	open       *mcp.Server // nil unless it is loaded, and where a logbook is played
	tools      []mcp.Tool
	limit      time.Duration
	own        bool // a response has named it: a change of the settings leaves it
}

// New returns a Remote without servers.
func New(p Parts) *Remote { return &Remote{Parts: p, servers: map[string]*server{}} }

// Event is something that a goroutine has posted: Listed.
//
//sumtype:decl
type Event interface{ event() }

// Listed: the list with that number is there, or Err says why not. The connection waits in Remote.opened.
type Listed struct {
	Label  string
	Number uint64
	Tools  []mcp.Tool
	Limit  time.Duration // of a call
	Err    error
}

func (Listed) event() {}

// Begin begins to list the servers of the settings. A session that goes on with a call first ends the lists that the session before has not ended.
func (r *Remote) Begin() (out room.List) {
	for _, it := range r.Conversation.Lists() {
		out = append(out, r.failed(it, errors.New("the server that listed the tools has ended"))...)
	}
	return append(out, r.Configure()...)
}

// Configure follows the settings: it lists the servers that are new or changed, and leaves those that are not named any more.
func (r *Remote) Configure() (out room.List) {
	wanted := r.Settings.Remote(nil).Servers
	for _, label := range slices.Sorted(maps.Keys(r.servers)) {
		if !r.servers[label].own && !slices.ContainsFunc(wanted, func(d mcp.Definition) bool { return d.Label == label }) {
			out = append(out, r.leave(label)...)
		}
	}
	return append(out, r.want(wanted, false)...)
}

// Respond follows the servers of a response.
func (r *Remote) Respond(p *wire.ResponseParams) room.List {
	if !p.HasTools {
		return nil
	}
	return r.want(r.Settings.Remote(p).Servers, true)
}

func (r *Remote) want(servers []mcp.Definition, own bool) (out room.List) {
	for _, d := range servers {
		s := r.servers[d.Label]
		if s != nil && s.definition.Same(&d) {
			s.own = s.own && own
			continue
		}
		if s != nil {
			out = append(out, r.leave(d.Label)...)
		} else if own {
			out = append(out, r.makeRoom()...)
		}
		out = append(out, r.list(d, own)...)
	}
	return out
}

// makeRoom leaves the oldest server of responses, if there are as many as may be.
func (r *Remote) makeRoom() room.List {
	oldest, n := "", 0
	for label, s := range r.servers {
		if s.own {
			n++
			if oldest == "" || s.number < r.servers[oldest].number {
				oldest = label
			}
		}
	}
	if n < mcp.MaxServers {
		return nil
	}
	return r.leave(oldest)
}

// list begins to list the tools of a server.
func (r *Remote) list(d mcp.Definition, own bool) (out room.List) {
	r.newest++
	s := &server{definition: d, number: r.newest, loading: true, own: own}
	it, events := r.Conversation.Begin(wire.Item{
		ID: r.Env.NewID("item_"), Type: wire.ItemMCPListTools, Status: "in_progress", ServerLabel: d.Label, Tools: wire.Raw("[]"),
	})
	s.item = it
	r.servers[d.Label] = s
	out.Send(&wire.MCPListToolsInProgress{ItemID: it.ID})
	out.SendAll(events)
	ctx, cancel := context.WithCancel(r.Context)
	s.cancel = cancel
	number, from := s.number, r.Settings.Servers
	r.Workers.Go(func() {
		open, tools, err := from.Open(ctx, r.Principal, d)
		if open != nil {
			r.opened.Store(number, open)
		}
		if !r.Post(Listed{d.Label, number, tools, open.Limit(), err}) {
			r.take(number).Close()
		}
	})
	return out
}

// leave forgets a server.
func (r *Remote) leave(label string) (out room.List) {
	s := r.servers[label]
	delete(r.servers, label)
	s.cancel()
	s.open.Close()
	r.serve()
	if s.loading {
		return r.failed(s.item, errors.New("the settings do not name the server any more"))
	}
	return nil
}

// Handle handles an Event.
func (r *Remote) Handle(e Event) (out room.List) {
	l := e.(Listed) // the only Event
	s, open := r.servers[l.Label], r.take(l.Number)
	if s == nil || s.number != l.Number {
		open.Close()
		return nil
	}
	s.loading, s.loaded, s.open, s.tools, s.limit = false, l.Err == nil, open, l.Tools, l.Limit
	if l.Err != nil {
		room.LogFailure(r.Log, "the tools of an MCP server cannot be listed", l.Err, "server", l.Label)
		return r.failed(s.item, l.Err)
	}
	r.serve()
	out.SendAll(r.Conversation.EndList(s.item, listOf(s), nil))
	out.Send(&wire.MCPListToolsCompleted{ItemID: s.item.ID})
	return out
}

// take returns the connection of a list; nil if it has failed.
func (r *Remote) take(number uint64) *mcp.Server {
	open, _ := r.opened.LoadAndDelete(number)
	s, _ := open.(*mcp.Server)
	return s
}

// failed ends a list without tools.
func (r *Remote) failed(it *conversation.Item, why error) (out room.List) {
	var known *mcp.Error
	if !errors.As(why, &known) {
		known = &mcp.Error{Kind: "protocol_error", Code: "-32000", Message: why.Error()}
	}
	out.SendAll(r.Conversation.EndList(it, nil, known.JSON()))
	out.Send(&wire.MCPListToolsFailed{ItemID: it.ID})
	return out
}

// listOf returns the tools of a server as the item has them: those that the session may use.
func listOf(s *server) wire.Raw {
	type tool struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"input_schema"`
		Annotations json.RawMessage `json:"annotations,omitempty"`
	}
	all := []tool{}
	for _, t := range s.tools {
		if s.definition.Allows(&t) {
			all = append(all, tool{t.Name, t.Description, t.Schema, t.Annotations})
		}
	}
	text, _ := json.Marshal(all) // strings and valid JSON always encode
	return text
}

// serve tells the room speaking which servers are loaded.
func (r *Remote) serve() {
	loaded := map[string]speaking.RemoteServer{}
	for label, s := range r.servers {
		if s.loaded {
			loaded[label] = speaking.RemoteServer{Server: s.open, Tools: s.tools, Limit: s.limit}
		}
	}
	r.Generator.Serve(loaded)
}

// Close closes all connections, and does not wait for it. The session has ended.
func (r *Remote) Close() {
	for _, s := range r.servers {
		s.cancel()
		s.open.Close()
	}
	r.opened.Range(func(number, _ any) bool {
		r.take(number.(uint64)).Close() // every key is one
		return true
	})
}

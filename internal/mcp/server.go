package mcp

// This file has the connection to one MCP server, over the official SDK, which it bounds in time and size.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/antiphon-rt/antiphon/wire"
)

// Limits of the list of one server, and of one call.
const (
	maxTools     = 128
	maxPages     = 16
	maxList      = 256 << 10 // bytes of all tools together
	maxArguments = 64 << 10
	maxMessage   = 1 << 10 // bytes of an error's text
)

// The kinds of errors of the protocol.
const (
	kindProtocol = "protocol_error"
	kindTool     = "tool_execution_error"
	kindHTTP     = "http_error"
)

// codeClosed is the code of a protocol error that no JSON-RPC error has caused.
const codeClosed = "-32000"

// Error is an error of an MCP server as an item of type mcp_call has it.
type Error struct {
	Kind    string
	Code    string // a number, of an HTTP or a protocol error
	Message string
}

func (e *Error) Error() string { return e.Message }

// JSON returns the error as the item has it.
func (e *Error) JSON() wire.Raw {
	o := map[string]any{"type": e.Kind, "message": e.Message}
	if e.Kind != kindTool {
		o["code"] = json.Number(e.Code)
	}
	text, _ := json.Marshal(o) // strings and numbers always encode
	return text
}

// Tool is a tool of a server.
type Tool struct {
	Name, Description string
	Schema            json.RawMessage // of the arguments: a JSON object
	Annotations       json.RawMessage // nil for none
	ReadOnly          bool
}

// Server is the connection to one MCP server. It is safe for concurrent use.
type Server struct {
	limit   time.Duration
	client  *client // nil over stdio
	secrets *strings.Replacer
	cancel  context.CancelFunc // cuts the connection
	release func()
	once    sync.Once
	ready   chan struct{}      // closed when session is set, or when there will be none
	session *sdk.ClientSession // nil for none
}

var errTime = errors.New("it took too long")

// open connects and lists.
func (s *Server) open(ctx context.Context, n Named, allow func(netip.Addr) bool) ([]Tool, error) {
	var hide []string
	for _, value := range n.Headers {
		for _, v := range append(strings.Fields(value), value) {
			if len(v) >= 8 { // a shorter one is a word
				hide = append(hide, v, "[secret]")
			}
		}
	}
	s.secrets = strings.NewReplacer(hide...)
	life, cancel := context.WithCancel(context.Background()) // of the connection: it ends with Close
	s.cancel, s.ready = cancel, make(chan struct{})
	var t sdk.Transport
	if n.Transport != nil {
		t = n.Transport()
	} else if n.URL != "" {
		t, s.client = overHTTP(life, n, allow)
	} else {
		var err error
		if t, err = overStdio(life, n); err != nil {
			close(s.ready)
			return nil, &Error{Kind: kindProtocol, Code: codeClosed, Message: "the program of the server cannot be started"}
		}
	}
	var tools []Tool
	err := within(ctx, func() error {
		joined, stop := context.WithCancel(ctx)
		defer stop()
		defer context.AfterFunc(life, stop)()
		session, err := sdk.NewClient(&sdk.Implementation{Name: "antiphon", Version: "1"}, &sdk.ClientOptions{
			Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
		}).Connect(joined, t, nil)
		s.session = session
		close(s.ready)
		if err == nil {
			tools, err = s.list(joined)
		}
		return err
	})
	if err != nil {
		return nil, s.failure(ctx, err)
	}
	return tools, nil
}

// list reads the pages of the list.
func (s *Server) list(ctx context.Context) (all []Tool, err error) {
	size, cursor := 0, ""
	for range maxPages {
		page, err := s.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		for _, t := range page.Tools {
			tool := Tool{Name: t.Name, Description: s.secrets.Replace(t.Description), ReadOnly: t.Annotations != nil && t.Annotations.ReadOnlyHint}
			tool.Schema, err = json.Marshal(t.InputSchema)
			if err == nil && t.Annotations != nil {
				tool.Annotations, err = json.Marshal(t.Annotations)
			}
			if _, object := t.InputSchema.(map[string]any); err != nil || !object || t.Name == "" || len(t.Name) > 256 || !wire.Raw(tool.Schema).Valid() {
				return nil, &Error{Kind: kindProtocol, Code: codeClosed, Message: "a tool of the server has no name, or its schema is no JSON object"}
			}
			tool.Schema = json.RawMessage(s.secrets.Replace(string(tool.Schema)))
			if size += len(t.Name) + len(tool.Description) + len(tool.Schema) + len(tool.Annotations); size > maxList || len(all) == maxTools {
				return nil, &Error{Kind: kindProtocol, Code: codeClosed, Message: fmt.Sprintf("the server has more than %d tools, or they take more than %d bytes", maxTools, maxList)}
			}
			if !slices.ContainsFunc(all, func(o Tool) bool { return o.Name == tool.Name }) {
				all = append(all, tool)
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			return all, nil
		}
	}
	return nil, &Error{Kind: kindProtocol, Code: codeClosed, Message: fmt.Sprintf("the list of the server has more than %d pages", maxPages)}
}

// Limit returns how long a call may take; 0 for nil.
func (s *Server) Limit() time.Duration {
	if s == nil {
		return 0
	}
	return s.limit
}

// Call calls a tool. It returns at the latest when ctx ends. The error is an *Error.
func (s *Server) Call(ctx context.Context, name, arguments string) (output string, err error) {
	if s == nil || len(arguments) > maxArguments || !wire.Raw(arguments).Valid() || strings.TrimSpace(arguments)[0] != '{' {
		return "", &Error{Kind: kindTool, Message: fmt.Sprintf("the arguments are not a JSON object of at most %d bytes", maxArguments)}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.limit, errTime)
	defer cancel()
	said := make(chan *sdk.CallToolResult, 1)
	err = within(ctx, func() error {
		result, err := s.session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(arguments)})
		said <- result
		return err
	})
	if err != nil {
		return "", s.failure(ctx, err)
	}
	result := <-said
	output = s.secrets.Replace(textOf(result))
	if result.IsError {
		return "", &Error{Kind: kindTool, Message: short(output)}
	}
	return output, nil
}

// textOf returns what the model reads of a result. Of content that is no text it reads the type.
func textOf(r *sdk.CallToolResult) string {
	var lines []string
	for _, c := range r.Content {
		switch c := c.(type) {
		case *sdk.TextContent:
			lines = append(lines, c.Text)
		case *sdk.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				lines = append(lines, c.Resource.Text)
			}
		case *sdk.ResourceLink:
			lines = append(lines, c.URI)
		default:
			lines = append(lines, strings.TrimPrefix(fmt.Sprintf("(content of type %T)", c), "*mcp."))
		}
	}
	if len(lines) == 0 && r.StructuredContent != nil {
		text, _ := json.Marshal(r.StructuredContent) // it came as JSON
		lines = append(lines, string(text))
	}
	return strings.Join(lines, "\n")
}

// failure returns an error of the SDK as an *Error, without what only the server may know: the URL, the headers, addresses behind a name.
func (s *Server) failure(ctx context.Context, err error) *Error {
	var own *Error
	var rpc *jsonrpc.Error
	switch {
	case errors.As(err, &own):
		return own
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errTime):
		return &Error{Kind: kindTool, Message: "the MCP server took too long"}
	case ctx.Err() != nil:
		return &Error{Kind: kindTool, Message: "the session has ended"}
	}
	for _, known := range []error{errAddress, errRedirect, errSize} {
		if errors.Is(err, known) || strings.Contains(err.Error(), known.Error()) { // the SDK does not wrap every error
			return &Error{Kind: kindProtocol, Code: codeClosed, Message: known.Error()}
		}
	}
	if s.client != nil && s.client.status.Load() != 0 {
		code := strconv.FormatInt(s.client.status.Swap(0), 10)
		return &Error{Kind: kindHTTP, Code: code, Message: "the MCP server has answered with the HTTP status " + code}
	}
	if errors.As(err, &rpc) {
		return &Error{Kind: kindProtocol, Code: strconv.FormatInt(rpc.Code, 10), Message: short(s.secrets.Replace(rpc.Message))}
	}
	return &Error{Kind: kindProtocol, Code: codeClosed, Message: "the connection to the MCP server has failed, or it does not speak MCP"}
}

func short(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), maxMessage)], "\uFFFD")
}

// Close ends the connection, if s is not nil. It does not wait: the SDK closes the session in closeTime, or the connection is cut. The principal gets its share back when nothing is left of it.
func (s *Server) Close() {
	if s == nil {
		return
	}
	s.once.Do(func() {
		if s.cancel == nil {
			s.release()
			return
		}
		cut := time.AfterFunc(closeTime, s.cut)
		go func() {
			defer s.release()
			defer s.cut()
			defer cut.Stop()
			<-s.ready
			if s.session != nil {
				_ = s.session.Close() // nobody waits for it
			}
		}()
	})
}

// cut ends what Close has not ended.
func (s *Server) cut() {
	s.cancel()
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
}

// within runs f on a goroutine of its own, and returns its error, or that of ctx if ctx ends before.
func within(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

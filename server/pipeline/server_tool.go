package pipeline

// A tool of the server, and the set of all its tools.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// DefaultToolTimeout is how long a ServerTool without a Timeout may run.
const DefaultToolTimeout = 30 * time.Second

const defaultAfter = 1500 * time.Millisecond

// Limits of ServerTools.
const (
	maxTools       = 128
	MaxToolTimeout = 10 * time.Minute
	MaxToolOutput  = 64 << 10 // the bytes of an output that the conversation keeps
)

// ServerTool is one function that the server runs.
type ServerTool struct {
	Tool // its name, its description and its parameters, as the model reads them
	// Run runs the tool and returns its output, which the model reads. arguments is a JSON object that the model wrote: Run checks it. The client
	// and the model read the text of an error. An end of the response, such as an interruption of the user, does not cancel ctx: the conversation
	// gets the true outcome. Timeout and the end of the session do. Several goroutines may call Run at a time.
	Run func(ctx context.Context, arguments string) (output string, err error)
	// Timeout is how long Run may take; 0 takes DefaultToolTimeout. A Run that does not return at its end is abandoned.
	Timeout time.Duration
	// Repeatable: if the process has ended before Run has returned, the server that continues the session calls Run again. Each call then has the same Idempotency-Key (WithIdempotencyKey), which no other
	// call has. Otherwise the outcome of such a call is unknown.
	Repeatable bool
}

// Limit returns how long the tool may run.
func (t *ServerTool) Limit() time.Duration {
	if t.Timeout == 0 {
		return DefaultToolTimeout
	}
	return t.Timeout
}

// ServerTools are the tools of a server. The zero value has none. Nobody may change ServerTools that are in use.
type ServerTools struct {
	Tools []ServerTool
	// Announcement is a short sentence, such as "One moment, please." The agent says it when a tool takes longer than After, once for a
	// response, and not if the model has said something itself. Empty: the agent says nothing.
	Announcement string
	After        time.Duration // 0 takes 1.5 s
}

// Find returns the tool with that name; nil for none.
func (s *ServerTools) Find(name string) *ServerTool {
	for i := range s.Tools {
		if s.Tools[i].Name == name {
			return &s.Tools[i]
		}
	}
	return nil
}

// Patience returns how long a tool may run before the announcement.
func (s *ServerTools) Patience() time.Duration {
	if s.After == 0 {
		return defaultAfter
	}
	return s.After
}

// names are the names that models and their servers take.
var names = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// ToolName reports whether models and their servers take a name of a tool.
func ToolName(name string) bool { return names.MatchString(name) }

// Check returns an error that says what is wrong in the set.
func (s *ServerTools) Check() error {
	if len(s.Tools) > maxTools {
		return fmt.Errorf("there are %d tools: at most %d are possible", len(s.Tools), maxTools)
	}
	if s.After < 0 {
		return errors.New("the time before an announcement is negative: give 0 for the default")
	}
	for i, t := range s.Tools {
		switch {
		case !names.MatchString(t.Name):
			return fmt.Errorf("tool %q: want a name of 1 to 64 letters, digits, _ or -", t.Name)
		case s.Find(t.Name) != &s.Tools[i]:
			return fmt.Errorf("tool %s: there are two tools of this name: give one of them another name", t.Name)
		case t.Run == nil:
			return fmt.Errorf("tool %s: Run is nil: give the function that the server runs", t.Name)
		case t.Timeout < 0 || t.Timeout > MaxToolTimeout:
			return fmt.Errorf("tool %s: the limit is %v: want at most %v, or 0 for %v", t.Name, t.Timeout, MaxToolTimeout, DefaultToolTimeout)
		case len(t.Parameters) > 0 && !isObject(t.Parameters):
			return fmt.Errorf("tool %s: the parameters are not a JSON object: give the JSON Schema of the arguments", t.Name)
		}
	}
	return nil
}

func isObject(text []byte) bool {
	var fields map[string]json.RawMessage
	return json.Unmarshal(text, &fields) == nil && fields != nil
}

// keyOfCall is the key of a call's idempotency key in its context.
type keyOfCall struct{}

// WithIdempotencyKey returns a context for a call that may be sent again: each time the request has this header Idempotency-Key.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOfCall{}, key)
}

// IdempotencyKey returns the key of WithIdempotencyKey; "" for none.
func IdempotencyKey(ctx context.Context) string {
	key, _ := ctx.Value(keyOfCall{}).(string)
	return key
}

package room

// The kinds of failure: one that is reported to the client, and a stage of the pipeline that panics.

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Types of an error event.
const (
	TypeInvalid = "invalid_request_error"
	TypeServer  = "server_error"
)

// CodeMoved is the code of what has ended because another session goes on with the call.
const CodeMoved = "session_moved"

// Failure is an error event before it has the id of the client event that caused it. An empty Type is TypeInvalid.
type Failure struct {
	Type, Code, Message, Param string
}

// Refuse returns the Failure for a field of a client event, "" for none.
func Refuse(code, param, message string) *Failure {
	return &Failure{Code: code, Param: param, Message: message}
}

func (f *Failure) Error() string { return f.Message }

// Refused returns the Failure of an event or a value that wire or a check has refused.
func Refused(bad *wire.DecodeError) *Failure {
	return &Failure{Code: bad.Code, Message: bad.Message, Param: bad.Param}
}

// Event returns the error event for a failure. cause is the event_id of the client event that led to it, "" for none.
func (f *Failure) Event(cause string) *wire.ErrorEvent {
	e := wire.Error{Type: f.Type, Code: f.Code, Message: f.Message}
	if e.Type == "" {
		e.Type = TypeInvalid
	}
	if f.Param != "" {
		e.Param = &f.Param
	}
	if cause != "" {
		e.EventID = &cause
	}
	return &wire.ErrorEvent{Error: e}
}

// places are the addresses of servers in the errors of the network.
var places = regexp.MustCompile(`[a-z]+://[^\s"]+|\b(?:dial|read|write|lookup) \S+(?: \S+)?(?: on \S+)?: |\b[\w.-]+:\d{2,5}\b|\[[0-9a-f:]+\]:\d+`)

// Public returns the text of an error, or of a state, for clients: without the addresses of the servers behind this one. The log has them.
func Public(text string) string { return places.ReplaceAllString(text, "its server: ") }

// Panicked is the error of a stage that panicked.
type Panicked struct {
	Value any
	Stack string
}

func (p *Panicked) Error() string { return fmt.Sprintf("it panicked: %v", p.Value) }

// Contain runs a call into a stage of the pipeline. Where the stage panics, Contain returns a *pipeline.StageError that holds a *Panicked, and the session goes on.
func Contain(stage string, run func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &pipeline.StageError{Stage: stage, Err: &Panicked{v, string(debug.Stack())}}
		}
	}()
	return run()
}

// Stack returns the stack of the stage that panicked with err, "" where none did.
func Stack(err error) string {
	var p *Panicked
	if errors.As(err, &p) {
		return p.Stack
	}
	return ""
}

// LogFailure logs that a stage of the pipeline has failed with err; about are further attributes. A panic is an error of ours and is logged with its stack.
func LogFailure(log *slog.Logger, what string, err error, about ...any) {
	about = append(about, "err", err)
	if stack := Stack(err); stack != "" {
		log.Error(what, append(about, "stack", stack)...)
		return
	}
	log.Warn(what, about...)
}

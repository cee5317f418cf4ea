package conversation

// Locks: the fields of the session object that a client secret fixes.

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Locks are paths of the session object that a client may not change, such as "instructions" or "audio.output.voice"; "*" is all of them. A path locks everything below it. A
// response may not ask for another value of a locked field. Where "instructions" are locked, a client can neither choose a prompt nor write system messages.
type Locks []string

// paths returns the locks, and "prompt" where "instructions" are locked.
func (l Locks) paths() []string {
	if !slices.Contains(l, "instructions") {
		return l
	}
	return append(slices.Clip(l), "prompt") // a prompt's text is used as the instructions
}

// CodeLocked is the code of an error that refuses to change a locked field.
const CodeLocked = "session_locked"

// ParseLocks checks that each path names a field of the session object. Its error names the first that does not.
func ParseLocks(paths []string) (Locks, error) {
	for _, p := range paths {
		if p != "*" && !known(p) {
			return nil, fmt.Errorf("%q is no field of a session: want a path such as instructions, tools or audio.output.voice, or * for all", p)
		}
	}
	return Locks(paths), nil
}

// known reports whether a path names a field of the session object, with one or the other kind of turn detection: each kind has fields that the other one lacks.
func known(path string) bool {
	server, semantic := wire.DefaultSession(), wire.DefaultSession()
	semantic.Audio.Input.TurnDetection = &wire.TurnDetection{Type: wire.SemanticVAD, Eagerness: "auto"}
	for _, set := range []*wire.Session{&server, &semantic} {
		if _, ok := at(Object(set), path); ok {
			return true
		}
	}
	return false
}

// Check compares a session before and after a change that a client asks for. Its error is a *wire.DecodeError that names
// the first locked field that differs. Setting a field to the value that it has is no change. Locked tools keep their secrets.
func (l Locks) Check(before, after *wire.Session) error {
	if len(l) == 0 {
		return nil
	}
	was, is := Object(before), Object(after)
	for _, p := range l.paths() {
		old, had := at(was, p)
		now, has := at(is, p)
		if had != has || !bytes.Equal(old, now) {
			return locked("session", p)
		}
	}
	if l.cover("tools") {
		after.Tools = before.Tools // the headers of an MCP server are no part of the object
	}
	return nil
}

// response refuses a response.create that asks for another value of a locked field.
func (l Locks) response(p *wire.ResponseParams) error {
	for _, own := range []struct {
		path string
		set  bool
	}{
		{"instructions", p.Instructions != nil},
		{"output_modalities", p.OutputModalities != nil},
		{"audio.output.voice", p.Audio != nil && p.Audio.Voice != ""},
		{"audio.output.format", p.Audio != nil && p.Audio.Format.Type != ""},
		{"tools", p.HasTools},
		{"tool_choice", p.ToolChoice != nil},
		{"parallel_tool_calls", p.ParallelToolCalls != nil},
		{"max_output_tokens", p.MaxOutputTokens != nil},
		{"prompt", p.Prompt != nil},
	} {
		if own.set && l.cover(own.path) {
			return locked("response", own.path)
		}
	}
	for i := range p.Input {
		if err := l.item(fmt.Sprintf("response.input[%d]", i), &p.Input[i]); err != nil {
			return err
		}
	}
	return nil
}

// item refuses a system message where the instructions are locked, since a model reads both alike. param is the item's field in the event.
func (l Locks) item(param string, w *wire.Item) error {
	if w.Type != wire.ItemMessage || w.Role != pipeline.RoleSystem || !l.cover("instructions") {
		return nil
	}
	return &wire.DecodeError{
		Code: CodeLocked, Param: param + ".role",
		Message: "this session was made with a client secret that fixes instructions, and a system message would add to them: say it as the user, or leave it out",
	}
}

// cover reports whether path, a field above it or a field below it is locked.
func (l Locks) cover(path string) bool {
	for _, p := range l.paths() {
		if p == "*" || p == path || strings.HasPrefix(path, p+".") || strings.HasPrefix(p, path+".") {
			return true
		}
	}
	return false
}

// locked returns the error for the locked field path of the object of: "session" or "response".
func locked(of, path string) *wire.DecodeError {
	if path == "*" {
		return &wire.DecodeError{Code: CodeLocked, Param: of, Message: "this session was made with a client secret that allows no changes: leave it as it is"}
	}
	return &wire.DecodeError{
		Code: CodeLocked, Param: of + "." + path,
		Message: "this session was made with a client secret that fixes " + path + ": leave it out",
	}
}

// Object returns the JSON object that the protocol writes for a session.
func Object(s *wire.Session) wire.Raw { return wire.AppendSession(nil, s) }

// at returns the value at a path of a JSON object. The path "*" is the whole object.
func at(text wire.Raw, path string) (wire.Raw, bool) {
	if path == "*" {
		return text, true
	}
	for name := range strings.SplitSeq(path, ".") {
		var ok bool
		if text, ok = text.Field(name); !ok {
			return nil, false
		}
	}
	return text, true
}

package llm

// The tool calls of an answer: merges the pieces in which servers send them.

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxCalls is the most tool calls of one answer.
const maxCalls = 64

// callPiece is one piece of a tool call, as a server sends it. Every field may be missing.
type callPiece struct {
	index     int // place of the call in the answer; -1: the server does not say it
	id        string
	name      string
	arguments string // the next piece of the JSON text, or all of it
}

// openCall is a tool call whose pieces arrive.
type openCall struct {
	index     int // the server's; -1: unknown
	id, name  string
	arguments strings.Builder
	extent    extent // of arguments
	checked   bool   // valid is known, because the arguments have ended
	valid     bool
	told      bool // a ToolCallDelta went out: the name cannot change any more
}

// calls merges pieces to tool calls. Servers differ: they send an index or none, the same index for each call, the id at once, late or
// never, the name in each piece, and the arguments in pieces or at once as an object.
type calls struct {
	emit func(pipeline.ModelEvent) error
	open []*openCall
}

func (c *calls) add(p callPiece) error {
	i := c.find(p)
	if i < 0 {
		if len(c.open) == maxCalls {
			return fmt.Errorf("calls more than %d tools in one answer", maxCalls)
		}
		i = len(c.open)
		c.open = append(c.open, &openCall{index: p.index})
	}
	o := c.open[i]
	if o.id == "" {
		o.id = p.id
	}
	if !o.told && p.name != o.name {
		o.name += p.name
	}
	if p.arguments == o.arguments.String() && o.complete() {
		p.arguments = "" // the server repeats the call
	}
	o.extent.add(p.arguments)
	if o.arguments.WriteString(p.arguments); o.name == "" || o.arguments.Len() == 0 {
		return nil
	}
	next := p.arguments
	if !o.told {
		next = o.arguments.String()
	}
	o.told = true
	if next == "" {
		return nil
	}
	return c.emit(pipeline.ToolCallDelta{Index: i, Name: o.name, Arguments: next})
}

// find returns the position of the call to which a piece belongs; -1 for a new call.
func (c *calls) find(p callPiece) int {
	for i := len(c.open) - 1; i >= 0; i-- {
		o := c.open[i]
		switch {
		case p.id != "" && o.id == p.id:
			return i
		case p.id != "" && o.id != "": // another call, even with the same index
		case p.index >= 0 && o.index == p.index && !o.followed(p):
			return i
		case p.index < 0 && i == len(c.open)-1 && !o.endedBy(p):
			return i
		}
	}
	return -1
}

// complete reports whether all arguments are there. It is asked for each piece, so that it reads long arguments once, where their object ends.
func (o *openCall) complete() bool {
	const short = 64 // bytes that cost nothing to read again
	if o.arguments.Len() <= short {
		return o.arguments.Len() > 0 && json.Valid([]byte(o.arguments.String()))
	}
	if o.extent.ended && !o.extent.beyond && !o.checked {
		o.checked, o.valid = true, json.Valid([]byte(o.arguments.String()))
	}
	return o.extent.ended && !o.extent.beyond && o.valid
}

// extent is how far a JSON object, array or string has come that grows piece by piece. It does not check the rest of the syntax.
type extent struct {
	depth           int
	quoted, escaped bool // inside a string, and after a backslash in it
	ended           bool // the whole has ended
	beyond          bool // something other than spaces comes after its end
}

func (x *extent) add(piece string) {
	for i := range len(piece) {
		switch c := piece[i]; {
		case x.ended:
			x.beyond = x.beyond || strings.IndexByte(" \t\r\n", c) < 0
		case x.escaped:
			x.escaped = false
		case c == '\\':
			x.escaped = x.quoted
		case c == '"':
			x.quoted = !x.quoted
			x.ended = !x.quoted && x.depth == 0
		case x.quoted:
		case c == '{' || c == '[':
			x.depth++
		case c == '}' || c == ']':
			x.depth--
			x.ended = x.depth <= 0
		}
	}
}

// followed reports whether a piece with the index of o is a new call nevertheless: o is complete, and so is the piece.
func (o *openCall) followed(p callPiece) bool {
	return p.name != "" && o.complete() && json.Valid([]byte(p.arguments)) && p.arguments != o.arguments.String()
}

// endedBy reports whether a piece without index begins a new call after o.
func (o *openCall) endedBy(p callPiece) bool {
	return p.name != "" && o.name != "" && (o.complete() || o.arguments.Len() == 0 && p.name != o.name)
}

// end ends all calls. It returns an error if the arguments of one are no JSON object.
func (c *calls) end() error {
	for i, o := range c.open {
		if o.name == "" {
			return errors.New("calls a tool without a name")
		}
		arguments, ok := object(o.arguments.String())
		if !ok {
			return fmt.Errorf("calls the tool %q with arguments that are no JSON object", o.name)
		}
		if err := c.emit(pipeline.ToolCallDone{Index: i, Name: o.name, Arguments: arguments}); err != nil {
			return err
		}
	}
	return nil
}

// object returns arguments as a JSON object. Some servers put the object into a string.
func object(arguments string) (string, bool) {
	if strings.TrimSpace(arguments) == "" {
		return "{}", true
	}
	var inner string
	if json.Unmarshal([]byte(arguments), &inner) == nil {
		arguments = inner
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &fields) != nil {
		return "", false
	}
	if fields == nil { // null
		return "{}", true
	}
	return arguments, true
}

// missing returns what is left of the arguments of the call with this index, of which the server has sent all now.
func (c *calls) missing(index int, all string) string {
	for _, o := range c.open {
		if o.index == index {
			rest, _ := strings.CutPrefix(all, o.arguments.String())
			if o.complete() {
				return ""
			}
			return rest
		}
	}
	return all
}

package conform

// Writes the effects of a session as the specifications do: with the role of a response or turn in place of its number.

import (
	"fmt"
	"reflect"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// said is an effect of a session as the specs write it: with the role of an identifier in the state before the event, in place of its number.
type said struct{ text string }

func (f said) Name() string { return f.text }

// Text is the text in a spec's fx.
func (f said) Text() string { return f.text }

// heardPosition is the position that a client reports.
var heardPosition = playout.Position{Item: 1, MS: 3}

// hereNow returns the position of the response when an event comes. It differs from the position at which a response is held.
func hereNow(s session.State) playout.Position {
	if _, held := s.Playout.(playout.Held); held {
		return playout.Position{Item: 1, MS: 2}
	}
	return playout.Position{Item: 1, MS: 1}
}

// say returns an effect of an event that came in s, as the specs write it.
func say(s session.State, f session.Effect) said {
	return sayWithout(s, f, func(any) bool { return false })
}

// sayWithout is say without the fields for which leave returns true.
func sayWithout(s session.State, f session.Effect, leave func(any) bool) said {
	out := f.Name()
	r := reflect.ValueOf(f)
	for i := range r.NumField() {
		key, field := coordtest.Snake(r.Type().Field(i).Name), r.Field(i)
		if leave(field.Interface()) {
			continue
		}
		switch value := field.Interface().(type) {
		case machine.Response:
			out += named(key, replyName(s, value))
		case machine.Turn:
			out += named(key, turnName(s, value))
		case machine.Request:
			out += named(key, requestName(s, value))
		case playout.Position:
			out += named(key, positionName(s, value))
		case bool:
			if value {
				out += " " + key
			}
		default:
			if key == "gen" {
				out += named(key, genName(field.Uint(), genIn(s, f)))
			} else if !field.IsZero() {
				out += named(key, fmt.Sprint(value))
			}
		}
	}
	return said{out}
}

func named(key, name string) string {
	if name == "" {
		return ""
	}
	return " " + key + "=" + name
}

// replyName returns the role of a response in s, or "" if it has none.
func replyName(s session.State, r machine.Response) string {
	switch {
	case r == 0:
		return ""
	case r > s.LastResponse:
		return "new"
	case r == response.Live(s.Response):
		return "live"
	case r == body(s.Response):
		return "old"
	case r == playout.Sounding(s.Playout):
		return "past"
	case r == s.Queued[0]:
		return "next"
	case r == heardLast(s), r == awaitedOf(s.Playout):
		return "past"
	}
	for i, q := range s.Queued {
		if q == r {
			return fmt.Sprint("next", i+1)
		}
	}
	return "gone"
}

// turnName returns the role of a turn in s, or "" if it has none.
func turnName(s session.State, t machine.Turn) string {
	switch {
	case t == 0:
		return ""
	case t > s.LastTurn:
		return "new"
	case t == turn.Open(s.Turn):
		return "open"
	case t == transcription.TurnOf(s.Final):
		return "final"
	case t == transcription.TurnOf(s.Older):
		return "older"
	}
	return "gone"
}

// requestName returns the role of a request: the client's request, the turn that is to get a response, or the request of the newest response.
func requestName(s session.State, r machine.Request) string {
	switch {
	case r == machine.Request{}:
		return ""
	case r == s.Owed:
		return "owed"
	case r.Client != 0:
		return "client"
	case r.Turn == s.Waiting, r.Turn > s.LastTurn:
		return "turn"
	}
	return "another turn"
}

func positionName(s session.State, m playout.Position) string {
	held, _ := s.Playout.(playout.Held)
	cut, _ := s.Playout.(playout.Cut)
	switch m {
	case playout.Position{}:
		return "start"
	case heardPosition:
		return "heard"
	case cut.At:
		return "cut"
	case hereNow(s):
		return "now"
	case held.At:
		return "held"
	}
	return "elsewhere"
}

// genIn returns the generation in s that an effect of f's machine counts from.
func genIn(s session.State, f session.Effect) uint32 {
	switch f.(type) {
	case turn.Effect:
		return genOf(s.Turn)
	case playout.Effect:
		return genOf(s.Playout)
	case conn.Effect:
		return genOf(s.Conn)
	}
	return 0
}

// genName returns the name of a generation, relative to the generation that the machine had before the event.
func genName(gen uint64, was uint32) string {
	switch gen {
	case uint64(was):
		return "now"
	case uint64(was) + 1:
		return "new"
	}
	return fmt.Sprint(gen)
}

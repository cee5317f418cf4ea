package conform

// The adapter of view.fizz: compares its client, and what its server says, with coord/view. What the server does is the spec's: the tests of
// coord/session compare what a client learns with a whole session.

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

func viewMachine() viewClient { return viewClient{next: view.Next} }

// viewClient compares view.fizz with the model. In a test, next may be a table with a fault.
type viewClient struct {
	next func(view.State, view.Event) view.State
	// hear, drop and predicted are the model's where they are not set.
	hear      func(view.Model, view.Told, view.Seq) view.Model
	predicted func(view.Model) view.State
}

// viewEnds is the code at both ends. server is what the server has said so far. inputs are those of the client, one on each line.
type viewEnds struct {
	server view.State
	begun  bool
	cand   int
	model  view.Model
	inputs string
}

// viewForeseen is FORESEEN of specs/view.fizz.
const viewForeseen = 9

// viewVars has the variables of the spec that the code does not have.
type viewVars struct {
	S struct {
		Begun bool
		Cand  int
	}
	Down []string
}

func (viewClient) Name() string { return "view" }

// Compare walks the spec's graph and the two ends together.
func (a viewClient) Compare(g *graph.Graph) (Figures, error) {
	settings := view.Opened{Interrupts: true, Answers: true}
	return Part[viewEnds, said]{
		Spec:   "view",
		Starts: []viewEnds{{server: view.Next(view.Closed{}, settings), model: view.New().Hear(settings, 0)}},
		Step: func(w viewEnds, step move) (viewEnds, []said, string) {
			next, out := a.step(w, step)
			return next, out, ""
		},
		Vars:   a.vars,
		Ghosts: []string{"up", "down", "schedule"},
	}.Compare(g)
}

func (a viewClient) vars(w viewEnds) map[string]string {
	server := viewRecord(w.server)
	server["begun"], server["cand"] = w.begun, w.cand
	predicted := view.Model.Predicted
	if a.predicted != nil {
		predicted = a.predicted
	}
	shown := predicted(w.model)
	p := viewRecord(shown)
	open, _ := shown.(view.Open)
	p["maybe"] = open.Interrupting
	sent := strings.Fields(w.inputs)
	pending := []string{}
	for i, name := range sent {
		if seq := view.Seq(i + 1); w.model.Awaits(seq) {
			pending = append(pending, fmt.Sprintf("%d %s", seq, name))
		}
	}
	return map[string]string{
		"s": JSON(server), "c": JSON(viewRecord(w.model.Confirmed)), "p": JSON(p), "pend": JSON(pending), "sent": JSON(len(sent)),
	}
}

func viewRecord(s view.State) map[string]any {
	_, over := s.(view.Over)
	o, _ := s.(view.Open)
	return map[string]any{
		"over": over, "speech": viewName(uint64(o.Speech)), "waiting": viewName(uint64(o.Waiting)), "live": viewName(uint64(o.Live)),
		"sound": viewName(uint64(o.Sound)),
	}
}

// viewName returns an identifier as the spec writes it.
func viewName(n uint64) uint64 {
	if n == uint64(view.ForeseenTurn) {
		return viewForeseen
	}
	return n
}

// viewKnown returns the part of a state that a client can know, as the spec writes it.
func viewKnown(s view.State) string {
	o, open := s.(view.Open)
	if !open {
		return "over"
	}
	return fmt.Sprint(o.Speech) + fmt.Sprint(o.Waiting) + fmt.Sprint(o.Live) + fmt.Sprint(o.Sound)
}

// viewTold has the events by the words of the spec.
var viewTold = func() map[string]view.Told {
	told := map[string]view.Told{"CommittedByClient": view.Committed{ByClient: true}, "NoWords": view.Transcribed{Empty: true}}
	_, events, _ := view.Values()
	for _, e := range events {
		if e, is := e.(view.Told); is {
			told[e.Name()] = e
		}
	}
	return told
}()

// viewInputs has the inputs by their names.
var viewInputs = func() map[string]view.Input {
	inputs := map[string]view.Input{}
	_, events, _ := view.Values()
	for _, e := range events {
		if in, is := e.(view.Input); is {
			inputs[in.Name()] = in
		}
	}
	return inputs
}()

// viewMessage returns the event of a message, and the input that it answers.
func viewMessage(text string) (view.Told, view.Seq) {
	words := strings.Fields(text)
	n, err := strconv.ParseUint(words[1], 10, 64)
	seq, bad := strconv.ParseUint(words[2], 10, 64)
	if err != nil || bad != nil || viewTold[words[0]] == nil {
		panic("conform: no event: " + text)
	}
	told := Alter(viewTold[words[0]], func(_ reflect.StructField, v reflect.Value) {
		if v.CanUint() {
			v.SetUint(n)
		}
	})
	return told, view.Seq(seq)
}

// step is one step of the spec: the client does something, hears a message or waits no longer, or the server says something.
func (a viewClient) step(w viewEnds, step move) (viewEnds, []said) {
	was, is := decoded[viewVars](step.was), decoded[viewVars](step.is)
	switch step.Action {
	case "Do":
		name := strings.Trim(step.choice("name"), `"`)
		w.model, _ = w.model.With(viewInputs[name])
		w.inputs += name + "\n"
	case "Hear":
		told, answers := viewMessage(was.Down[0])
		if a.hear != nil {
			w.model = a.hear(w.model, told, answers)
		} else {
			w.model = w.model.Hear(told, answers)
		}
	case "Expire":
		w.model = viewExpires(w.model)
	default:
		w.begun, w.cand = is.S.Begun, is.S.Cand
		return a.say(w, is.Down[len(was.Down):])
	}
	return w, nil
}

// say applies messages to what the server has said. The last one ends with what the client can know.
func (a viewClient) say(w viewEnds, messages []string) (viewEnds, []said) {
	var out []said
	for i, m := range messages {
		told, _ := viewMessage(m)
		w.server = a.next(w.server, told)
		text, known := m[:strings.LastIndex(m, " ")], "-"
		if i == len(messages)-1 {
			known = viewKnown(w.server)
		}
		if m != text+" "+known {
			text = "the client can know " + known
		}
		out = append(out, said{text})
	}
	return w, out
}

// viewExpires drops the oldest input that waits.
func viewExpires(m view.Model) view.Model {
	for seq := view.Seq(1); m.Pending() > 0; seq++ {
		if m.Awaits(seq) {
			return m.Drop(seq)
		}
	}
	return m
}

package trace

// Decodes one line of a trace.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/turn"
)

// line is one line as the server writes it: a step of a machine, an event that the machines take, or an effect that was
// performed.
type line struct {
	T       time.Time `json:"t"`
	Session string    `json:"session"`
	Machine string    `json:"machine"`
	From    value     `json:"from"`
	Event   value     `json:"event"`
	Action  string    `json:"action"`
	Why     string    `json:"why"`
	To      value     `json:"to"`
	Effects []value   `json:"effects"`
	Found   uint64    `json:"found"`
	Stored  uint64    `json:"stored"`

	Took      *partOf           `json:"took"`
	At        *playout.Position `json:"at"`
	Config    *coord.Config     `json:"config"`
	Performed *partOf           `json:"performed"`
}

// partOf is an event or an effect with the name of its machine.
type partOf struct {
	Of string `json:"of"`
	value
}

// value is a state, an event or an effect in JSON: its name and its fields.
type value struct {
	Name string          `json:"name"`
	Data json.RawMessage `json:"data"`
}

func readLine(text []byte) (line, error) {
	var l line
	if err := strictly(text, &l); err != nil {
		return l, err
	}
	switch {
	case l.T.IsZero():
		return l, errors.New("it has no time")
	case l.Session == "":
		return l, errors.New("it has no session")
	case l.Took != nil || l.Performed != nil:
		return l, l.aside()
	case (l.Action == "") == (l.Why == ""):
		return l, errors.New("it has either an action or a reason")
	}
	return l, nil
}

// aside returns an error if a line that is no step has missing or unexpected fields.
func (l line) aside() error {
	bare := line{T: l.T, Session: l.Session, Took: l.Took, At: l.At, Config: l.Config, Performed: l.Performed}
	switch {
	case !reflect.DeepEqual(l, bare):
		return errors.New("it is a step and something else")
	case (l.Took != nil) == (l.Performed != nil), (l.Took != nil) != (l.At != nil && l.Config != nil):
		return errors.New("it is neither an event with its position and settings nor an effect")
	}
	return nil
}

// strictly decodes text. Unknown fields and further data are errors.
func strictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("it is no line of a trace: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more on the line than one object")
	}
	return nil
}

// beside has the effects after which the composition itself sets a machine's state. They are the events of such steps.
var beside = map[string]reflect.Type{
	"StartBody":  reflect.TypeFor[response.StartBody](),
	"CommitTurn": reflect.TypeFor[turn.CommitTurn](),
}

// step decodes the values of the line, which belong to the machine k. composed says that the composition has set the state.
func (l line) step(k kind, composed bool) (step, error) {
	out := step{action: l.Action, why: l.Why}
	events := k.events
	if composed {
		events = beside
	}
	var errs [3]error
	out.from, errs[0] = l.From.of(k.states)
	out.event, errs[1] = l.Event.of(events)
	out.to, errs[2] = l.To.of(k.states)
	if err := errors.Join(errs[:]...); err != nil {
		return out, err
	}
	for _, v := range l.Effects {
		f, err := v.of(k.effects)
		if err != nil {
			return out, err
		}
		out.effects = append(out.effects, f)
	}
	return out, nil
}

// begin is the composition's action that begins a synthesis.
const begin = "Begin"

// given reports whether action is one by which the composition sets the machine's state, and not a row of its table.
func given(machine, action string) bool {
	switch machine {
	case "synthesis":
		return action == begin
	case "transcription":
		return action == "HandOver" || action == "TakeOver"
	}
	return false
}

// of decodes the value as the type with its name. The value must have all fields of the type.
func (v value) of(known map[string]reflect.Type) (machine.Named, error) {
	t, is := known[v.Name]
	if !is {
		return nil, fmt.Errorf("this machine has no %s", v.Name)
	}
	out := reflect.New(t)
	if err := strictly(v.Data, out.Interface()); err != nil {
		return nil, fmt.Errorf("%s: %w", v.Name, err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(v.Data, &fields); err != nil || len(fields) != t.NumField() {
		return nil, fmt.Errorf("%s: %s does not have each field once", v.Name, v.Data)
	}
	return out.Elem().Interface().(machine.Named), nil
}

// outOfBand reports whether a trace's session is a response out of band, whose machines have a trace of their own.
func outOfBand(session string) bool { return strings.Contains(session, ".") }

package conform

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// The steps of a session specification, for the check of traces: it looks up one event of a real session at a time, independent of
// its identifiers and its positions in the audio.

// Sliced has the steps of one session specification.
type Sliced struct {
	spec  sessionSpec
	steps map[slicedStep]map[outcome]bool
}

// slicedStep is a canonical state and an event that may come in it, without opaque values.
type slicedStep struct {
	state session.State
	event session.Event
}

// NewSliced takes the steps from a specification's graph. It returns an error if the specification differs from the code. ok is
// false if name is no session specification.
func NewSliced(name string, g *graph.Graph) (s *Sliced, ok bool, err error) {
	for _, c := range All() {
		a, is := c.(sessionSpec)
		if !is || a.Spec != name {
			continue
		}
		s := &Sliced{spec: a, steps: map[slicedStep]map[outcome]bool{}}
		walked := a
		walked.stepped = s.note
		_, err := walked.Compare(g)
		return s, true, err
	}
	return nil, false, nil
}

// note notes what becomes of each event of an action in a canonical state, as far as the events before it leave such a state.
func (s *Sliced) note(from session.State, events moment) {
	at := from
	for _, e := range events {
		to, effects, _ := s.spec.Next(at, hereNow(from), e)
		key := slicedStep{withoutOpaque(at), eventWithoutOpaque(e)}
		if s.steps[key] == nil {
			s.steps[key] = map[outcome]bool{}
		}
		form := canonicalAfter(at, to)
		s.steps[key][outcomeOf(at, form, effects)] = true
		if at = to; form != to {
			return
		}
	}
}

// Ask reports whether the specification has this event in this state. If it has, what is how its step differs, or "".
func (s *Sliced) Ask(from session.State, e session.Event, to session.State, effects []session.Effect) (known bool, what string) {
	known, what = s.ask(from, e, to, effects)
	if !known && !ofWorker(e) {
		return s.ask(withoutProgress(from), e, withoutProgress(to), effects)
	}
	return known, what
}

func (s *Sliced) ask(from session.State, e session.Event, to session.State, effects []session.Effect) (known bool, what string) {
	form := canonical(from)
	inForm := s.spec.Events(form)
	asked := eventWithoutOpaque(e)
	is := func(other session.Event) bool {
		return other.Name() == asked.Name() && eventWithoutOpaque(other) == asked
	}
	for i, l := range s.spec.Events(from) {
		k := slices.IndexFunc(l.Event, is)
		if k < 0 || i >= len(inForm) || k >= len(inForm[i].Event) {
			continue
		}
		outcomes := s.steps[slicedStep{withoutOpaque(form), eventWithoutOpaque(inForm[i].Event[k])}]
		if outcomes == nil {
			continue
		}
		got := outcomeOf(from, canonical(to), effects)
		if outcomes[got] {
			return true, ""
		}
		for want := range outcomes {
			what = fmt.Sprintf("%s: %s goes to %+v, the server to %+v", s.spec.Spec, l.Label, want, got)
		}
		return true, what
	}
	return false, ""
}

// withoutProgress is s as the specifications have it, which leave out how far the recogniser and the synthesizer are: the
// recognition of the open turn has not begun to stream, and the synthesis of the live response may get more clauses.
func withoutProgress(s session.State) session.State {
	if live, is := s.Live.(transcription.Streaming); is && !live.EOU {
		s.Live = transcription.Opening{Turn: live.Turn}
	}
	_, active := s.Response.(response.Active)
	if _, closing := s.Synthesis.(synthesis.Closing); closing && active {
		s.Synthesis = synthesis.Open{}
	}
	return s
}

// ofWorker reports whether e is an event of the recogniser or the synthesizer. Its step depends on how far they are.
func ofWorker(e session.Event) bool {
	switch e.(type) {
	case session.OfSynthesis, session.OfTranscription:
		return true
	case session.OfConn, session.OfTurn, session.OfResponse, session.OfPlayout, session.Configure:
	}
	return false
}

// Opaque are values that the machines hand on and never decide by: positions in the audio, and why a session closes.

// outcome is what a step led to, without opaque values: a canonical state, and effects.
type outcome struct {
	to      session.State
	effects string
}

func outcomeOf(from, form session.State, effects []session.Effect) outcome {
	var fx []string
	for _, f := range effects {
		fx = append(fx, sayWithout(from, f, isOpaque).text)
	}
	return outcome{withoutOpaque(form), strings.Join(fx, "; ")}
}

func isOpaque(v any) bool {
	switch v.(type) {
	case playout.Position, conn.Reason:
		return true
	}
	return false
}

func withoutOpaque(s session.State) session.State {
	if _, closing := s.Conn.(conn.Closing); closing {
		s.Conn = conn.Closing{}
	}
	switch p := s.Playout.(type) {
	case playout.Held:
		p.At = playout.Position{}
		s.Playout = p
	case playout.Cut:
		p.At = playout.Position{}
		s.Playout = p
	case playout.Silent, playout.Playing, playout.Terminated:
	}
	return s
}

// filledIn are the fields of the speaker's events that the composition fills in.
var filledIn = []string{"Begin.Candidate", "Missed.Candidate", "Clear.Reason", "Clear.Reports"}

// eventWithoutOpaque is e without what the composition fills in, opaque values, and the number of a client's request.
func eventWithoutOpaque(e session.Event) session.Event {
	return Alter(e, func(_ reflect.StructField, v reflect.Value) {
		of, is := v.Interface().(machine.Named)
		if !is {
			return // it is the settings
		}
		_, playouts := e.(session.OfPlayout)
		v.Set(reflect.ValueOf(Alter(of, func(field reflect.StructField, v reflect.Value) {
			_, request := v.Interface().(machine.Request)
			if request || isOpaque(v.Interface()) || playouts && slices.Contains(filledIn, of.Name()+"."+field.Name) {
				v.SetZero()
			}
		})))
	})
}

package conform

import (
	"fmt"
	"strings"

	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// The steps of a session's specification, for the trace check: a running session is asked about one event at a time, whatever
// its identifiers and its positions in the audio are.

// Sliced knows the steps of one specification of a session.
type Sliced struct {
	spec  sessionSpec
	steps map[slicedStep]map[string]bool // the outcomes
}

// slicedStep is a canonical state and an event that may come in it, without positions in the audio.
type slicedStep struct {
	state session.State
	event session.Event
}

// NewSliced reads the steps out of a specification's graph. A specification that differs from the code is an error. ok is false
// where name is no specification of a session.
func NewSliced(name string, g *graph.Graph) (s *Sliced, ok bool, err error) {
	for _, c := range All() {
		a, is := c.(sessionSpec)
		if !is || a.Spec != name {
			continue
		}
		s := &Sliced{spec: a, steps: map[slicedStep]map[string]bool{}}
		walked := a
		walked.stepped = s.note
		_, err := walked.Compare(g)
		return s, true, err
	}
	return nil, false, nil
}

// note notes what becomes of one event in a canonical state. An action of several events is none that a session can be asked of.
func (s *Sliced) note(from session.State, events moment) {
	if len(events) != 1 {
		return
	}
	to, effects, _ := s.spec.Next(from, hereNow(from), events[0])
	key := slicedStep{withoutPositions(from), eventWithoutPositions(events[0])}
	if s.steps[key] == nil {
		s.steps[key] = map[string]bool{}
	}
	s.steps[key][outcome(from, to, effects)] = true
}

// Ask says whether the specification has this event in this state, and if so, how its step is another, or "".
func (s *Sliced) Ask(from session.State, e session.Event, to session.State, effects []session.Effect) (known bool, what string) {
	form := canonical(from)
	asked := eventWithoutPositions(e)
	inForm := s.spec.Events(form)
	for i, l := range s.spec.Events(from) {
		if len(l.Event) != 1 || eventWithoutPositions(l.Event[0]) != asked || i >= len(inForm) {
			continue
		}
		outcomes := s.steps[slicedStep{withoutPositions(form), eventWithoutPositions(inForm[i].Event[0])}]
		got := outcome(from, to, effects)
		if outcomes == nil || outcomes[got] {
			return outcomes != nil, ""
		}
		for want := range outcomes {
			what = want
		}
		return true, fmt.Sprintf("%s: %s goes to %s, the server to %s", s.spec.Spec, l.Label, what, got)
	}
	return false, ""
}

// outcome writes what a step led to, without positions in the audio.
func outcome(from, to session.State, effects []session.Effect) string {
	var fx []string
	for _, f := range effects {
		fx = append(fx, sayWithout(from, f, isPosition).text)
	}
	return fmt.Sprintf("%+v with %s", withoutPositions(canonical(to)), strings.Join(fx, "; "))
}

// isPosition says whether a field is a position in the audio.
func isPosition(v any) bool {
	_, is := v.(playout.Position)
	return is
}

// withoutPositions is s without positions in the audio.
func withoutPositions(s session.State) session.State {
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

// eventWithoutPositions is e without what the composition fills in, positions in the audio, and the number of a client's request.
func eventWithoutPositions(e session.Event) session.Event {
	switch of := e.(type) {
	case session.OfPlayout:
		switch p := of.Event.(type) {
		case playout.Ready:
			p.At = playout.Position{}
			return session.OfPlayout{Event: p}
		case playout.Heard:
			p.At = playout.Position{}
			return session.OfPlayout{Event: p}
		case playout.Clear:
			return session.OfPlayout{Event: playout.Clear{}}
		case playout.Begin:
			return session.OfPlayout{Event: playout.Begin{Resp: p.Resp}}
		case playout.Drained, playout.Candidate, playout.ReadyExpired, playout.Confirm, playout.Reject, playout.HeardExpired, playout.Shutdown:
		}
	case session.OfResponse:
		if c, is := of.Event.(response.Create); is {
			c.Request = id.Request{}
			return session.OfResponse{Event: c}
		}
	case session.OfConn, session.OfTurn, session.OfSynthesis, session.OfTranscription, session.Configure:
	}
	return e
}

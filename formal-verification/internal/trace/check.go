package trace

// The checker of traces: reads a trace line by line and checks each step of each machine.

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/formal-verification/internal/conform"
	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// longest is the largest length of a line in bytes. A step has only a few effects.
const longest = 1 << 20

// Refused is the error for a line that is not a correct step.
type Refused struct {
	Name string // of the log
	Line int
	What string
}

func (r *Refused) Error() string { return fmt.Sprintf("%s:%d: %s", r.Name, r.Line, r.What) }

// Figures says how much was checked.
type Figures struct {
	Sessions, Steps, Ignored int
	// Specified of all are steps and ignored events that the specs have too; Beyond lie outside their bounds.
	Specified, Beyond int
	// Composed of the events of whole sessions are steps that a spec of the session has. Alone of the others concern one machine
	// alone, so that the machine's own spec is asked. Of ComposedBeyond no spec of the session says anything.
	Composed, Alone, ComposedBeyond int
	// Views are the moments at which what a client can know was compared.
	Views int
}

// Checker checks logs one after another. Each session is in one log.
type Checker struct {
	specs   map[string]*Spec // by the machine; none: the tables alone
	slices  []*conform.Sliced
	owners  map[string]string   // the log with the steps of an owner of a call
	stored  map[string]*inStore // by the machine and its name
	figures Figures
}

// New returns a checker that compares steps with the tables and with these specs.
func New(specs ...*Spec) *Checker {
	c := &Checker{specs: map[string]*Spec{}, owners: map[string]string{}, stored: map[string]*inStore{}}
	for _, s := range specs {
		if s.sliced != nil {
			c.slices = append(c.slices, s.sliced)
		} else {
			c.specs[s.machine] = s
		}
	}
	return c
}

func (c *Checker) Figures() Figures { return c.figures }

// Log checks one log. The error for a wrong line is a *Refused.
func (c *Checker) Log(name string, r io.Reader) error {
	sessions := map[string]*session{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	n := 0
	for lines.Scan() {
		n++
		if err := c.line(name, sessions, lines.Bytes()); err != nil {
			return &Refused{name, n, err.Error()}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if n == 0 {
		return &Refused{name, 1, "there is no step in it"}
	}
	for id, s := range sessions {
		if s.handed != nil {
			return &Refused{name, n, "session " + id + ": a stream was handed over, and nobody took it"}
		}
		if err := s.whole.ends(); err != nil {
			return &Refused{name, n, "session " + id + ": " + err.Error()}
		}
	}
	c.figures.Sessions += len(sessions)
	return nil
}

// session has the state of each machine of a session, as far as the log has said it.
type session struct {
	last    map[string]machine.Named
	seen    map[string]any
	effects map[string][]machine.Named // of a machine's last step
	handed  *stream
	when    time.Time
	whole   composed
}

// stream is a state that one machine passes to another.
type stream struct {
	state machine.Named
	seen  any
}

func (c *Checker) line(log string, sessions map[string]*session, text []byte) error {
	l, err := readLine(text)
	if err != nil {
		return err
	}
	keeps := kinds[l.Machine].keeps
	switch {
	case keeps == ofStore || keeps == ofKey:
		err = c.storeStep(log, l)
	case l.Found != 0 || l.Stored != 0:
		err = errors.New("its state is not in the store, and the line has a revision")
	case keeps == ofOwner:
		err = c.owned(l.Session, log)
	}
	if err != nil || keeps == ofStore || keeps == ofKey {
		return about(l, err)
	}
	s := sessions[l.Session]
	if s == nil {
		s = &session{last: map[string]machine.Named{}, seen: map[string]any{}, effects: map[string][]machine.Named{}}
		s.whole.alone = outOfBand(l.Session)
		sessions[l.Session] = s
	}
	return about(l, c.take(s, l))
}

// about says in an error whose line it is.
func about(l line, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("session %s, %s: %w", l.Session, l.Machine, err)
}

func (c *Checker) take(s *session, l line) error {
	if l.T.Before(s.when) {
		return errors.New("it is earlier than the step before it")
	}
	s.when = l.T
	switch {
	case l.Took != nil:
		return c.takeEvent(&s.whole, l)
	case l.Performed != nil:
		return s.whole.performed(l)
	}
	name, part, parted := strings.Cut(l.Machine, ".")
	k, known := kinds[name]
	if !known || parted && (name != "transcription" || part != "final" && part != "older") {
		return errors.New("there is no such machine")
	}
	composed := given(name, l.Action)
	st, err := l.step(k, composed)
	if err != nil {
		return err
	}
	if err := c.machineStep(s, l.Machine, k, st, composed); err != nil {
		return err
	}
	return s.whole.step(l.Machine, st)
}

// machineStep holds a step to its own machine; given says that the composition gave the machine its state.
func (c *Checker) machineStep(s *session, name string, k kind, st step, given bool) error {
	from, known := s.last[name]
	if !known {
		from, s.seen[name] = k.first, k.fresh
	}
	if st.from != from {
		return fmt.Errorf("it goes on from %s, but it was %s", coordtest.Text(st.from), coordtest.Text(from))
	}
	s.last[name] = st.to
	if given {
		return s.give(name, k, st)
	}
	if err := c.decided(s, name, k, st); err != nil {
		return err
	}
	s.effects[name] = st.effects
	base, _, _ := strings.Cut(name, ".")
	return c.specified(base, st)
}

// decided checks a step that the machine took by itself: against its table and its monitor.
func (c *Checker) decided(s *session, name string, k kind, st step) error {
	want := k.next(st.from, st.event)
	at := coordtest.Text(st.event) + " in " + coordtest.Text(st.from) + ": "
	if st.why != "" && kept[st.why] {
		want = step{from: st.from, event: st.event, to: st.from, why: st.why}
	}
	if what := want.same(st); what != "" {
		return errors.New(at + what)
	}
	if st.why != "" {
		c.figures.Ignored++
		return nil
	}
	c.figures.Steps++
	var broken string
	if s.seen[name], broken = k.watch(s.seen[name], st); broken != "" {
		return errors.New(at + broken + " does not hold")
	}
	return nil
}

// give checks a state that the composition has set: the synthesis of a body begins, or a turn's stream moves to another machine.
func (s *session) give(name string, k kind, st step) error {
	if len(st.effects) > 0 {
		return errors.New("a state that is given has no effects")
	}
	by := "turn"
	if st.action == begin {
		by = "response"
	}
	if !slices.Contains(s.effects[by], st.event) {
		return fmt.Errorf("%s follows %s, which the %s did not ask for", st.action, coordtest.Text(st.event), by)
	}
	var to machine.Named
	switch st.action {
	case begin:
		to, s.seen[name] = synthesis.Open{}, k.fresh
	case "HandOver":
		if s.handed != nil {
			return errors.New("two streams are handed over at once")
		}
		to = transcription.Closed{}
		s.handed = &stream{st.from, s.seen[name]}
		s.seen[name] = k.fresh
	case "TakeOver":
		if s.handed == nil {
			return errors.New("it takes over what nobody has handed over")
		}
		to, s.seen[name] = s.handed.state, s.handed.seen
		s.handed = nil
	}
	if st.to != to {
		return fmt.Errorf("%s gives it %s, not %s", st.action, coordtest.Text(st.to), coordtest.Text(to))
	}
	return nil
}

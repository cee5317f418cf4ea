package gate

// Questions about a specification (`# ask` lines) for which FizzBee's language has no assertion.

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
)

// Ask is a question about the whole graph, for which FizzBee's language has no assertion:
//
//	# ask reachable NAME: EXPR                  the expression is true in some state
//	# ask always-enabled NAME: ACTION when EXPR the action is possible in every state in which the expression is true
//	# ask responds NAME: EXPR leads to EXPR     after a state with the first expression comes a state with the second one, if fairness is kept
//
// EXPR uses the spec's variables and constants.
type Ask struct {
	Line       int
	Kind, Name string
	Action     string // of always-enabled
	When, Then string // Then is of responds
}

// The kinds of questions.
const (
	askReachable = "reachable"
	askEnabled   = "always-enabled"
	askResponds  = "responds"
)

var (
	askLine = regexp.MustCompile(`^#+\s*ask\b\s*(.*)$`)
	askForm = regexp.MustCompile(`^([a-z-]+)\s+([A-Za-z][A-Za-z0-9_]*)\s*:\s*(.+)$`)
)

// Asks returns the questions of a spec. A line that begins like a question and is none is an error.
func Asks(spec string) ([]Ask, error) {
	var out []Ask
	var wrong []error
	seen := map[string]bool{}
	for i, l := range strings.Split(spec, "\n") {
		m := askLine.FindStringSubmatch(strings.TrimSpace(l))
		if m == nil {
			continue
		}
		a, err := ask(m[1])
		if err == nil && seen[a.Name] {
			err = fmt.Errorf("%s is asked twice", a.Name)
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("line %d: %w", i+1, err))
			continue
		}
		seen[a.Name] = true
		a.Line = i + 1
		out = append(out, a)
	}
	return out, errors.Join(wrong...)
}

func ask(text string) (Ask, error) {
	m := askForm.FindStringSubmatch(text)
	if m == nil {
		return Ask{}, errors.New("expected `# ask KIND NAME: QUESTION`")
	}
	a := Ask{Kind: m[1], Name: m[2], When: strings.TrimSpace(m[3])}
	var whole bool
	switch a.Kind {
	case askReachable:
		whole = true
	case askEnabled:
		a.Action, a.When, whole = strings.Cut(a.When, " when ")
	case askResponds:
		a.When, a.Then, whole = strings.Cut(a.When, " leads to ")
	default:
		return Ask{}, fmt.Errorf("ask %s: expected %s, %s or %s", a.Kind, askReachable, askEnabled, askResponds)
	}
	if !whole {
		return Ask{}, errors.New("expected `ACTION when EXPR` or `EXPR leads to EXPR`")
	}
	a.Action, a.When, a.Then = strings.TrimSpace(a.Action), strings.TrimSpace(a.When), strings.TrimSpace(a.Then)
	return a, nil
}

// decide answers the question on the whole graph. It returns "" for yes, and otherwise the reason for no. If no state satisfies
// the question's condition, the answer is no.
func (a Ask) decide(g *graph.Graph, constants string) (string, error) {
	when, err := holds(g, constants, a.When)
	if err != nil {
		return "", err
	}
	first := g.PathTo(func(n int) bool { return when[n] })
	if first == nil {
		return "no state is so", nil
	}
	switch a.Kind {
	case askEnabled:
		can := make([]bool, len(g.Nodes))
		for _, e := range g.Edges {
			can[e.From] = can[e.From] || e.Action == a.Action
		}
		if p := g.PathTo(func(n int) bool { return when[n] && !can[n] }); p != nil {
			return a.Action + " cannot happen after\n" + graph.Print(g.Run(p)), nil
		}
	case askResponds:
		then, err := holds(g, constants, a.Then)
		if err != nil {
			return "", err
		}
		if l := g.Responds(func(n int) bool { return when[n] }, func(n int) bool { return then[n] }); l != nil {
			return "it need not come to that\n" + graph.Print(g.Tell(l)), nil
		}
	}
	return "", nil
}

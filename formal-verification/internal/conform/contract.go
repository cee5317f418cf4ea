package conform

// Compares internal/coord/run/contract.json, the description of a run for other programs, with run.fizz.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/graph"
	"github.com/antiphon-rt/antiphon/internal/coord/run"
)

// contractFile is the run's contract, in the repository.
var contractFile = filepath.Join("internal", "coord", "run", "contract.json")

// contract is the part of the contract that the spec has too.
type contract struct {
	States []struct {
		Name              string
		Initial, Terminal bool
	}
	Transitions []struct {
		From, Event, To string
		Emits           []string
	}
	Messages map[string]message
}

// message is the schema of one published message.
type message struct {
	Properties struct {
		Payload struct {
			Properties map[string]struct {
				Const string
				Enum  []string
			}
			Required []string
		}
	}
}

// readContract reads the contract. It looks for it in folder and in the folders above.
func readContract(folder string) (contract, error) {
	for {
		raw, err := os.ReadFile(filepath.Join(folder, contractFile))
		above := filepath.Dir(folder)
		if errors.Is(err, fs.ErrNotExist) && above != folder {
			folder = above
			continue
		}
		if err != nil {
			return contract{}, fmt.Errorf("read the run's contract (go generate ./internal/coord/run writes it): %w", err)
		}
		var c contract
		if err := json.Unmarshal(raw, &c); err != nil {
			return contract{}, fmt.Errorf("%s: %w", contractFile, err)
		}
		return c, nil
	}
}

// withContract is the adapter of run.fizz. It also compares the spec with the contract.
type withContract struct {
	Machine[run.State, run.Event, run.Effect, struct{}]
}

// Compare is like Machine.Compare. It also checks that the contract has the same states and transitions as the spec.
func (m withContract) Compare(g *graph.Graph) (Figures, error) {
	figures, err := m.Machine.Compare(g)
	if err != nil {
		return figures, err
	}
	here, err := os.Getwd()
	if err != nil {
		return figures, fmt.Errorf("find the run's contract: %w", err)
	}
	c, err := readContract(here)
	if err != nil {
		return figures, err
	}
	return figures, c.compare(g, m.triggers())
}

// triggers returns, for each action of the spec, the name of its event.
func (m withContract) triggers() map[string]string {
	out := map[string]string{}
	for _, l := range m.Events(m.First, m.Domain) {
		action, _, _ := strings.Cut(l.Label, " ")
		out[action] = l.Event.Name()
	}
	return out
}

// compare returns an error if the contract differs from the spec's graph.
func (c contract) compare(g *graph.Graph, triggers map[string]string) error {
	said := map[string]bool{}
	for _, tr := range c.Transitions {
		said[oneLine(tr.From, tr.Event, tr.To, tr.Emits)] = true
	}
	done := map[string]bool{}
	leaves := map[string]bool{} // statuses that are left
	for _, e := range g.Edges {
		from, to := runAt(g, e.From), runAt(g, e.To)
		emits, err := c.published(to.FX)
		if err != nil {
			return &Difference{What: fmt.Sprintf("%s: %v", e.Label(), err)}
		}
		done[oneLine(from.State, triggers[e.Action], to.State, emits)] = true
		leaves[from.State] = leaves[from.State] || from.State != to.State
	}
	if what := unequal(said, done); what != "" {
		return &Difference{What: "the contract's transitions: " + what}
	}
	return c.compareStates(g, leaves)
}

func oneLine(from, event, to string, emits []string) string {
	return fmt.Sprintf("%s, %s -> %s %v", from, event, to, emits)
}

// compareStates compares the names of the states, the first state, and the states in which a run has ended.
func (c contract) compareStates(g *graph.Graph, leaves map[string]bool) error {
	said, is := map[string]bool{}, map[string]bool{}
	begins := map[string]bool{}
	for _, n := range g.Init {
		begins[runAt(g, n).State] = true
	}
	for n := range g.Nodes {
		name := runAt(g, n).State
		is[fmt.Sprintf("%s begins=%t ends=%t", name, begins[name], !leaves[name])] = true
	}
	for _, s := range c.States {
		said[fmt.Sprintf("%s begins=%t ends=%t", s.Name, s.Initial, s.Terminal)] = true
	}
	if what := unequal(said, is); what != "" {
		return &Difference{What: "the contract's states: " + what}
	}
	return nil
}

// published returns the names of the messages among effects. It checks the fields of each message against its schema.
func (c contract) published(fx []string) ([]string, error) {
	var out []string
	for _, f := range fx {
		words := strings.Fields(f)
		m, known := c.Messages[words[0]]
		if !known {
			if strings.Contains(words[0], ".") {
				return nil, fmt.Errorf("the contract has no message %s", words[0])
			}
			continue // the driver performs it, nothing is published
		}
		out = append(out, words[0])
		if err := m.fits(words[1:]); err != nil {
			return nil, fmt.Errorf("%s: %w", words[0], err)
		}
	}
	return out, nil
}

// fits compares the fields of an effect, except its number, with those of the message.
func (m message) fits(fields []string) error {
	payload := m.Properties.Payload
	has := map[string]bool{}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, "=")
		if name == "seq" {
			continue
		}
		has[name] = true
		may := payload.Properties[name]
		if may.Const != "" && may.Const != value || len(may.Enum) > 0 && !slices.Contains(may.Enum, value) {
			return fmt.Errorf("%s is %s, which its schema does not allow", name, value)
		}
	}
	wants := map[string]bool{}
	for _, name := range payload.Required {
		wants[name] = true
	}
	if what := unequal(wants, has); what != "" {
		return fmt.Errorf("the payload's fields: %s", what)
	}
	return nil
}

// unequal returns what only the contract or only the spec has, or "".
func unequal(contract, spec map[string]bool) string {
	for _, name := range slices.Sorted(maps.Keys(contract)) {
		if !spec[name] {
			return name + " is not in the spec"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(spec)) {
		if !contract[name] {
			return name + " is in the spec alone"
		}
	}
	return ""
}

// runNode has the variables of a node that the contract is compared with: the status, and the effects of the last action.
type runNode struct {
	State string
	FX    []string
}

func runAt(g *graph.Graph, node int) runNode { return decoded[runNode](g.Nodes[node].Vars) }

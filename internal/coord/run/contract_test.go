package run

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"slices"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

// contract is what contract.json holds: the machine as others see it.
type contract struct {
	Title       string             `json:"title"`
	States      []contractState    `json:"states"`
	Policies    []contractPolicy   `json:"policies"`
	Events      []string           `json:"events"`
	Transitions []transition       `json:"transitions"`
	Messages    map[string]*schema `json:"messages"`
}

type contractState struct {
	Name     string `json:"name"`
	Initial  bool   `json:"initial,omitempty"`
	Terminal bool   `json:"terminal,omitempty"`
}

// contractPolicy says what a run of that policy may do when a turn needs input.
type contractPolicy struct {
	Name    string `json:"name"`
	Waits   bool   `json:"waits"`
	Decides bool   `json:"decides_after_a_time"`
}

// transition is a row of the table that does something. Where From is To, the event
// is answered and the status stays.
type transition struct {
	From   string   `json:"from"`
	Event  string   `json:"event"`
	When   string   `json:"when,omitempty"`
	To     string   `json:"to"`
	Action string   `json:"action"`
	Emits  []string `json:"emits"` // names of published messages, in order
}

// schema is the part of JSON Schema (2020-12) that the contract needs.
type schema struct {
	Type       string             `json:"type"`
	Minimum    int                `json:"minimum,omitempty"`
	MinLength  int                `json:"minLength,omitempty"`
	Format     string             `json:"format,omitempty"`
	Const      string             `json:"const,omitempty"`
	Enum       []string           `json:"enum,omitempty"`
	Properties map[string]*schema `json:"properties,omitempty"`
	Required   []string           `json:"required,omitempty"`
	Closed     *bool              `json:"additionalProperties,omitempty"`
}

// published has one effect of each type that leaves as a message.
var published = []Effect{StateChanged{}, ReplyAccepted{}, AutoDecided{}}

//go:generate go test -run ^TestContract$ . -args -rewrite

func TestContract(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var got bytes.Buffer
	out := json.NewEncoder(&got)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	g.Expect(out.Encode(describe(graph))).To(gomega.Succeed())
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		g.Expect(os.WriteFile("contract.json", got.Bytes(), 0o644)).To(gomega.Succeed())
		return
	}
	want, err := os.ReadFile("contract.json")
	g.Expect(err).NotTo(gomega.HaveOccurred(), "write it with: go generate ./internal/coord/run")
	g.Expect(got.String()).To(gomega.Equal(string(want)), "contract.json is not the table's; if the change is meant: go generate ./internal/coord/run")
}

func describe(graph coordtest.Graph[State, Event, Effect]) contract {
	out := contract{
		Title:       "Antiphon run: its states, transitions and published messages",
		Policies:    policies(graph),
		Transitions: transitions(graph),
		Messages:    messages(graph),
	}
	for _, s := range subject.States {
		_, terminal := Terminal(s)
		out.States = append(out.States, contractState{s.Name(), s.Name() == subject.First.Name(), terminal})
	}
	for _, e := range subject.Events {
		out.Events = append(out.Events, e.Name())
	}
	return out
}

func transitions(graph coordtest.Graph[State, Event, Effect]) []transition {
	emits := map[int][]string{}
	for _, e := range graph.Edges {
		names := []string{}
		for _, f := range e.Effects {
			if slices.ContainsFunc(published, func(p Effect) bool { return p.Name() == f.Name() }) {
				names = append(names, f.Name())
			}
		}
		emits[e.Row] = names
	}
	guarded := map[string]bool{}
	out := []transition{}
	for i, r := range Table {
		if r.Why != "" {
			continue
		}
		when := r.Guard
		if when == "" && guarded[r.From+r.Event] {
			when = "else"
		}
		guarded[r.From+r.Event] = guarded[r.From+r.Event] || r.Guard != ""
		out = append(out, transition{r.From, r.Event, when, r.To, r.Action, emits[i]})
	}
	return out
}

func policies(graph coordtest.Graph[State, Event, Effect]) []contractPolicy {
	out := []contractPolicy{}
	for _, p := range []Policy{RequireReply, AutoDecide, Auto} {
		about := contractPolicy{Name: p.String()}
		for _, e := range graph.Edges {
			from, waited := e.From.(WaitingUser)
			to, waits := e.To.(WaitingUser)
			_, timeout := e.Event.(Timeout)
			about.Waits = about.Waits || waits && to.Policy == p
			about.Decides = about.Decides || waited && from.Policy == p && timeout && !waits
		}
		out = append(out, about)
	}
	return out
}

// messages has a schema for each published effect: the run's number, the message's
// name, and the payload, whose fields are the effect's.
func messages(graph coordtest.Graph[State, Event, Effect]) map[string]*schema {
	out := map[string]*schema{}
	for _, f := range published {
		payload := object()
		for i := range reflect.TypeOf(f).NumField() {
			field := coordtest.Snake(reflect.TypeOf(f).Field(i).Name)
			if field == "seq" {
				continue
			}
			values := said(graph, f, i)
			payload.Properties[field] = property(reflect.TypeOf(f).Field(i).Type, values)
			payload.Required = append(payload.Required, field)
		}
		message := object()
		message.Properties = map[string]*schema{
			"seq": {Type: "integer", Minimum: 1}, "event": {Type: "string", Const: f.Name()}, "payload": payload,
		}
		message.Required = []string{"seq", "event", "payload"}
		out[f.Name()] = message
	}
	return out
}

func object() *schema {
	return &schema{Type: "object", Properties: map[string]*schema{}, Closed: new(bool)}
}

// said is what field i of an effect says in any state, in words and in order.
func said(graph coordtest.Graph[State, Event, Effect], f Effect, i int) []string {
	var out []string
	for _, e := range graph.Edges {
		for _, x := range e.Effects {
			if x.Name() != f.Name() {
				continue
			}
			v := reflect.ValueOf(x).Field(i)
			word, named := v.Interface().(interface{ String() string })
			switch {
			case v.Kind() == reflect.String:
				out = append(out, v.String())
			case named:
				out = append(out, word.String())
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func property(t reflect.Type, values []string) *schema {
	switch {
	case t == reflect.TypeFor[Millis]():
		return &schema{Type: "string", Format: "date-time"}
	case len(values) == 1:
		return &schema{Type: "string", Const: values[0]}
	case len(values) > 1:
		return &schema{Type: "string", Enum: values}
	}
	return &schema{Type: "string", MinLength: 1} // an identifier: the driver has its words
}

// TestCanonicalTransitions compares the table with the lifecycle as it was agreed on:
// nothing else changes a run's status.
func TestCanonicalTransitions(t *testing.T) {
	g := gomega.NewWithT(t)
	graph, err := subject.Explore()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var changes, stays []string
	for _, tr := range transitions(graph) {
		line := tr.From + " " + tr.Event + " " + tr.To
		if tr.From == tr.To {
			stays = append(stays, line)
			g.Expect(tr.Emits).To(gomega.BeEmpty(), line)
			continue
		}
		changes = append(changes, line)
		g.Expect(tr.Emits).NotTo(gomega.BeEmpty(), line)
		g.Expect(tr.Emits[len(tr.Emits)-1]).To(gomega.Equal("conversation.state.changed"), line)
	}
	g.Expect(changes).To(gomega.ConsistOf(
		"queued turn.started running",
		"running turn.needs_input waiting_user",
		"waiting_user interaction.reply.accepted queued",
		"waiting_user interaction.auto_decide.timeout queued",
		"running turn.succeeded succeeded",
		"running turn.failed failed",
		"queued run.canceled canceled", "running run.canceled canceled", "waiting_user run.canceled canceled",
		"queued restart.reconcile_failed failed", "running restart.reconcile_failed failed",
		"waiting_user restart.reconcile_failed failed",
	))
	g.Expect(stays).To(gomega.ConsistOf(
		"waiting_user restart.preserve_waiting waiting_user",
		"running restart.resumed running",
		"running turn.needs_input running",
		"queued interaction.reply.accepted queued", "running interaction.reply.accepted running",
		"waiting_user interaction.reply.accepted waiting_user", "succeeded interaction.reply.accepted succeeded",
		"failed interaction.reply.accepted failed", "canceled interaction.reply.accepted canceled",
	))
}

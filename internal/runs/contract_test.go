package runs

// The contract: it is generated from the machine's contract and from the types of the messages, and each message is checked against it.

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
)

// machineContract is internal/coord/run/contract.json.
type machineContract struct {
	States      json.RawMessage    `json:"states"`
	Policies    json.RawMessage    `json:"policies"`
	Events      json.RawMessage    `json:"events"`
	Transitions json.RawMessage    `json:"transitions"`
	Messages    map[string]*schema `json:"messages"`
}

// contractFile is what contract.json holds.
type contractFile struct {
	Title       string             `json:"title"`
	Protocol    string             `json:"protocol_version"`
	States      json.RawMessage    `json:"states"`
	Policies    json.RawMessage    `json:"policies"`
	Events      json.RawMessage    `json:"events"`
	Transitions json.RawMessage    `json:"transitions"`
	Envelope    *schema            `json:"envelope"`
	Messages    map[string]*schema `json:"messages"`
}

// ownMessages are the messages that this package adds to those of the machine.
var ownMessages = map[string]any{TypeRequested: requested{}, typeProgress: progressed{}, typeStep: stepDone{}, typeReplied: repliedWith{}, TypeResult: ended{}}

//go:generate go test -run ^TestContract$ . -args -rewrite

func TestContract(t *testing.T) {
	g := gomega.NewWithT(t)
	text, err := os.ReadFile("../coord/run/contract.json")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var machine machineContract
	g.Expect(json.Unmarshal(text, &machine)).To(gomega.Succeed())
	messages := map[string]*schema{}
	for name, s := range machine.Messages {
		messages[name] = s.Properties["payload"]
	}
	for name, data := range ownMessages {
		g.Expect(messages).NotTo(gomega.HaveKey(name))
		messages[name] = schemaOf(reflect.TypeOf(data))
	}
	var got bytes.Buffer
	out := json.NewEncoder(&got)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	g.Expect(out.Encode(contractFile{
		Title: "Antiphon run: its states, transitions and published messages", Protocol: Protocol,
		States: machine.States, Policies: machine.Policies, Events: machine.Events, Transitions: machine.Transitions,
		Envelope: envelope(messages), Messages: messages,
	})).To(gomega.Succeed())
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		g.Expect(os.WriteFile("contract.json", got.Bytes(), 0o644)).To(gomega.Succeed())
		return
	}
	g.Expect(got.String()).To(gomega.Equal(string(contractText)), "contract.json is not that of the machine and the messages; if the change is meant: go generate ./internal/runs")
}

var _ = flag.Bool("rewrite", false, "write contract.json")

// envelope is the schema of a Message.
func envelope(messages map[string]*schema) *schema {
	s := schemaOf(reflect.TypeFor[Message]())
	s.Properties["protocol_version"] = &schema{Type: "string", Const: Protocol}
	s.Properties["ts"].Format = "date-time"
	s.Properties["seq"].Minimum = 1
	s.Properties["type"].Enum = slices.Sorted(maps.Keys(messages))
	return s
}

// schemaOf returns the schema of a struct.
func schemaOf(t reflect.Type) *schema {
	s := &schema{Type: "object", Properties: map[string]*schema{}, Closed: new(bool)}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if options != "omitempty" {
			s.Required = append(s.Required, name)
		}
		s.Properties[name] = property(f)
	}
	return s
}

func property(f reflect.StructField) *schema {
	switch {
	case f.Type == reflect.TypeFor[json.RawMessage]():
		return &schema{} // any value
	case f.Type.Kind() == reflect.Struct:
		return schemaOf(f.Type)
	case f.Type == reflect.TypeFor[[]string]():
		return &schema{Type: "array", Items: &schema{Type: "string"}}
	case f.Type.Kind() == reflect.Uint64:
		return &schema{Type: "integer"}
	}
	p := &schema{Type: "string", Format: f.Tag.Get("format")}
	if words := f.Tag.Get("enum"); words != "" {
		p.Enum = strings.Split(words, ",")
	}
	return p
}

// The contract has a schema for each effect that is published, and none for others.
func TestContractHasAllMessages(t *testing.T) {
	g := gomega.NewWithT(t)
	all := slices.Collect(maps.Keys(ownMessages))
	for _, f := range []run.Effect{
		run.StateChanged{}, run.ReplyAccepted{}, run.AutoDecided{}, run.Conclude{}, run.StopTurn{}, run.DecideAlone{}, run.ArmTimeout{}, run.AnswerReply{},
	} {
		if published(f) != nil {
			all = append(all, f.Name())
		}
	}
	g.Expect(slices.Collect(maps.Keys(messageSchemas))).To(gomega.ConsistOf(all))
}

func TestMessagesThatBreakTheContract(t *testing.T) {
	for text, kind := range map[string]string{
		`{"from":"queued","to":"running","trigger":"turn.started"}`:                                         "conversation.state.changed",
		`{"from":"queued","to":"running","trigger":"turn.started","updated_at":"now"}`:                      "conversation.state.changed",
		`{"from":"lost","to":"running","trigger":"turn.started","updated_at":"2026-01-01T00:00:00Z"}`:       "conversation.state.changed",
		`{"interaction_id":"","resolution_mode":"user_reply","accepted_at":"2026-01-01T00:00:00Z"}`:         "interaction.reply.accepted",
		`{"interaction_id":"ia_1","resolution_mode":"model","accepted_at":"2026-01-01T00:00:00Z"}`:          "interaction.reply.accepted",
		`{"interaction_id":"ia_1","resolution_mode":"auto_decide_timeout","policy":"auto_decide","more":1}`: "interaction.auto_decide.timeout",
		`{"interaction_id":"ia_1","kind":"question","prompt":"Where?","choices":"Oslo"}`:                    TypeRequested,
		`{"interaction_id":"ia_1","kind":"question","prompt":"Where?","choices":[1]}`:                       TypeRequested,
		`{"interaction_id":"ia_1"}`:         typeReplied,
		`{"text":1}`:                        typeProgress,
		`[]`:                                typeProgress,
		`{"status":"done"}`:                 TypeResult,
		`{"text":"a message of no schema"}`: "run.other",
	} {
		gomega.NewWithT(t).Expect(checkMessage(kind, []byte(text))).NotTo(gomega.Succeed(), "%s %s", kind, text)
	}
}

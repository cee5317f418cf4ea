package trace

// Checks a recorded trace, and that no changed line of it passes.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
)

func TestMain(m *testing.M) {
	check.Main()
	os.Exit(m.Run())
}

// recorded is what `antiphon serve --trace` wrote of two calls, over WebRTC and over a WebSocket, in e2e's
// TestServeRecordsWhatHappened: turns, an interruption, a call that ends while the agent speaks.
const recorded = "testdata/calls.jsonl"

func lines(g *gomega.WithT) []string {
	text, err := os.ReadFile(recorded)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

func refused(text []string) error {
	return New().Log("log", strings.NewReader(strings.Join(text, "\n")))
}

func TestRecorded(t *testing.T) {
	g := gomega.NewWithT(t)
	c := New()
	g.Expect(c.Log(recorded, strings.NewReader(strings.Join(lines(g), "\n")))).To(gomega.Succeed())
	f := c.Figures()
	g.Expect(f.Sessions).To(gomega.Equal(2))
	g.Expect(f.Steps).To(gomega.BeNumerically(">", 100))
	g.Expect(f.Ignored).To(gomega.BeNumerically(">", 10))
}

// object is a line to mutate.
type object = map[string]any

// mutated is the log with one line changed, the nth of a machine's action.
func mutated(g *gomega.WithT, machine, action string, change func(object)) []string {
	all := lines(g)
	for i, text := range all {
		o := object{}
		g.Expect(json.Unmarshal([]byte(text), &o)).To(gomega.Succeed())
		if act, _ := o["action"].(string); o["machine"] != machine || act != action {
			continue
		}
		change(o)
		var b bytes.Buffer
		g.Expect(json.NewEncoder(&b).Encode(o)).To(gomega.Succeed())
		all[i] = strings.TrimSuffix(b.String(), "\n")
		return all
	}
	g.Expect(all).To(gomega.BeEmpty(), "the log has no such line of "+machine+": "+action)
	return nil
}

func valueOf(name string, data object) object { return object{"name": name, "data": data} }

// faults are lines that a server never wrote.
var faults = []struct {
	name            string
	machine, action string
	change          func(object)
	want            string
}{
	{
		"another next state", "response", "StartByTurn",
		func(o object) { o["to"] = valueOf("Draining", object{"Old": 1}) }, "it goes to Draining old=1, not to Active id=1",
	},
	{
		"another identifier", "response", "StartByTurn",
		func(o object) { o["to"] = valueOf("Active", object{"ID": 2}) }, "it goes to Active id=2, not to Active id=1",
	},
	{
		"an effect is missing", "response", "StartByTurn",
		func(o object) { o["effects"] = o["effects"].([]any)[:1] }, "its effects are EmitCreated id=1 request=(0, 1), not EmitCreated id=1 request=(0, 1); StartBody id=1",
	},
	{
		"the effects are swapped", "response", "StartByTurn",
		func(o object) { slices.Reverse(o["effects"].([]any)) }, "its effects are StartBody id=1; EmitCreated id=1 request=(0, 1)",
	},
	{
		"another action", "response", "StartByTurn", func(o object) { o["action"] = "Start" }, `"Start", not "StartByTurn"`,
	},
	{
		"another state before", "turn", "Commit",
		func(o object) { o["from"] = valueOf("Idle", object{}) }, "it goes on from Idle, but it was Speaking",
	},
	{
		"a step that the machine ignores", "turn", "",
		func(o object) { delete(o, "why"); o["action"] = "Commit" }, `"Commit", not "`,
	},
	{
		"another reason", "response", "", func(o object) { o["why"] = "it is late" }, `"it is late", not "`,
	},
	{
		"an ignored event that does something", "response", "",
		func(o object) { o["effects"] = []any{valueOf("CancelBody", object{"ID": 1})} }, "its effects are CancelBody id=1, not none",
	},
	{"both an action and a reason", "turn", "Commit", func(o object) { o["why"] = "so" }, "it has either an action or a reason"},
	{"no session", "turn", "Commit", func(o object) { o["session"] = "" }, "it has no session"},
	{"no time", "turn", "Commit", func(o object) { delete(o, "t") }, "it has no time"},
	{
		"an earlier time", "turn", "Commit", func(o object) { o["t"] = "2026-01-01T00:00:00Z" }, "it is earlier than the step before it",
	},
	{"an unknown machine", "turn", "Commit", func(o object) { o["machine"] = "bargein" }, "there is no such machine"},
	{"a part that there is not", "turn", "Commit", func(o object) { o["machine"] = "turn.final" }, "there is no such machine"},
	{"an unknown field", "turn", "Commit", func(o object) { o["note"] = "" }, "it is no line of a trace"},
	{
		"an unknown event", "turn", "Commit",
		func(o object) { o["event"] = valueOf("Guess", object{}) }, "this machine has no Guess",
	},
	{
		"a field that the event has not", "turn", "OpenTurn",
		func(o object) { o["event"] = valueOf("Onset", object{"Turn": 1, "Loud": true}) }, "it is no line of a trace",
	},
	{
		"a field that is not written", "turn", "OpenTurn",
		func(o object) { o["event"] = valueOf("Onset", object{"Turn": 1}) }, "does not have each field once",
	},
	{
		"a voice that nobody asked for", "synthesis", "Begin",
		func(o object) { o["event"] = valueOf("StartBody", object{"ID": 7}) }, "which the response did not ask for",
	},
	{
		"a voice that begins closed", "synthesis", "Begin",
		func(o object) { o["to"] = valueOf("Closed", object{}) }, "Begin gives it Closed, not Open",
	},
	{
		"a stream of another turn", "transcription.final", "TakeOver",
		func(o object) { o["to"] = valueOf("Streaming", object{"Turn": 9, "EOU": false}) }, "TakeOver gives it Streaming turn=9",
	},
	{
		"a stream that is kept", "transcription", "HandOver",
		func(o object) { o["to"] = o["from"] }, "HandOver gives it Streaming",
	},
}

func TestMutated(t *testing.T) {
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			g.Expect(refused(mutated(g, c.machine, c.action, c.change))).To(gomega.MatchError(gomega.ContainSubstring(c.want)))
		})
	}
}

func TestTorn(t *testing.T) {
	t.Run("a log without a line", func(t *testing.T) {
		gomega.NewWithT(t).Expect(refused(nil)).To(gomega.MatchError("log:1: there is no step in it"))
	})
	t.Run("a line that breaks off", func(t *testing.T) {
		g := gomega.NewWithT(t)
		all := lines(g)
		all[len(all)-1] = all[len(all)-1][:40]
		err := refused(all)
		var r *Refused
		g.Expect(errors.As(err, &r)).To(gomega.BeTrue())
		g.Expect(r.Line).To(gomega.Equal(len(all)))
	})
	t.Run("two objects on a line", func(t *testing.T) {
		g := gomega.NewWithT(t)
		all := lines(g)
		all[0] += "{}"
		g.Expect(refused(all)).To(gomega.MatchError("log:1: there is more on the line than one object"))
	})
}

// parsed is the little that TestEveryLine asks of a line.
type parsed struct {
	Session, Machine string
	From, To         any
	Effects          []any
}

// TestEveryLine: no step can be left out unseen, where its machine goes on after it, and no effect dropped or doubled.
func TestEveryLine(t *testing.T) {
	g := gomega.NewWithT(t)
	all := lines(g)
	g.Expect(refused(mutated(g, "turn", "Commit", func(object) {}))).To(gomega.Succeed(), "that it is written anew is no fault")
	tried := 0
	for i, text := range all {
		var l parsed
		g.Expect(json.Unmarshal([]byte(text), &l)).To(gomega.Succeed())
		goesOn := slices.ContainsFunc(all[i+1:], func(later string) bool {
			return strings.Contains(later, `"session":"`+l.Session+`","machine":"`+l.Machine+`"`)
		})
		if goesOn && fmt.Sprint(l.From) != fmt.Sprint(l.To) {
			tried++
			g.Expect(refused(slices.Delete(slices.Clone(all), i, i+1))).NotTo(gomega.Succeed(), "left out: "+text)
		}
		for k := range l.Effects {
			for what, change := range map[string]func([]any) []any{
				"dropped": func(f []any) []any { return slices.Delete(f, k, k+1) },
				"doubled": func(f []any) []any { return slices.Insert(f, k, f[k]) },
			} {
				o := object{}
				g.Expect(json.Unmarshal([]byte(text), &o)).To(gomega.Succeed())
				o["effects"] = change(o["effects"].([]any))
				out, err := json.Marshal(o)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				tried++
				changed := slices.Clone(all)
				changed[i] = string(out)
				g.Expect(refused(changed)).NotTo(gomega.Succeed(), what+": "+text)
			}
		}
	}
	g.Expect(tried).To(gomega.BeNumerically(">", 150))
}

package scripted

// The answers of the scripted model.

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestModelStories shows what the model answers. Commands: script (a YAML script from here on), tools (name, then its schema,
// a line each), ask (a conversation: "user: …", "tool NAME: …" lines).
func TestModelStories(t *testing.T) {
	script := &Script{}
	var tools []pipeline.Tool
	datadriven.RunTest(t, "testdata/model.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "script":
			s, err := Parse("script.yaml", []byte(d.Input))
			if err != nil {
				return err.Error() + "\n"
			}
			script = s
			return "ok\n"
		case "tools":
			tools = nil
			for l := range strings.Lines(d.Input) {
				name, schema, _ := strings.Cut(strings.TrimSpace(l), " ")
				tools = append(tools, pipeline.Tool{Name: name, Parameters: []byte(schema)})
			}
			return strconv.Itoa(len(tools)) + "\n"
		}
		r := pipeline.Request{Tools: tools, Messages: conversation(d.Input), ParallelToolCalls: d.HasArg("parallel")}
		d.MaybeScanArgs(t, "choice", &r.ToolChoice)
		d.MaybeScanArgs(t, "max", &r.MaxOutputTokens)
		var out string
		synctest.Test(t, func(t *testing.T) { out = run(t.Context(), script, r) })
		return out
	})
}

func conversation(input string) []pipeline.Message {
	var out []pipeline.Message
	for l := range strings.Lines(input) {
		who, text, _ := strings.Cut(strings.TrimSpace(l), ": ")
		if name, ok := strings.CutPrefix(who, "tool "); ok {
			id := strconv.Itoa(len(out))
			out = append(out, pipeline.Message{Role: pipeline.RoleAssistant, Call: &pipeline.ToolCall{ID: id, Name: name, Arguments: "{}"}},
				pipeline.Message{Role: pipeline.RoleUser, Result: &pipeline.ToolResult{CallID: id, Output: text}})
			continue
		}
		out = append(out, pipeline.Message{Role: who, Text: text})
	}
	return out
}

// run renders an answer: its text, its calls, its error, its usage. What stalls is cancelled.
func run(ctx context.Context, s *Script, r pipeline.Request) string {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var text, calls, args strings.Builder
	usage, err := New(Options{Script: s}).Model.Generate(ctx, r, func(e pipeline.ModelEvent) error {
		switch e := e.(type) {
		case pipeline.TextDelta:
			text.WriteString(e.Text)
		case pipeline.ToolCallDelta:
			args.WriteString(e.Arguments)
		case pipeline.ToolCallDone:
			calls.WriteString("call " + strconv.Itoa(e.Index) + " " + e.Name + e.Arguments + "\n")
			if args.String() != e.Arguments {
				calls.WriteString("but its deltas were " + args.String() + "\n")
			}
			args.Reset()
		}
		return nil
	})
	out := calls.String()
	if text.Len() > 0 {
		out = strconv.Quote(text.String()) + "\n" + out
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		out += "stalls\n"
	case err != nil:
		out += err.Error() + "\n"
	}
	return out + strconv.Itoa(usage.InputTokens) + " in, " + strconv.Itoa(usage.OutputTokens) + " out\n"
}

// TestTokensTakeTheirTime runs the clock of the script.
func TestTokensTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s, err := Parse("", []byte("model: {first_token: 200ms, token: 50ms}"))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		start := time.Now()
		var at []time.Duration
		_, err = New(Options{Script: s}).Model.Generate(t.Context(), pipeline.Request{Messages: conversation("user: a b")}, func(pipeline.ModelEvent) error {
			at = append(at, time.Since(start))
			return nil
		})
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(at).To(gomega.Equal([]time.Duration{200 * time.Millisecond, 250 * time.Millisecond, 300 * time.Millisecond, 350 * time.Millisecond}))
	})
}

func TestWordsAreBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	n, ok := sayWords("Say 999999 words!")
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(strings.Fields(countTo(n))).To(gomega.HaveLen(MaxWords))
	_, ok = sayWords("say 99999999999999999999 words")
	g.Expect(ok).To(gomega.BeFalse())
}

func TestModelStopsAtEmitsError(t *testing.T) {
	g := gomega.NewWithT(t)
	full := errors.New("full")
	n := 0
	usage, err := New(Options{}).Model.Generate(t.Context(), pipeline.Request{Messages: conversation("user: one two three")}, func(pipeline.ModelEvent) error {
		n++
		return full
	})
	g.Expect(err).To(gomega.MatchError(full))
	g.Expect(n).To(gomega.Equal(1))
	g.Expect(usage.OutputTokens).To(gomega.Equal(1))
}

package session

// Summaries of long conversations.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// noting is a model with a window of 8000 tokens of four bytes. It answers with ok, and writes summaries as notes says.
type noting struct {
	pipeline.Model
	notes  func(ctx context.Context, n int, emit func(pipeline.ModelEvent) error) error
	answer func(n int) []pipeline.ModelEvent // nil: ok

	mu       sync.Mutex
	asked    []pipeline.Request // for answers
	noted    []pipeline.Request // for summaries
	finished chan struct{}      // gets an entry at the end of each summary
}

// CountTokens implements pipeline.TokenCounter.
func (*noting) CountTokens(text string) int { return len(text) / 4 }

// ContextWindow implements pipeline.TokenCounter.
func (*noting) ContextWindow() int { return 8000 }

// Generate implements pipeline.Model.
func (m *noting) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	forSummary := strings.HasPrefix(r.Instructions, "You take notes")
	m.mu.Lock()
	log := &m.asked
	if forSummary {
		log = &m.noted
	}
	*log = append(*log, r)
	n := len(*log)
	m.mu.Unlock()
	if forSummary {
		err := m.notes(ctx, n, emit)
		m.finished <- struct{}{}
		return pipeline.Usage{InputTokens: 50, OutputTokens: 5}, err
	}
	events := []pipeline.ModelEvent{say("ok")}
	if m.answer != nil {
		events = m.answer(n)
	}
	for _, e := range events {
		if err := emit(e); err != nil {
			return pipeline.Usage{}, err
		}
	}
	return pipeline.Usage{}, nil
}

// newest returns the newest request for an answer: its instructions, and the first bytes of its messages.
func (m *noting) newest() (instructions string, messages []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.asked[len(m.asked)-1]
	for _, msg := range r.Messages {
		switch {
		case msg.Call != nil:
			messages = append(messages, "call "+msg.Call.ID)
		case msg.Result != nil:
			messages = append(messages, "result "+msg.Result.CallID)
		default:
			messages = append(messages, strings.TrimSpace(msg.Text[:min(len(msg.Text), 3)]))
		}
	}
	return r.Instructions, messages
}

func (m *noting) summaries() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.noted)
}

// brief writes a short summary.
func brief(_ context.Context, n int, emit func(pipeline.ModelEvent) error) error {
	return emit(pipeline.TextDelta{Text: fmt.Sprintf(" They counted. Summary %d. ", n)})
}

// callNoting places a call of a session whose model is m.
func callNoting(t *testing.T, m *noting, o Options) *caller {
	t.Helper()
	p := plain()
	m.Model, m.finished = p.Model, make(chan struct{}, 100)
	p.Model = m
	c := newCallerWith(t, Config{Pipeline: p, Settings: wire.DefaultSession(), Options: o}).start()
	c.send(`{"type":"antiphon.hello"}`)
	first(c, "antiphon.ack")
	return c
}

// number returns the text of the n-th note: 400 tokens that begin with n.
func number(n int) string { return fmt.Sprintf("%02d %s", n, strings.Repeat("many words. ", 133)) }

// notes creates the notes from to to, with the names note-01 and so on.
func (c *caller) notes(from, to int) {
	for n := from; n <= to; n++ {
		c.item(fmt.Sprintf(`{"id":"note-%02d","type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, n, number(n)))
	}
}

// In these tests the window of 8000 tokens leaves 4000 for the conversation: so 2800 are too many, and 1400 are left.

// TestSummaries: above 70 % of the model's context the model reads a summary in place of the oldest items.
func TestSummaries(t *testing.T) {
	story(t, "a long conversation is summarised, and later once more", func(t *testing.T) {
		m := &noting{notes: brief}
		c := callNoting(t, m, Options{})
		c.notes(1, 6)
		c.g.Expect(m.summaries()).To(gomega.BeZero(), "2400 tokens are not too many")
		c.notes(7, 8)
		e := next[*wire.AntiphonConversationCompacted](c, "antiphon.conversation.compacted")
		c.g.Expect([]any{e.Items, e.LastItemID, e.Summary}).To(gomega.Equal([]any{4, "note-04", "They counted. Summary 1."}))
		c.g.Expect(e.TokensBefore).To(gomega.BeNumerically(">", 2800))
		c.g.Expect(e.TokensAfter).To(gomega.BeNumerically("<", 1700))
		c.answer()
		instructions, messages := m.newest()
		c.g.Expect(instructions).To(gomega.HaveSuffix("A summary of what is left out below:\nThey counted. Summary 1."))
		c.g.Expect(messages).To(gomega.Equal([]string{"05", "06", "07", "08"}))
		c.g.Expect(m.noted[0].Messages[0].Text).To(gomega.And(gomega.ContainSubstring("user: 01"), gomega.ContainSubstring("user: 04")))
		c.g.Expect(c.retrieve("note-01").Content[0].Text).To(gomega.HavePrefix("01"), "the conversation keeps the items")
		c.g.Expect(c.count("conversation.item.deleted")).To(gomega.BeZero())

		c.notes(9, 12)
		again := next[*wire.AntiphonConversationCompacted](c, "antiphon.conversation.compacted")
		c.g.Expect(again.Summary).To(gomega.Equal("They counted. Summary 2."))
		c.g.Expect(m.noted[1].Messages[0].Text).To(gomega.HavePrefix("Summary of what came before:\nThey counted. Summary 1.\n\nuser: 05"))
	})
	story(t, "inside of a long loop of tools, and the user's question stays", func(t *testing.T) {
		m := &noting{notes: brief, answer: func(n int) []pipeline.ModelEvent {
			if n <= 9 {
				return []pipeline.ModelEvent{callsTool(0, "read")}
			}
			return []pipeline.ModelEvent{say("Done.")}
		}}
		read := pipeline.ServerTool{Tool: pipeline.Tool{Name: "read"}, Run: func(context.Context, string) (string, error) {
			wait(100 * time.Millisecond) // a summary that has begun is written meanwhile
			return number(0), nil
		}}
		c := callNoting(t, m, Options{Tools: pipeline.ServerTools{Tools: []pipeline.ServerTool{read}}})
		c.note("why")
		done := c.answer()
		c.g.Expect(done.Status).To(gomega.Equal("completed"))
		c.g.Expect(done.Output).To(gomega.HaveLen(10))
		c.g.Expect(c.count("antiphon.conversation.compacted")).To(gomega.BeNumerically(">=", 1))
		instructions, messages := m.newest()
		c.g.Expect(instructions).To(gomega.ContainSubstring("They counted."))
		c.g.Expect(messages[0]).To(gomega.Equal("why"))
		c.g.Expect(len(messages)).To(gomega.BeNumerically("<", 2*9))
		for i := 1; i < len(messages); i += 2 {
			c.g.Expect(messages[i+1]).To(gomega.Equal("result"+strings.TrimPrefix(messages[i], "call")), "a call and its result stay together")
		}
	})
	story(t, "off", func(t *testing.T) {
		m := &noting{notes: brief}
		c := callNoting(t, m, Options{Summaries: conversation.SummaryLimits{Off: true}})
		c.notes(1, 9)
		c.g.Expect(m.summaries()).To(gomega.BeZero())
	})
}

// TestSummariesThatFail: without a good summary the model reads the whole conversation.
func TestSummariesThatFail(t *testing.T) {
	for what, write := range map[string]func(ctx context.Context, n int, emit func(pipeline.ModelEvent) error) error{
		"hangs": func(ctx context.Context, _ int, _ func(pipeline.ModelEvent) error) error {
			<-ctx.Done()
			return ctx.Err()
		},
		"fails":          func(context.Context, int, func(pipeline.ModelEvent) error) error { return errors.New("out of memory") },
		"panics":         func(context.Context, int, func(pipeline.ModelEvent) error) error { panic("out of ideas") },
		"writes nothing": func(context.Context, int, func(pipeline.ModelEvent) error) error { return nil },
		"writes far too much": func(_ context.Context, _ int, emit func(pipeline.ModelEvent) error) error {
			return emit(say(strings.Repeat("long ", 5000)))
		},
		"writes no less": func(_ context.Context, _ int, emit func(pipeline.ModelEvent) error) error {
			return emit(say(strings.Repeat("long ", 3000)))
		},
	} {
		story(t, "a model that "+what+" leaves the conversation whole", func(t *testing.T) {
			m := &noting{notes: write}
			c := callNoting(t, m, Options{})
			c.notes(1, 8)
			wait(2 * time.Minute)
			c.g.Expect(m.summaries()).To(gomega.BeNumerically(">=", 1))
			c.answer()
			instructions, messages := m.newest()
			c.g.Expect(instructions).NotTo(gomega.ContainSubstring("summary"))
			c.g.Expect(messages).To(gomega.Equal([]string{"01", "02", "03", "04", "05", "06", "07", "08"}))
			c.g.Expect(c.count("antiphon.conversation.compacted")).To(gomega.BeZero())
			failed := m.summaries()
			for n := range 20 {
				c.notes(9+n, 9+n)
				wait(time.Second)
			}
			c.g.Expect(m.summaries()).To(gomega.BeNumerically("<=", failed+1), "the next one begins half a minute later")
		})
	}
	story(t, "the session ends while a summary is written", func(t *testing.T) {
		m := &noting{notes: func(ctx context.Context, _ int, _ func(pipeline.ModelEvent) error) error {
			<-ctx.Done()
			return ctx.Err()
		}}
		c := callNoting(t, m, Options{})
		c.notes(1, 8)
		wait(time.Second)
		c.g.Expect(m.summaries()).To(gomega.Equal(1))
		c.s.Close(0)
		<-c.s.Done()
		<-m.finished
	})
}

// TestSummariesOfAChangedBeginning: the client deletes an item of those that a summary stands for.
func TestSummariesOfAChangedBeginning(t *testing.T) {
	story(t, "a summary of a beginning that has changed is thrown away", func(t *testing.T) {
		gate := make(chan struct{})
		m := &noting{notes: func(ctx context.Context, n int, emit func(pipeline.ModelEvent) error) error {
			if n == 1 {
				<-gate
			}
			return brief(ctx, n, emit)
		}}
		c := callNoting(t, m, Options{})
		c.notes(1, 8)
		c.send(`{"type":"conversation.item.delete","item_id":"note-02"}`)
		first(c, "conversation.item.deleted")
		c.notes(9, 9)
		close(gate)
		e := next[*wire.AntiphonConversationCompacted](c, "antiphon.conversation.compacted")
		c.g.Expect(e.Summary).To(gomega.HaveSuffix("Summary 2."), "the items that came meanwhile have begun a further one")
		c.g.Expect(m.noted[1].Messages[0].Text).NotTo(gomega.ContainSubstring("user: 02"))
	})
	story(t, "an item that is deleted later is in no summary any more", func(t *testing.T) {
		m := &noting{notes: brief}
		c := callNoting(t, m, Options{})
		c.notes(1, 8)
		first(c, "antiphon.conversation.compacted")
		c.send(`{"type":"conversation.item.delete","item_id":"note-02"}`)
		first(c, "conversation.item.deleted")
		c.answer()
		instructions, messages := m.newest()
		c.g.Expect(instructions).NotTo(gomega.ContainSubstring("They counted."))
		c.g.Expect(messages[:3]).To(gomega.Equal([]string{"01", "03", "04"}))
	})
}

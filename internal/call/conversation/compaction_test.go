package conversation

// Which items are summarised, and how long that takes.

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// long returns a conversation of items, each of which is a letter: u and a are messages of the user and of the assistant, c and r a tool call and its
// result (the n-th r belongs to the n-th c), m a call of a tool of the server, i one that runs, p a message whose transcript is awaited. Each item has
// 500 tokens. The model has a window of 32,768.
func long(letters string) *Conversation {
	c := New(env.System(), nil)
	text := strings.Repeat("word", 499)
	calls, results := 0, 0
	for i, kind := range letters {
		w := wire.Item{ID: fmt.Sprintf("item_%d", i), Type: wire.ItemMessage, Role: pipeline.RoleUser, Status: statusCompleted, Content: []wire.Content{{Type: "input_text", Text: text}}}
		switch kind {
		case 'a':
			w.Role = pipeline.RoleAssistant
		case 'c':
			calls++
			w = wire.Item{ID: w.ID, Type: wire.ItemFunctionCall, CallID: fmt.Sprint(calls), Arguments: text, Status: statusCompleted}
		case 'r':
			results++
			w = wire.Item{ID: w.ID, Type: wire.ItemFunctionCallOutput, CallID: fmt.Sprint(results), Output: text, Status: statusCompleted}
		case 'm', 'i':
			w = wire.Item{ID: w.ID, Type: wire.ItemMCPCall, Arguments: "{}", Output: text, Status: statusCompleted}
			if kind == 'i' {
				w.Status = "in_progress"
			}
		}
		it, _, _ := c.Append(w)
		if kind == 'p' {
			it.AwaitTranscript()
		}
	}
	return c
}

func TestHead(t *testing.T) {
	for name, scene := range map[string]struct {
		items string
		want  string // the items that are summarised, by their letters
	}{
		"short":                                   {strings.Repeat("ua", 10), ""},
		"long":                                    {strings.Repeat("ua", 25), strings.Repeat("ua", 15)},
		"a call and its result at the border":     {strings.Repeat("ua", 15) + "cr" + strings.Repeat("ua", 9), strings.Repeat("ua", 15)},
		"calls and results that cross":            {strings.Repeat("ua", 14) + "accrr" + strings.Repeat("ua", 9), strings.Repeat("ua", 14) + "a"},
		"a call whose result is awaited":          {"ua" + strings.Repeat("a", 20) + "c" + strings.Repeat("a", 30), "a" + strings.Repeat("a", 20)},
		"a call that nobody has answered":         {"ucua" + strings.Repeat("ua", 24), "ucua" + strings.Repeat("ua", 14)},
		"a call of the server's tool":             {strings.Repeat("um", 25), strings.Repeat("um", 15)},
		"a tool of the server that runs":          {"uai" + strings.Repeat("ua", 24), "ua"},
		"a transcript that is awaited":            {"uap" + strings.Repeat("ua", 24), "ua"},
		"a loop of tools: the question is left":   {"u" + strings.Repeat("m", 49), strings.Repeat("m", 29)},
		"nothing but items that are not complete": {"p" + strings.Repeat("ua", 24), ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := long(scene.items)
			h, ok := c.Head(&pipeline.Request{}, Bounds{At: 0.7, Keep: 0.35})
			got := ""
			for _, it := range h.Items {
				got += scene.items[it2index(it.ID) : it2index(it.ID)+1]
			}
			g.Expect(got).To(gomega.Equal(scene.want))
			g.Expect(ok).To(gomega.Equal(scene.want != ""))
		})
	}
}

// it2index returns the index in the name of an item.
func it2index(name string) (i int) {
	_, _ = fmt.Sscanf(name, "item_%d", &i)
	return i
}

// TestSummarise: a summary counts only for the beginning that it was made of.
func TestSummarise(t *testing.T) {
	for name, change := range map[string]func(c *Conversation){
		"":                         func(*Conversation) {},
		"an item was added":        func(c *Conversation) { c.Append(wire.Item{ID: "x", Type: wire.ItemMessage, Role: "user"}) },
		"an item was deleted":      func(c *Conversation) { _, _ = c.Delete("item_3") },
		"an item came before":      func(c *Conversation) { _, _, _, _ = c.insert(wire.Item{ID: "x", Type: wire.ItemMessage}, "root") },
		"a text has changed":       func(c *Conversation) { c.items[2].Content = []wire.Content{{Text: "less"}} },
		"an item has made room":    func(c *Conversation) { c.items = c.items[1:] },
		"an item was left out":     func(c *Conversation) { c.items[0].left = true },
		"another summary has come": func(c *Conversation) { c.summary = "It was long." },
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			c := long(strings.Repeat("ua", 25))
			h, ok := c.Head(&pipeline.Request{}, Bounds{At: 0.7, Keep: 0.35})
			g.Expect(ok).To(gomega.BeTrue())
			change(c)
			_, ok = c.Summarise(h, "They talked.")
			g.Expect(ok).To(gomega.Equal(name == "" || name == "an item was added"))
			p, err := c.Request(pipeline.Request{Instructions: "Be brief."}, Ask{})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(strings.HasSuffix(p.Request.Instructions, "They talked.")).To(gomega.Equal(ok))
		})
	}
}

// BenchmarkSummary measures what a summary costs the actor in a conversation of 1000 items: to see that nothing is due, to take the beginning,
// and to put the summary in its place.
func BenchmarkSummary(b *testing.B) {
	full := func() *Conversation {
		c := New(env.System(), nil)
		for i := range maxItems {
			c.Append(wire.Item{
				ID: fmt.Sprintf("item_%d", i), Type: wire.ItemMessage, Role: pipeline.RoleUser, Status: statusCompleted,
				Content: []wire.Content{{Type: "input_text", Text: strings.Repeat("word", 24)}},
			})
		}
		return c
	}
	bounds := Bounds{At: 0.7, Keep: 0.35}
	b.Run("not_due", func(b *testing.B) {
		c := full()
		for b.Loop() {
			c.Head(&pipeline.Request{}, Bounds{At: 2, Keep: 1})
		}
	})
	b.Run("head", func(b *testing.B) {
		c := full()
		for b.Loop() {
			c.Head(&pipeline.Request{}, bounds)
		}
	})
	b.Run("commit", func(b *testing.B) {
		c := full()
		h, _ := c.Head(&pipeline.Request{}, bounds)
		var done Compacted
		for b.Loop() {
			done, _ = c.Summarise(h, "They talked about many words.")
			c.summary = ""
			for _, it := range h.items {
				it.summarised = false
			}
		}
		b.ReportMetric(float64(done.Before), "tokens_before")
		b.ReportMetric(float64(done.After), "tokens_after")
	})
}

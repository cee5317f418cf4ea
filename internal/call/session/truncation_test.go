package session

// Truncation of long conversations, and the usage of responses.

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// requestLog is the scripted model with a record of all requests. It counts tokens and has a window as the scripted model does.
type requestLog struct {
	counting
	mu    sync.Mutex
	asked []pipeline.Request
}

type counting interface {
	pipeline.Model
	pipeline.TokenCounter
}

// Generate implements pipeline.Model.
func (l *requestLog) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	l.mu.Lock()
	l.asked = append(l.asked, r)
	l.mu.Unlock()
	return l.counting.Generate(ctx, r, emit)
}

// last returns the texts of the newest request's messages.
func (l *requestLog) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, m := range l.asked[len(l.asked)-1].Messages {
		switch {
		case m.Call != nil:
			out = append(out, "call:"+m.Call.Name)
		case m.Result != nil:
			out = append(out, "result:"+m.Result.Output)
		default:
			out = append(out, m.Text)
		}
	}
	return strings.Join(out, "|")
}

func (l *requestLog) request() pipeline.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked[len(l.asked)-1]
}

func remembered(p *pipeline.Pipeline) (*pipeline.Pipeline, *requestLog) {
	l := &requestLog{counting: p.Model.(counting)}
	p.Model = l
	return p, l
}

// item creates an item in the conversation.
func (c *caller) item(item string) {
	c.send(`{"type":"conversation.item.create","item":` + item + `}`)
	first(c, "conversation.item.done")
}

// note creates a message of the user in the conversation.
func (c *caller) note(text string) {
	c.item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`)
}

// answer requests a response in text and returns it.
func (c *caller) answer() wire.Response {
	c.t.Helper()
	c.send(`{"type":"response.create","response":{"output_modalities":["text"]}}`)
	return next[*wire.ResponseDone](c, "response.done").Response
}

func TestTruncation(t *testing.T) {
	story(t, "beyond the limit the oldest items are left out, down to the retained share, and stay out", func(t *testing.T) {
		p, l := remembered(byScript(t, `model: {replies: [{say: ok}]}`))
		c := byWebSocket(t, p)
		c.settle(`"truncation":{"type":"retention_ratio","retention_ratio":0.5,"token_limits":{"post_instructions":10}}`)
		for _, text := range []string{"a a a", "b b b", "c c c"} {
			c.note(text)
		}
		c.answer()
		c.g.Expect(l.last()).To(gomega.Equal("a a a|b b b|c c c"))
		c.note("d d")
		c.g.Expect(c.answer().Usage.InputTokens).To(gomega.Equal(3))
		c.g.Expect(l.last()).To(gomega.Equal("ok|d d"))
		c.note("e e e e")
		c.answer()
		c.g.Expect(l.last()).To(gomega.Equal("ok|d d|ok|e e e e"))
		c.g.Expect(c.count("conversation.item.deleted")).To(gomega.BeZero(), "the conversation keeps them")
	})
}

// TestTruncationByTheWindow: the limit is the model's own window.
func TestTruncationByTheWindow(t *testing.T) {
	story(t, "truncation is disabled: the response fails and says why", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `model: {window: 20}`))
		c.settle(`"truncation":"disabled","max_output_tokens":10`)
		c.note("a a a a a a")
		c.g.Expect(c.answer().Status).To(gomega.Equal("completed"))
		c.note("b b b")
		failed := c.answer()
		c.g.Expect(failed.Status).To(gomega.Equal("failed"))
		c.g.Expect(*failed.StatusDetails.Error).To(gomega.Equal(wire.StatusError{Type: "invalid_request_error", Code: "context_length_exceeded"}))
		c.askOutOfBand(asText)
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.StatusDetails.Error.Code).To(gomega.Equal("context_length_exceeded"))
		c.settle(`"truncation":"auto"`)
		c.g.Expect(c.answer().Status).To(gomega.Equal("completed"))
	})
}

// A response that asks with settings of its own takes no message from the conversation.
func TestOneResponseLeavesNothingOutForGood(t *testing.T) {
	const long = `,"instructions":"` + "one two three four five six seven eight" + `"`
	for name, request := range map[string]string{
		"out of band":                     `,"conversation":"none"` + long,
		"with long instructions":          long,
		"with a larger limit of its own":  `,"max_output_tokens":16`,
		"with a tool that is long to say": `,"tools":[{"type":"function","name":"clock","description":"one two three four five six seven eight"}]`,
	} {
		story(t, name, func(t *testing.T) {
			p, l := remembered(byScript(t, `model: {window: 20, replies: [{say: ok}]}`))
			c := byWebSocket(t, p)
			c.settle(`"max_output_tokens":1`)
			c.note("a a a a a a")
			c.note("b b b b b b")
			c.send(`{"type":"response.create","response":{"output_modalities":["text"]` + request + `}}`)
			first(c, "response.done")
			c.g.Expect(l.last()).To(gomega.Equal("b b b b b b"))
			c.answer()
			c.g.Expect(l.last()).To(gomega.HavePrefix("a a a a a a|b b b b b b"))
		})
	}
}

func TestUsage(t *testing.T) {
	story(t, "a cancelled response reports the tokens that it has used", func(t *testing.T) {
		c := byWebSocket(t, byScript(t, `model: {token: 1s}`))
		c.settle(`"output_modalities":["text"],"instructions":"be kind"`)
		c.ask("say 40 words")
		for range 3 {
			first(c, "response.output_text.delta")
		}
		c.send(`{"type":"response.cancel"}`)
		u := next[*wire.ResponseDone](c, "response.done").Response.Usage
		c.g.Expect([]int{u.InputTokens, u.OutputTokens, u.TotalTokens}).To(gomega.Equal([]int{2 + 3, 3, 8}))
	})
}

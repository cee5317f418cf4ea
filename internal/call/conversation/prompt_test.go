package conversation

// The model's input: messages, truncation, and room for the answer.

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// truncation reads the session's setting of that name.
func truncation(t *testing.T, setting string) wire.Truncation {
	t.Helper()
	set := wire.DefaultSession()
	gomega.NewWithT(t).Expect(set.Merge(wire.Raw(`{"truncation":` + setting + `}`))).To(gomega.Succeed())
	return set.Truncate()
}

// asked returns a request's messages in one line.
func asked(p Prompt) string {
	var out []string
	for _, m := range p.Request.Messages {
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

// ask makes the request for a response, which then answers "ok".
func (r tester) ask(q pipeline.Request, set wire.Truncation) Prompt {
	r.t.Helper()
	p, err := r.Request(q, Ask{Truncation: set})
	r.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.g.Expect(p.Left).To(gomega.Equal(p.Messages - len(p.Request.Messages)))
	it, _ := r.Begin(wire.Item{Type: wire.ItemMessage, Role: "assistant"})
	it.Content = []wire.Content{{Type: wire.ContentOutputText, Text: "ok"}}
	return p
}

func TestTruncation(t *testing.T) {
	t.Run("beyond the limit the oldest items are left out, down to the retained share, and stay out", func(t *testing.T) {
		r := begin(t, "")
		set := truncation(t, `{"type":"retention_ratio","retention_ratio":0.5,"token_limits":{"post_instructions":10}}`)
		for _, text := range []string{"a a a", "b b b", "c c c"} {
			r.note(text)
		}
		r.g.Expect(asked(r.ask(pipeline.Request{}, set))).To(gomega.Equal("a a a|b b b|c c c"))
		r.note("d d")
		p := r.ask(pipeline.Request{}, set)
		r.g.Expect(p.Tokens).To(gomega.Equal(3))
		r.g.Expect(p.Left).To(gomega.Equal(3))
		r.g.Expect(asked(p)).To(gomega.Equal("ok|d d"))
		r.note("e e e e")
		r.g.Expect(asked(r.ask(pipeline.Request{}, set))).To(gomega.Equal("ok|d d|ok|e e e e"))
		r.g.Expect(r.items).To(gomega.HaveLen(8), "the conversation keeps them")
	})

	t.Run("the newest message stays, however long it is", func(t *testing.T) {
		r := begin(t, "")
		r.note("a")
		r.note("b b b")
		p := r.ask(pipeline.Request{}, truncation(t, `{"type":"retention_ratio","retention_ratio":0,"token_limits":{"post_instructions":2}}`))
		r.g.Expect(asked(p)).To(gomega.Equal("b b b"))
	})

	t.Run("a result goes with its call", func(t *testing.T) {
		r := begin(t, "")
		set := truncation(t, `{"type":"retention_ratio","retention_ratio":1,"token_limits":{"post_instructions":5}}`)
		r.create(`{"type":"function_call","call_id":"x","name":"clock","arguments":"a b"}`)
		r.create(`{"type":"function_call_output","call_id":"x","output":"noon"}`)
		r.note("b b b b")
		r.g.Expect(asked(r.ask(pipeline.Request{}, set))).To(gomega.Equal("b b b b"))
		r.create(`{"type":"function_call","call_id":"y","name":"tide","arguments":"a"}`)
		r.create(`{"type":"function_call_output","call_id":"y","output":"high"}`)
		r.g.Expect(asked(r.ask(pipeline.Request{}, set))).To(gomega.Equal("ok|call:tide|result:high"))
	})
}

// A tool that the server runs is one item with two messages.
func TestTruncationKeepsAnItemWhole(t *testing.T) {
	r := begin(t, "")
	r.Append(wire.Item{Type: wire.ItemMCPCall, ID: "x", Name: "clock", Arguments: "a b", Output: "noon", Status: statusCompleted})
	r.note("b b b b")
	set := truncation(t, `{"type":"retention_ratio","retention_ratio":1,"token_limits":{"post_instructions":5}}`)
	r.g.Expect(asked(r.ask(pipeline.Request{}, set))).To(gomega.Equal("call:clock|result:noon|b b b b"))
}

// The window is the limit that the model reports.
func TestTruncationByTheWindow(t *testing.T) {
	t.Run("auto leaves out messages for which the window has no room besides instructions and answer", func(t *testing.T) {
		r := begin(t, `model: {window: 20}`)
		q := pipeline.Request{Instructions: "be kind", MaxOutputTokens: 10}
		set := truncation(t, `"auto"`)
		r.note("a a a a")
		r.note("b b b b")
		r.g.Expect(asked(r.ask(q, set))).To(gomega.Equal("a a a a|b b b b"))
		r.note("c")
		r.g.Expect(asked(r.ask(q, set))).To(gomega.Equal("b b b b|ok|c"))
	})

	t.Run("disabled fails", func(t *testing.T) {
		r := begin(t, `model: {window: 20}`)
		q := pipeline.Request{MaxOutputTokens: 10, Instructions: "be kind"}
		disabled := truncation(t, `"disabled"`)
		r.note("a a a a")
		r.ask(q, disabled)
		r.note("b b b b")
		p, err := r.Request(q, Ask{Truncation: disabled})
		r.g.Expect(err).To(gomega.MatchError(ErrTooLong))
		r.g.Expect(p.Request.Messages).To(gomega.BeEmpty())
		r.g.Expect(p.Tokens).To(gomega.Equal(2), "the instructions")
		r.g.Expect(asked(r.ask(q, truncation(t, `"auto"`)))).To(gomega.Equal("ok|b b b b"), "nothing was left out for good")
	})
}

func TestTokensOfAModelWithoutTokens(t *testing.T) {
	g := gomega.NewWithT(t)
	c := New(env.System(), nil)
	g.Expect(c.Tokens("eight by")).To(gomega.Equal(2))
	g.Expect(c.window()).To(gomega.Equal(pipeline.DefaultContextWindow))
	g.Expect(c.messageTokens(pipeline.Message{Text: "four", Images: make([]pipeline.Image, 2)})).To(gomega.Equal(1 + 2*imageTokens))
}

func TestTheMessagesForTheModel(t *testing.T) {
	r := begin(t, "")
	r.note("hi")
	empty, _, _ := r.Append(wire.Item{Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputAudio}}})
	r.g.Expect(asked(r.ask(pipeline.Request{}, wire.Truncation{}))).To(gomega.Equal("hi"), "an item without words is no message")
	empty.SetTranscript(0, "there")
	p, err := r.Request(pipeline.Request{}, Ask{Idle: true, Truncation: truncation(t, `"auto"`)})
	r.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.g.Expect(asked(p)).To(gomega.Equal("hi|there|ok|" + stillThere))
	r.g.Expect(p.Request.Messages[3].Role).To(gomega.Equal(pipeline.RoleSystem))

	known := r.note("known")
	input := []wire.Item{{Type: wire.ItemReference, ID: known.ID}, {Type: wire.ItemReference, ID: "deleted meanwhile"}}
	p, err = r.Request(pipeline.Request{}, Ask{Input: input, HasInput: true})
	r.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.g.Expect(asked(p)).To(gomega.Equal("known"))
	p, err = r.Request(pipeline.Request{}, Ask{HasInput: true})
	r.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.g.Expect(p.Request.Messages).To(gomega.BeEmpty())
}

// The window has room for an answer: half of it at most. A smaller limit of the session applies instead.
func TestRoomForAnAnswer(t *testing.T) {
	r := begin(t, `model: {window: 20}`)
	r.note("a a a a a a a a")
	p, err := r.Request(pipeline.Request{}, Ask{Truncation: truncation(t, `"disabled"`)})
	r.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.g.Expect(p.Tokens).To(gomega.Equal(8))
	r.note("b b b")
	large := truncation(t, `{"type":"retention_ratio","retention_ratio":1,"token_limits":{"post_instructions":1000}}`)
	r.g.Expect(asked(r.ask(pipeline.Request{}, large))).To(gomega.Equal("b b b"))
}

func TestToolCallsThatTheModelReads(t *testing.T) {
	r := begin(t, "")
	r.create(`{"type":"function_call","call_id":"x","name":"clock","arguments":"a b"}`)
	r.Append(wire.Item{Type: wire.ItemFunctionCall, CallID: "y", Name: "tide", Status: statusIncomplete})
	p := r.ask(pipeline.Request{}, wire.Truncation{})
	r.g.Expect(asked(p)).To(gomega.Equal("call:clock"), "a call that was cut off is none")
	r.g.Expect(p.Tokens).To(gomega.Equal(3), "its name and its arguments")
}

func TestTextOfAMessage(t *testing.T) {
	said := "b"
	parts := []wire.Content{{Text: "a"}, {}, {Transcript: &said}, {Type: wire.ContentInputImage}, {Text: "c"}}
	gomega.NewWithT(t).Expect(contentText(parts)).To(gomega.Equal("a\nb\nc"))
}

// The work grows with the number of parts, not with its square: an event of many parts would cost seconds.
func TestTextOfManyParts(t *testing.T) {
	g := gomega.NewWithT(t)
	parts := make([]wire.Content, 200_000)
	for i := range parts {
		parts[i].Text = "some words"
	}
	g.Expect(contentText(parts)).To(gomega.HaveLen(len(parts)*11 - 1))
	g.Expect(testing.AllocsPerRun(1, func() { contentText(parts) })).To(gomega.BeNumerically("<", 100))
}

// The model hears of an interruption, wherever the message stands.
func TestAnInterruptedMessage(t *testing.T) {
	r := begin(t, "")
	it, _ := r.Begin(wire.Item{Type: wire.ItemMessage, Role: "assistant"})
	it.AddClause("One two three four. ")
	it.SpokenClause(0, 0, 24000)
	it.EndClause(0, 24000)
	r.Cut(it, 500)
	r.note("stop")
	p, err := r.Request(pipeline.Request{}, Ask{Truncation: truncation(t, `"auto"`)})
	r.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.g.Expect(p.Request.Messages).To(gomega.Equal([]pipeline.Message{
		{Role: "assistant", Text: "One two", Interrupted: true}, {Role: "user", Text: "stop"},
	}))
	p, err = r.Request(pipeline.Request{}, Ask{HasInput: true, Input: []wire.Item{{Type: wire.ItemReference, ID: it.ID}}})
	r.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.g.Expect(p.Request.Messages[0].Interrupted).To(gomega.BeTrue())
}

// A request that asks for more room than the session does leaves out messages once. An ordinary one leaves them out for good.
func TestMessagesThatAreLeftOutOnce(t *testing.T) {
	r := begin(t, `model: {window: 20}`)
	set := truncation(t, `"auto"`)
	r.note("a a a a")
	r.note("b b b b")
	long := pipeline.Request{Instructions: "one two three four", MaxOutputTokens: 10}
	p, err := r.Request(long, Ask{Truncation: set, Once: true})
	r.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.g.Expect(asked(p)).To(gomega.Equal("b b b b"))
	r.g.Expect(p.Left).To(gomega.Equal(1))
	r.g.Expect(asked(r.ask(pipeline.Request{MaxOutputTokens: 10}, set))).To(gomega.Equal("a a a a|b b b b"))
	r.ask(long, set)
	r.g.Expect(asked(r.ask(pipeline.Request{MaxOutputTokens: 10}, set))).NotTo(gomega.ContainSubstring("a a a a"))
}

// Package assistant is the model of the embedded pipeline: a small assistant that needs no network and no weights. It makes
// conversation, counts, calculates, tells the time and stories, and calls the tools of the session. A sentence that it does not
// understand it repeats, and it then says what it can do.
//
// Except for the time, its answers are deterministic. A token is a word.
//
// This file has the interface of the model, and chooses who answers.
package assistant

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxCall limits how many bytes of the arguments of a tool call are in one delta.
const maxCall = 24

// model is the assistant. It has no state; all that it needs is in the request.
type model struct{ now func() time.Time }

// New returns the assistant. now is the clock for its answers; nil means time.Now.
func New(now func() time.Time) pipeline.Model {
	if now == nil {
		now = time.Now
	}
	return &model{now: now}
}

// Generate implements pipeline.Model.
func (m *model) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	usage := pipeline.Usage{InputTokens: countInput(r)}
	if call, ok := toolCall(r); ok {
		return usage, emitCall(ctx, call, &usage, emit)
	}
	for word := range strings.SplitAfterSeq(m.answer(r.Messages), " ") {
		if err := ctx.Err(); err != nil {
			return usage, err
		}
		if r.MaxOutputTokens > 0 && usage.OutputTokens == r.MaxOutputTokens {
			return usage, pipeline.ErrMaxTokens
		}
		usage.OutputTokens++
		if err := emit(pipeline.TextDelta{Text: word}); err != nil {
			return usage, err
		}
	}
	return usage, ctx.Err()
}

// CountTokens implements pipeline.TokenCounter.
func (m *model) CountTokens(text string) int { return len(strings.Fields(text)) }

// ContextWindow implements pipeline.TokenCounter. The assistant could read more; the limit keeps long calls fast.
func (m *model) ContextWindow() int { return pipeline.DefaultContextWindow }

func emitCall(ctx context.Context, c pipeline.ToolCall, usage *pipeline.Usage, emit func(pipeline.ModelEvent) error) error {
	for rest := c.Arguments; rest != ""; {
		n := min(maxCall, len(rest))
		for n < len(rest) && !utf8.RuneStart(rest[n]) {
			n++
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		usage.OutputTokens++
		if err := emit(pipeline.ToolCallDelta{Name: c.Name, Arguments: rest[:n]}); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return emit(pipeline.ToolCallDone{Name: c.Name, Arguments: c.Arguments})
}

func countInput(r pipeline.Request) int {
	n := len(strings.Fields(r.Instructions))
	for _, m := range r.Messages {
		n += len(strings.Fields(m.Text))
		if m.Result != nil {
			n += len(strings.Fields(m.Result.Output))
		}
	}
	return n
}

// answer returns the response to the last messages of a conversation.
func (m *model) answer(messages []pipeline.Message) string {
	if len(messages) == 0 {
		return "Hello! " + abilities
	}
	last := messages[len(messages)-1]
	switch {
	case last.Result != nil:
		return toolAnswer(messages)
	case last.Role == pipeline.RoleSystem:
		return "Are you still there?"
	case len(last.Images) > 0:
		return pipeline.NoVisionReply + " " + abilities
	}
	w := words(lastSaid(messages))
	if answer, ok := again(w, messages); ok {
		return answer
	}
	if answer, ok := story(w, messages); ok {
		return answer
	}
	for _, skill := range []func([]string) (string, bool){
		echo, count, arithmetic, m.clock, timer, joke, smallTalk,
	} {
		if answer, ok := skill(w); ok {
			return answer
		}
	}
	if len(w) == 0 {
		return "I did not hear any words. Please say that again."
	}
	heard := "I heard: " + strings.Join(w, " ") + ". I cannot answer that. " + abilities
	if saidBefore(messages, wayOn) {
		return heard
	}
	return heard + " " + wayOn
}

func lastSaid(messages []pipeline.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if m := messages[i]; m.Role == pipeline.RoleUser && m.Result == nil && m.Call == nil {
			return m.Text
		}
	}
	return ""
}

// saidBefore reports whether the assistant has said the text in this conversation.
func saidBefore(messages []pipeline.Message, text string) bool {
	return slices.ContainsFunc(messages, func(m pipeline.Message) bool {
		return m.Role == pipeline.RoleAssistant && strings.Contains(m.Text, text)
	})
}

// words returns the words of a text in lower case, without punctuation. Signs of arithmetic are words.
func words(text string) []string {
	text = strings.NewReplacer("+", " plus ", "*", " times ", "×", " times ", "÷", " divided by ", "=", " ", "’", "'").Replace(strings.ToLower(text))
	var out []string
	for w := range strings.FieldsSeq(text) {
		if w == "-" || w == "/" {
			out = append(out, map[string]string{"-": "minus", "/": "over"}[w])
			continue
		}
		if w = strings.Trim(w, ".,!?;:\"()[]…"); w == "" {
			continue
		}
		if strings.ContainsAny(w, "0123456789") {
			out = append(out, w)
			continue
		}
		out = append(out, strings.FieldsFunc(w, func(r rune) bool { return r == '-' })...)
	}
	return out
}

func has(w []string, phrase string) bool { return index(w, phrase) >= 0 }

// index returns the position of the phrase in w, or -1.
func index(w []string, phrase string) int {
	p := strings.Fields(phrase)
next:
	for i := 0; i+len(p) <= len(w); i++ {
		for j := range p {
			if w[i+j] != p[j] {
				continue next
			}
		}
		return i
	}
	return -1
}

func hasAny(w []string, phrases ...string) bool {
	for _, p := range phrases {
		if has(w, p) {
			return true
		}
	}
	return false
}

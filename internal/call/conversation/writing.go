package conversation

// The goroutine of a summary: it shows the items to the model and collects its text.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// Limits of one summary.
const (
	deadline = time.Minute
	maxText  = 16 << 10 // bytes of the model's text
)

// instructions tell the model to write a summary.
const instructions = "You take notes of a conversation between a user and an assistant. Write a summary of the conversation that you get. " +
	"The assistant will read your summary in place of the conversation. Keep each name, number, date, wish, decision and open question, and " +
	"the results of tools. Write plain sentences in the language of the conversation, without a title, at most 200 words."

var (
	errTime  = errors.New("the model took too long for a summary")
	errLong  = errors.New("the model's summary is too long")
	errEmpty = errors.New("the model has written an empty summary")

	errNotShorter = errors.New("the summary is not shorter than what it stands for")
)

// Written is the result of one summary.
type Written struct {
	Gen   uint32
	Text  string
	Usage pipeline.Usage
	Err   error // Text does not count
}

// write asks the model for a summary of h.
func (s *Summariser) write(ctx context.Context, model string, h Head) (text string, usage pipeline.Usage, err error) {
	ctx, cancel := env.WithTimeout(s.Env, ctx, deadline, errTime)
	defer cancel()
	q := pipeline.Request{
		Model: model, Instructions: instructions, ToolChoice: "none", MaxOutputTokens: SummaryTokens,
		Messages: []pipeline.Message{{Role: pipeline.RoleUser, Text: transcript(h)}},
	}
	var b strings.Builder
	usage, err = s.Guard.Generate(ctx, s.Model, q, func(e pipeline.ModelEvent) error {
		if d, is := e.(pipeline.TextDelta); is {
			b.WriteString(d.Text)
		}
		if b.Len() > maxText {
			return errLong
		}
		return nil
	})
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return "", usage, cause
	}
	if err != nil && !errors.Is(err, pipeline.ErrMaxTokens) { // a summary that is cut at its limit is one, too
		return "", usage, err
	}
	if text = strings.ToValidUTF8(strings.TrimSpace(b.String()), "\uFFFD"); text == "" {
		return "", usage, errEmpty
	}
	return text, usage, nil
}

// transcript returns the items of h as a text for the model.
func transcript(h Head) string {
	var b strings.Builder
	if h.Before != "" {
		fmt.Fprintf(&b, "Summary of what came before:\n%s\n\n", h.Before)
	}
	for _, it := range h.Items {
		for _, m := range messages(it, nil) {
			switch {
			case m.Call != nil:
				fmt.Fprintf(&b, "The assistant calls %s with %s\n", m.Call.Name, m.Call.Arguments)
			case m.Result != nil:
				fmt.Fprintf(&b, "The tool answers: %s\n", m.Result.Output)
			default:
				fmt.Fprintf(&b, "%s: %s%s\n", m.Role, m.Text, strings.Repeat(" [image]", len(m.Images)))
			}
		}
		if it.Type == wire.ItemMessage && it.Status == "incomplete" {
			b.WriteString("(interrupted there)\n")
		}
	}
	return b.String()
}

package calltest

// What is expected of an answer of the agent.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// answer waits for the agent's next answer, and notes how it differs from what is expected.
func (c *call) answer(ctx context.Context, want *Answer) error {
	var entry sdk.Entry
	var calls []sdk.ToolCall
	var understood string
	var failed error
	err := c.await(ctx, "the agent has given no answer", func(s sdk.Snapshot) bool {
		at := c.next(s)
		if at < 0 {
			failed = s.Err
			return s.Err != nil && s.State == sdk.Listening
		}
		entry, calls, understood, failed = s.Transcript[at], nil, "", nil
		for _, e := range s.Transcript[c.answered:at] {
			if e.ToolCall != nil {
				calls = append(calls, *e.ToolCall)
			}
			if e.Role == sdk.User {
				understood += e.Text + " "
			}
		}
		c.answered = at + 1
		return true
	})
	if err == nil && failed != nil {
		err = fmt.Errorf("the agent has given no answer: %w", failed)
	}
	if err != nil {
		return err
	}
	c.asked = false
	if err := c.hear(ctx, entry); err != nil {
		return err
	}
	if entry.Failed {
		c.pend("the answer has failed: %s", entry.Note)
	}
	c.compareText(want, entry, understood)
	c.compareCalls(want, calls)
	c.compareTimes(want, entry.Interrupted)
	if want.Interrupted != nil && *want.Interrupted != entry.Interrupted {
		c.pend("interrupted is %t, want %t: %q", entry.Interrupted, *want.Interrupted, entry.Text)
	}
	if want.Judge != "" {
		return c.judge(ctx, want.Judge)
	}
	return nil
}

// hear waits for the playback of an answer that has not begun: over a WebSocket it begins a moment after an answer that is made at once.
func (c *call) hear(ctx context.Context, entry sdk.Entry) error {
	if _, heard := c.firstSound(); heard || !entry.Spoken || entry.Interrupted || entry.Failed {
		return nil
	}
	short, cancel := context.WithTimeout(ctx, answerGap)
	defer cancel()
	if c.speaker.AwaitSound(short) != nil {
		return nil // it has no sound
	}
	return c.await(ctx, "the agent's answer has no end", func(s sdk.Snapshot) bool { return s.State == sdk.Listening })
}

// next returns the place of the first answer that no step has taken, and that was heard to its end or cut; -1 if there is none yet.
func (c *call) next(s sdk.Snapshot) int {
	for i := c.answered; i < len(s.Transcript); i++ {
		e := s.Transcript[i]
		if e.Role != sdk.Agent {
			continue
		}
		later := slices.ContainsFunc(s.Transcript[i+1:], func(e sdk.Entry) bool { return e.Role == sdk.Agent })
		if e.Live || !e.Interrupted && !later && s.State != sdk.Listening {
			return -1
		}
		return i
	}
	return -1
}

func (c *call) compareText(want *Answer, entry sdk.Entry, understood string) {
	for _, text := range want.Says {
		if !matches(text, entry.Text) {
			c.pend("the agent was to say %s, and said %q", text, entry.Text)
		}
	}
	for _, text := range want.Not {
		if matches(text, entry.Text) {
			c.pend("the agent was not to say %s, and said %q", text, entry.Text)
		}
	}
	for _, text := range want.Heard {
		if !matches(text, understood) {
			c.pend("the agent was to understand %s, and has understood %q", text, strings.TrimSpace(understood))
		}
	}
}

// matches reports whether a text has what a pattern of the file wants. The patterns were checked with the file.
func matches(wanted, text string) bool {
	p, err := pattern(wanted)
	return err == nil && p.MatchString(text)
}

func (c *call) compareCalls(want *Answer, calls []sdk.ToolCall) {
	var names, arguments []string
	for _, t := range calls {
		names, arguments = append(names, t.Name), append(arguments, t.Arguments)
	}
	if want.Calls != nil && !slices.Equal(want.Calls, names) {
		c.pend("the agent was to call [%s], and has called [%s]", strings.Join(want.Calls, " "), strings.Join(names, " "))
	}
	if len(want.With) > 0 && !slices.ContainsFunc(calls, func(t sdk.ToolCall) bool { return has(t.Arguments, want.With) }) {
		c.pend("a call was to have the arguments %s; the calls have [%s]", compact(want.With), strings.Join(arguments, " "))
	}
}

// has reports whether the JSON object arguments has all fields of want, with their values.
func has(arguments string, want map[string]any) bool {
	var got, fields map[string]any
	if json.Unmarshal([]byte(arguments), &got) != nil || json.Unmarshal([]byte(compact(want)), &fields) != nil { // numbers become float64 in both
		return false
	}
	for key, value := range fields {
		if !reflect.DeepEqual(got[key], value) {
			return false
		}
	}
	return true
}

func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func (c *call) compareTimes(want *Answer, interrupted bool) {
	one := Times{}
	if first, is := c.firstSound(); is && !c.over {
		one.First = first.Sub(c.ended)
	}
	if interrupted && c.over { // an agent that was silent at once, as between two sentences, has yielded too
		one.Yield = max(c.yielded().Sub(c.began), time.Millisecond)
	}
	c.over = false
	switch {
	case want.Within > 0 && one.First == 0:
		c.pend("the answer was to be heard within %v, and was not heard after the user's last words", want.Within)
	case one.First > want.Within && want.Within > 0:
		c.pend("the answer was to be heard within %v, and was heard after %v", want.Within, one.First)
	}
	switch {
	case want.Yields > 0 && one.Yield == 0:
		c.pend("the agent was to be silent within %v, and the user has not interrupted it", want.Yields)
	case want.Yields > 0 && one.Yield > want.Yields:
		c.pend("the agent was to be silent within %v, and was silent after %v", want.Yields, one.Yield)
	}
	c.result.Answers = append(c.result.Answers, one)
}

// judge asks the server's model, in another session, whether a statement about the call is true.
func (c *call) judge(ctx context.Context, statement string) error {
	s, err := c.target.session(native.Options{URL: c.target.URL, Key: c.target.Key, Client: c.target.Client, Loopback: c.target.Loopback}, sdk.Options{
		TextReplies: true, NoMicrophone: true, Model: c.file.Session.Model,
		Instructions: "You judge a conversation between a user and an agent. Begin with the single word yes or no. Then say why in one sentence.",
	})
	if err != nil {
		return err
	}
	if err := s.Connect(ctx); err != nil {
		return fmt.Errorf("the judge: %w", err)
	}
	defer func() {
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), hangUpTime)
		defer cancel()
		_ = s.Close(closing) // it has judged
	}()
	question := strings.Join(lines(c.session.Snapshot().Transcript), "\n") + "\n\nIs this true of the conversation above? " + statement
	if err := s.SendText(question); err != nil {
		return fmt.Errorf("the judge: %w", err)
	}
	got, err := s.Await(ctx, func(now sdk.Snapshot) bool {
		n := len(now.Transcript)
		return now.State == sdk.Failed || now.State == sdk.Listening && n > 1 && now.Transcript[n-1].Role == sdk.Agent && !now.Transcript[n-1].Live
	})
	if err != nil || got.State == sdk.Failed {
		return fmt.Errorf("the judge has not answered: %w", errors.Join(err, got.Err))
	}
	if said := got.Transcript[len(got.Transcript)-1].Text; !strings.HasPrefix(strings.ToLower(strings.TrimLeft(said, " *\"'\n")), "yes") {
		c.pend("the judge finds this not true: %s: %q", statement, said)
	}
	return nil
}

// lines returns a transcript for people.
func lines(all []sdk.Entry) (out []string) {
	for _, e := range all {
		line := e.Role.String() + ": " + e.Text
		if t := e.ToolCall; t != nil {
			line = "tool: " + t.Name + " " + t.Arguments + " -> " + t.Output
		}
		if e.Interrupted {
			line += " (interrupted)"
		}
		if e.Note != "" {
			line += " (" + e.Note + ")"
		}
		out = append(out, line)
	}
	return out
}

// Times are how long the user waited: for the first sound of an answer after the user's last words, and for the agent's silence after the
// user began to speak over it. 0 was not measured.
type Times struct{ First, Yield time.Duration }

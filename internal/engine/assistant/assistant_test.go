package assistant

// The answers of the built-in assistant.

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func said(text string) pipeline.Request {
	return pipeline.Request{Messages: []pipeline.Message{{Role: pipeline.RoleUser, Text: text}}}
}

// respond runs the assistant and returns its text and its calls.
func respond(t *testing.T, r pipeline.Request) (text string, calls []pipeline.ToolCallDone) {
	t.Helper()
	at := time.Date(2026, time.November, 21, 15, 5, 0, 0, time.UTC)
	var args strings.Builder
	usage, err := New(func() time.Time { return at }).Generate(t.Context(), r, func(e pipeline.ModelEvent) error {
		switch e := e.(type) {
		case pipeline.TextDelta:
			text += e.Text
		case pipeline.ToolCallDelta:
			args.WriteString(e.Arguments)
		case pipeline.ToolCallDone:
			calls = append(calls, e)
		}
		return nil
	})
	g := gomega.NewWithT(t)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(usage.OutputTokens).To(gomega.BeNumerically(">", 0))
	for _, c := range calls {
		g.Expect(args.String()).To(gomega.Equal(c.Arguments))
	}
	return text, calls
}

func TestAnswers(t *testing.T) {
	for question, want := range map[string]string{
		"What is two plus two?":           "Two plus two is four.",
		"what is to plus too":             "Two plus two is four.",
		"how much is 12 times 12":         "Twelve times twelve is one hundred and forty-four.",
		"two plus three times four":       "Two plus three times four is fourteen.",
		"what is seven divided by two":    "Seven divided by two is three point five.",
		"ten divided by three":            "Ten divided by three is about three point three three three.",
		"what is ten percent of fifty":    "Ten percent of fifty is five.",
		"what is half of nine":            "Half of nine is four point five.",
		"what year is it":                 "It is the year two thousand and twenty-six.",
		"repeat that":                     "I have not said anything yet.",
		"five minus nine":                 "Five minus nine is minus four.",
		"one divided by zero":             "One divided by zero has no answer: nothing can be divided by zero.",
		"2+2":                             "Two plus two is four.",
		"2 + 2":                           "Two plus two is four.",
		"count to five":                   "One, two, three, four, five.",
		"please count from three to six":  "Three, four, five, six.",
		"count down from four":            "Four, three, two, one.",
		"count two three":                 "One, two, three.",
		"count to one million":            "I can count from zero to one thousand. Tell me where to stop.",
		"what time is it":                 "It is three oh five in the afternoon.",
		"what day is it":                  "Today is Saturday, November twenty-first.",
		"hello":                           "Hello! " + abilities + " What can I do for you?",
		"Help!":                           abilities + " You can interrupt me at any time. " + wayOn,
		"who are you":                     "I am a small assistant that lives inside this server. I need no network to talk to you.",
		"set a timer for ten minutes":     "I cannot set timers: I speak only when I am spoken to, so I could not ring. But I can count for you.",
		"repeat after me the sea is blue": "The sea is blue.",
		"stop":                            "All right. I am listening.",
		"the weather in spain":            "I heard: the weather in spain. I cannot answer that. " + abilities + " " + wayOn,
	} {
		t.Run(question, func(t *testing.T) {
			text, _ := respond(t, said(question))
			gomega.NewWithT(t).Expect(text).To(gomega.Equal(want))
		})
	}
}

// The assistant says once how to get one that can do more.
func TestTheWayOnIsSaidOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	r := said("why is the sky blue")
	first, _ := respond(t, r)
	r.Messages = append(r.Messages, pipeline.Message{Role: pipeline.RoleAssistant, Text: first}, pipeline.Message{Role: pipeline.RoleUser, Text: "and the sea"})
	second, _ := respond(t, r)
	g.Expect(second).To(gomega.Equal("I heard: and the sea. I cannot answer that. " + abilities))
}

func TestLongAnswers(t *testing.T) {
	g := gomega.NewWithT(t)
	hundred, _ := respond(t, said("count to one hundred"))
	g.Expect(hundred).To(gomega.HaveSuffix("ninety-nine, one hundred."))
	g.Expect(strings.Count(hundred, ",")).To(gomega.Equal(99))
	tale, _ := respond(t, said("tell me a story"))
	g.Expect(len(strings.Fields(tale))).To(gomega.BeNumerically(">", 200))
}

func TestStoriesAndAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	r := said("tell me a story")
	told := map[string]bool{}
	for range 3 {
		tale, _ := respond(t, r)
		g.Expect(len(strings.Fields(tale))).To(gomega.BeNumerically(">", 150))
		told[tale] = true
		r.Messages = append(r.Messages, pipeline.Message{Role: pipeline.RoleAssistant, Text: tale}, pipeline.Message{Role: pipeline.RoleUser, Text: "say that again"})
		same, _ := respond(t, r)
		g.Expect(same).To(gomega.Equal(tale))
		r.Messages[len(r.Messages)-1].Text = "tell me another one"
	}
	g.Expect(told).To(gomega.HaveLen(3), "each time another one")
	alone, _ := respond(t, said("another one"))
	g.Expect(alone).To(gomega.HavePrefix("I heard: another one."))
}

var weather = pipeline.Tool{
	Name: "get_weather", Description: "Current weather of a city",
	Parameters: []byte(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
}

func TestTools(t *testing.T) {
	g := gomega.NewWithT(t)
	r := said("what is the weather in the city of Rome")
	r.Tools = []pipeline.Tool{weather}
	_, calls := respond(t, r)
	g.Expect(calls).To(gomega.HaveLen(1))
	g.Expect(calls[0].Name).To(gomega.Equal("get_weather"))
	g.Expect(calls[0].Arguments).To(gomega.MatchJSON(`{"city":"city of Rome"}`))

	r.Messages = append(r.Messages,
		pipeline.Message{Role: pipeline.RoleAssistant, Call: &pipeline.ToolCall{ID: "1", Name: "get_weather"}},
		pipeline.Message{Role: pipeline.RoleUser, Result: &pipeline.ToolResult{CallID: "1", Output: `{"temperature":21,"sky":"clear"}`}})
	text, calls := respond(t, r)
	g.Expect(calls).To(gomega.BeEmpty())
	g.Expect(text).To(gomega.Equal("Here is what I found: sky clear, temperature 21."))

	r = said("what is the weather in the city of Rome")
	r.Tools, r.ToolChoice = []pipeline.Tool{weather}, "none"
	_, calls = respond(t, r)
	g.Expect(calls).To(gomega.BeEmpty())
}

func TestSilentUser(t *testing.T) {
	text, _ := respond(t, pipeline.Request{Messages: []pipeline.Message{
		{Role: pipeline.RoleUser, Text: "hello"}, {Role: pipeline.RoleSystem, Text: "The user has said nothing for a while."},
	}})
	gomega.NewWithT(t).Expect(text).To(gomega.Equal("Are you still there?"))
}

func TestLimitsAndCancel(t *testing.T) {
	g := gomega.NewWithT(t)
	r := said("count to one hundred")
	r.MaxOutputTokens = 3
	text := ""
	usage, err := New(nil).Generate(t.Context(), r, func(e pipeline.ModelEvent) error {
		if d, ok := e.(pipeline.TextDelta); ok {
			text += d.Text
		}
		return nil
	})
	g.Expect(err).To(gomega.MatchError(pipeline.ErrMaxTokens))
	g.Expect(usage.OutputTokens).To(gomega.Equal(3))
	g.Expect(text).To(gomega.Equal("One, two, three, "))

	ctx, cancel := context.WithCancel(t.Context())
	_, err = New(nil).Generate(ctx, said("count to ten"), func(pipeline.ModelEvent) error {
		cancel()
		return nil
	})
	g.Expect(err).To(gomega.MatchError(context.Canceled))
}

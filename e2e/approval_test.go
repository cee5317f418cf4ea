package e2e

// Answers to runs by speech: a neural voice says yes or a choice, and a neural recogniser hears it.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/sherpa"
	"github.com/antiphon-rt/antiphon/internal/runs"
	"github.com/antiphon-rt/antiphon/internal/runs/runsapi"
	"github.com/antiphon-rt/antiphon/internal/runs/toolrun"
	"github.com/antiphon-rt/antiphon/internal/store"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
)

// booker is a model that books a trip when it is asked first, and says "Very well." else.
type booker struct{}

func (booker) Generate(_ context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	if len(r.Messages) == 1 {
		return pipeline.Usage{}, emit(pipeline.ToolCallDone{Name: "book_trip", Arguments: `{"to":"Oslo"}`})
	}
	return pipeline.Usage{}, emit(pipeline.TextDelta{Text: "Very well."})
}

// approves is the worker of a tool that needs an approval.
func approves(book *pipeline.ServerTool) runs.Worker {
	return toolrun.Worker(book, toolrun.Background{Approval: true})
}

// wonders is a worker that asks which seat it books.
func wonders(book *pipeline.ServerTool) runs.Worker {
	return runs.Worker{Tool: book.Name, Work: func(ctx context.Context, t *runs.Turn) (json.RawMessage, error) {
		a, err := t.Ask(ctx, "seat", runs.Question{Prompt: "Which seat?", Choices: []string{"window", "aisle"}})
		if err != nil {
			return nil, err
		}
		return t.Step(ctx, "call", false, func(ctx context.Context) (json.RawMessage, error) {
			_, err := book.Run(ctx, string(a.Reply))
			return json.RawMessage(`"booked"`), err
		})
	}}
}

// bookings opens a server with neural speech and a tool that works in the background. booked gets the arguments of each call of the tool.
func bookings(t *testing.T, worker func(*pipeline.ServerTool) runs.Worker) (h *house, speaks pipeline.Synthesizer, booked chan string) {
	t.Helper()
	g := gomega.NewWithT(t)
	c := sherpa.Config{Models: "../.cache/models", Processes: 1}
	hears, err := sherpa.Recogniser(c)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	voiced, err := sherpa.Synthesizer(c)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := pipeline.Compose("approval", hears, embedded.Assistant(embedded.Options{}), voiced)
	p.Model = booker{}
	g.Expect(p.Warm(t.Context())).To(gomega.Succeed())
	booked = make(chan string, 9)
	book := pipeline.ServerTool{Tool: pipeline.Tool{Name: "book_trip", Parameters: []byte(`{"type":"object"}`)}, Run: func(_ context.Context, arguments string) (string, error) {
		booked <- arguments
		return "booked", nil
	}}
	s, err := store.Open(t.Context(), store.Config{Timeout: time.Minute})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r, err := runs.New(t.Context(), runs.Config{Store: s, Workers: []runs.Worker{worker(&book)}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { g.Expect(errors.Join(r.Close(context.Background()), s.Close())).To(gomega.Succeed()) })
	logger := slog.New(slog.DiscardHandler)
	h = open(t, nil, func(cfg *server.Config) {
		cfg.Pipeline, cfg.Runs = p, runsapi.New(r, logger)
		cfg.Tools = pipeline.ServerTools{Tools: []pipeline.ServerTool{toolrun.Offer(r, book.Tool, logger)}}
	})
	return h, p.Synthesizer, booked
}

// sayAloud lets a synthesizer say a text into the caller's microphone.
func (c *caller) sayAloud(ctx context.Context, speaks pipeline.Synthesizer, text string) {
	var said []int16
	c.Expect(speaks.Synthesize(ctx, pipeline.Utterance{Text: text}, func(pcm []int16) error {
		said = append(said, pcm...)
		return nil
	})).To(gomega.Succeed())
	up, err := voice.NewResampler(24000, native.Rate)
	c.Expect(err).NotTo(gomega.HaveOccurred())
	c.speak(append(up.FlushPCM16(up.AppendPCM16(nil, said)), make([]int16, native.Rate)...))
}

// The user hears the server's question, and says yes. The tool is called then, and not before.
func TestAUserApprovesByVoice(t *testing.T) {
	t.Parallel()
	h, speaks, booked := bookings(t, approves)
	c := call(t, callOptions{name: "approval", url: h.url, sdk: sdk.Options{Language: "en"}})
	c.answersARun(speaks, booked, "I need your approval for book trip, with to: Oslo. Shall I do that?", "Yes, please go ahead.", `{"to":"Oslo"}`)
}

// The user hears a question with choices, and names one. The reply is in the timeline of the run.
func TestAUserRepliesByVoice(t *testing.T) {
	t.Parallel()
	h, speaks, booked := bookings(t, wonders)
	c := call(t, callOptions{name: "reply", url: h.url, sdk: sdk.Options{Language: "en"}})
	c.answersARun(speaks, booked, "book trip has a question for you: Which seat? The choices are: window, aisle. Which one do you take?", "I would like the window, please.", `"window"`)
	c.Expect(c.Snapshot().Runs[0].Timeline).To(gomega.ContainElement(gomega.And(gomega.HaveField("Kind", "interaction.replied"), gomega.HaveField("Text", "window"))))
}

// answersARun books a trip, waits until the question was heard to its end, and says the answer. The tool is called then with the arguments, and not before. If the
// recogniser has misheard the answer, the server asks again, and the answer is said again.
func (c *caller) answersARun(speaks pipeline.Synthesizer, booked <-chan string, question, answer, arguments string) {
	c.ask("book a trip to Oslo")
	asked := func() (times int) {
		for _, e := range c.Snapshot().Transcript {
			if e.Role == sdk.Agent && !e.Live && e.Text == question {
				times++
			}
		}
		return times
	}
	var got string
	for try := 1; got == "" && try <= asksAtMost; try++ {
		c.Eventually(asked, patience, 10*time.Millisecond).Should(gomega.Equal(try))
		c.next("output_audio_buffer.stopped") // "Very well."
		c.next("output_audio_buffer.stopped") // the question
		c.Expect(booked).To(gomega.BeEmpty())
		c.sayAloud(context.Background(), speaks, answer)
		c.Eventually(func() bool {
			select {
			case got = <-booked:
			default:
			}
			return got != "" || asked() > try
		}, patience, 10*time.Millisecond).Should(gomega.BeTrue(), func() string { return fmt.Sprintf("%+v", c.Snapshot().Transcript) })
	}
	c.Expect(json.RawMessage(got)).To(gomega.MatchJSON(arguments))
	c.Eventually(func() bool { r := c.Snapshot().Runs; return len(r) == 1 && r[0].Status == "succeeded" }, patience, 10*time.Millisecond).Should(gomega.BeTrue())
}

// asksAtMost is how often the server asks a question by speech.
const asksAtMost = 3

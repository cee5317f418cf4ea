package e2e

// Approval by speech: a neural voice says yes, and a neural recogniser hears it.

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/server/pipeline/embedded"
	"github.com/antiphon-rt/antiphon/server/pipeline/sherpa"
	"github.com/antiphon-rt/antiphon/server/pipeline/tool"
	"github.com/antiphon-rt/antiphon/server/runs"
	"github.com/antiphon-rt/antiphon/server/runs/runsapi"
	"github.com/antiphon-rt/antiphon/server/runs/toolrun"
	"github.com/antiphon-rt/antiphon/server/store"
	"github.com/antiphon-rt/antiphon/voice"
)

// booker is a model that books a trip when it is asked first, and says "Very well." else.
type booker struct{}

func (booker) Generate(_ context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	if len(r.Messages) == 1 {
		return pipeline.Usage{}, emit(pipeline.ToolCallDone{Name: "book_trip", Arguments: `{"to":"Oslo"}`})
	}
	return pipeline.Usage{}, emit(pipeline.TextDelta{Text: "Very well."})
}

// bookings opens a server with neural speech and a tool that needs an approval. booked gets the arguments of each call of the tool.
func bookings(t *testing.T) (h *house, speaks pipeline.Synthesizer, booked chan string) {
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
	book := tool.Tool{Tool: pipeline.Tool{Name: "book_trip", Parameters: []byte(`{"type":"object"}`)}, Run: func(_ context.Context, arguments string) (string, error) {
		booked <- arguments
		return "booked", nil
	}}
	s, err := store.Open(t.Context(), store.Config{Timeout: time.Minute})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r, err := runs.New(t.Context(), runs.Config{Store: s, Workers: []runs.Worker{toolrun.Worker(&book, toolrun.Background{Approval: true})}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { g.Expect(errors.Join(r.Close(context.Background()), s.Close())).To(gomega.Succeed()) })
	logger := slog.New(slog.DiscardHandler)
	h = open(t, nil, func(cfg *server.Config) {
		cfg.Pipeline, cfg.Runs = p, runsapi.New(r, logger)
		cfg.Tools = tool.Set{Tools: []tool.Tool{toolrun.Offer(r, book.Tool, logger)}}
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
	h, speaks, booked := bookings(t)
	c := call(t, callOptions{name: "approval", url: h.url, sdk: sdk.Options{Language: "en"}})
	c.ask("book a trip to Oslo")
	question := func() bool {
		for _, e := range c.Snapshot().Transcript {
			if e.Role == sdk.Agent && !e.Live && e.Text == "I need your approval for book trip, with to: Oslo. Shall I do that?" {
				return true
			}
		}
		return false
	}
	c.Eventually(question, patience, 10*time.Millisecond).Should(gomega.BeTrue())
	c.next("output_audio_buffer.stopped") // "Very well."
	c.next("output_audio_buffer.stopped") // the question
	c.Expect(booked).To(gomega.BeEmpty())
	c.sayAloud(t.Context(), speaks, "Yes, please go ahead.")
	var arguments string
	c.Eventually(booked, patience).Should(gomega.Receive(&arguments))
	c.Expect(json.RawMessage(arguments)).To(gomega.MatchJSON(`{"to":"Oslo"}`))
	c.Eventually(func() bool { r := c.Snapshot().Runs; return len(r) == 1 && r[0].Status == "succeeded" }, patience, 10*time.Millisecond).Should(gomega.BeTrue())
}

package speaking

// Responses of the Generator, in and out of the conversation.

import (
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/ratelimit"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noOutput is a link whose client plays by itself.
type noOutput struct{ link.Link }

func (noOutput) Output() link.Output { return nil }

// bench is a Generator with a session's machines, and everything that its client gets.
type bench struct {
	*Generator
	g      *gomega.WithT
	events chan Event
	state  coord.State
	sent   []wire.ServerEvent
	failed []string
	broken []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{g: gomega.NewWithT(t), events: make(chan Event, 10_000), state: coord.New(coord.Config{})}
	e, p := env.System(), scripted.New(scripted.Options{})
	set := conversation.NewSettings(e, p, wire.DefaultSession(), nil)
	parts := Parts{
		Guard: watchdog.New(env.System(), watchdog.Defaults()),
		Env:   e, Log: slog.New(slog.DiscardHandler), Pipeline: p, Limits: ratelimit.NewPerMinute(e.Now), Settings: set,
		Conversation: conversation.New(e, p.Model), Context: t.Context(), Workers: env.NewGroup(e),
		Player: NewPlayer(noOutput{}, link.Capabilities{}, e, slog.New(slog.DiscardHandler), func(PlayerEvent) bool { return true }),
		Post:   func(e Event) bool { b.events <- e; return true },
		Broken: func(invariant, event string) { b.broken = append(b.broken, invariant+" after "+event) },
	}
	b.Generator = New(parts)
	return b
}

// do performs actions as the actor does, except steps of the machines: it returns their events.
func (b *bench) do(out room.List) (steps []coord.Event) {
	for _, a := range out {
		switch a := a.(type) {
		case room.Send:
			b.sent = append(b.sent, a.Event)
			if a.Sent != nil {
				a.Sent()
			}
		case room.Step:
			steps = append(steps, a.Event)
		case room.Later:
			steps = append(steps, a.Event)
		case room.Fail:
			b.failed = append(b.failed, a.Failure.Code)
		}
	}
	return steps
}

// finish handles the reports of bodies until every response is forgotten.
func (b *bench) finish() {
	for b.do(b.Settle(&b.state)); len(b.Generator.responses) > 0; b.do(b.Settle(&b.state)) {
		b.do(b.Handle(<-b.events, false))
	}
	b.Workers.Wait()
}

func (b *bench) names() (names []string) {
	for _, e := range b.sent {
		if e.Type() == "rate_limits.updated" {
			continue
		}
		if n := len(names); n == 0 || names[n-1] != e.Type() {
			names = append(names, e.Type())
		}
	}
	return names
}

// paid returns how many rate_limits.updated the client has got.
func (b *bench) paid() (n int) {
	for _, e := range b.sent {
		if e.Type() == "rate_limits.updated" {
			n++
		}
	}
	return n
}

func asText() *wire.ResponseParams {
	return &wire.ResponseParams{Conversation: "none", OutputModalities: []string{"text"}}
}

func TestAnOutOfBandResponseHasMachinesOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		out, refused := b.CreateOutOfBand(asText())
		b.g.Expect(refused).To(gomega.BeNil())
		b.g.Expect(b.do(out)).To(gomega.BeEmpty(), "the session's machines hear nothing of it")
		b.finish()
		b.g.Expect(b.names()).To(gomega.Equal([]string{
			"response.created", "response.output_item.added", "response.content_part.added", "response.output_text.delta",
			"response.output_text.done", "response.content_part.done", "response.output_item.done", "response.done",
		}))
		b.g.Expect(b.paid()).To(gomega.Equal(1))
		b.g.Expect(b.broken).To(gomega.BeEmpty())
	})
}

func TestASpokenOutOfBandResponseSendsItsAudio(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		out, _ := b.CreateOutOfBand(&wire.ResponseParams{Conversation: "none"})
		b.do(out)
		b.finish()
		audio := 0
		for _, e := range b.sent {
			if d, is := e.(*wire.ResponseOutputAudioDelta); is {
				audio += len(d.Delta)
			}
		}
		b.g.Expect(audio).To(gomega.BeNumerically(">", 0))
		b.g.Expect(b.names()).To(gomega.ContainElement("response.output_audio_transcript.done"))
	})
}

func TestOutOfBandResponsesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		for range maxOutOfBand {
			out, refused := b.CreateOutOfBand(asText())
			b.g.Expect(refused).To(gomega.BeNil())
			b.do(out)
		}
		_, refused := b.CreateOutOfBand(asText())
		b.g.Expect(refused.Code).To(gomega.Equal("too_many_responses"))
		b.do(b.ShutOutOfBand())
		b.finish()
		b.g.Expect(b.paid()).To(gomega.Equal(maxOutOfBand))
	})
}

func TestAnOutOfBandResponseIsCancelledBeforeItsBodyBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		out, _ := b.CreateOutOfBand(asText())
		b.do(out)
		of, ok := b.Named(b.sent[0].(*wire.ResponseCreated).Response.ID)
		b.g.Expect(ok).To(gomega.BeTrue())
		out, ok = b.CancelOutOfBand(of)
		b.g.Expect(ok).To(gomega.BeTrue())
		b.do(out)
		b.finish()
		b.g.Expect(b.names()).To(gomega.Equal([]string{"response.created", "response.done"}))
		b.g.Expect(b.sent[1].(*wire.ResponseDone).Response.Status).To(gomega.Equal("cancelled"))
		_, ok = b.CancelOutOfBand(of)
		b.g.Expect(ok).To(gomega.BeFalse(), "it is forgotten")
	})
}

func TestAResponseOfTheConversationReportsToTheSessionsMachines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		request := b.Request(&wire.ResponseParams{OutputModalities: []string{"text"}})
		b.do(b.Created(response.EmitCreated{ID: 1, Request: request}, "conv_1"))
		b.g.Expect(b.sent[0].(*wire.ResponseCreated).Response.ConversationID).To(gomega.HaveValue(gomega.Equal("conv_1")))
		b.do(b.Ask(1))
		b.do(b.Settle(&b.state))
		var steps []coord.Event
		for !slices.Contains(steps, coord.Event(coord.OfResponse{Event: response.BodyEnded{ID: 1, Status: response.Completed}})) {
			now := b.do(b.Handle(<-b.events, false))
			for _, e := range now { // the session's synthesis machine closes the queue of clauses, which ends the synthesizer
				if e == (coord.OfSynthesis{Event: synthesis.Finish{}}) {
					b.Synthesis(synthesis.CloseQueue{})
				}
			}
			steps = append(steps, now...)
		}
		b.g.Expect(steps[:2]).To(gomega.Equal([]coord.Event{
			coord.OfSynthesis{Event: synthesis.Finish{}}, coord.OfSynthesis{Event: synthesis.WorkerExited{}},
		}))
		b.do(b.End(response.EmitTerminal{ID: 1, Status: response.Completed}))
		b.finish()
		b.g.Expect(b.Conversation.Find(b.sent[1].(*wire.ResponseOutputItemAdded).Item.ID)).NotTo(gomega.BeNil(), "its item is in the conversation")
	})
}

func TestTheOldestResponseOfTheClientThatHasNotBegun(t *testing.T) {
	b := newBench(t)
	b.g.Expect(b.Unbegun()).To(gomega.BeZero())
	for id := response.ID(1); id <= 3; id++ {
		b.do(b.Created(response.EmitCreated{ID: id, Request: b.Request(asText())}, "conv_1"))
	}
	b.g.Expect(b.Unbegun()).To(gomega.BeZero(), "the machines ask for no body yet")
	for id := response.ID(1); id <= 3; id++ {
		b.do(b.Ask(id))
	}
	b.g.Expect(b.Unbegun()).To(gomega.Equal(response.ID(1)))
}

// After a question one word is an answer, over a WebSocket also long before its estimated end.
func TestAnAnswerIsNear(t *testing.T) {
	for name, row := range map[string]struct {
		serverPaced bool
		text        string
		near        time.Duration
	}{
		"a statement":                 {true, "Yes.", nearEnd},
		"a question":                  {true, "Yes?", nearQuestion},
		"a statement, by an estimate": {false, "Yes.", nearEnd},
		"a question, by an estimate":  {false, "Yes?", nearEstimate},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, p := newBench(t), newPlayerBench(t, row.serverPaced)
				b.Player = p.Player
				b.do(b.Created(response.EmitCreated{ID: 1, Request: b.Request(asText())}, "conv_1"))
				r := b.Find(1)
				said := &outputItem{item: &conversation.Item{Item: wire.Item{Type: wire.ItemMessage}}}
				said.text.WriteString(row.text)
				r.text.items = append(r.text.items, said)
				one := p.track()
				p.Write(one, seconds(20), false)
				p.Play(one, 1)
				p.Complete(one)
				left := 20 * time.Second
				for _, step := range []struct {
					left time.Duration
					near bool
				}{{row.near + 20*time.Millisecond, false}, {row.near, true}} {
					<-time.After(left - step.left)
					if left = step.left; row.serverPaced {
						p.out.sent = 20*second - voice.Samples(left*room.OutputRate/time.Second)
					}
					b.g.Expect(b.NearAnswer()).To(gomega.Equal(step.near))
				}
			})
		})
	}
}

func TestABodyWaitsForThePlayedPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.do(b.Created(response.EmitCreated{ID: 1, Request: b.Request(&wire.ResponseParams{OutputModalities: []string{"text"}})}, "conv_1"))
		b.do(b.Ask(1))
		b.state.Playout = playout.Cut{Resp: 9}
		b.do(b.Settle(&b.state))
		synctest.Wait()
		b.g.Expect(b.events).To(gomega.BeEmpty())
		b.do(b.Cancel(machine.Response(1)))
		b.do(b.End(response.EmitTerminal{ID: 1, Status: response.ClientCancelled}))
		b.state.Playout = playout.Silent{}
		b.finish()
		b.g.Expect(b.names()).To(gomega.Equal([]string{"response.created", "response.done"}), "no body ever ran")
	})
}

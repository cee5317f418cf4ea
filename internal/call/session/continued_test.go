package session

// What a session keeps that goes on with a call whose process was killed: the answer that was cut off, with its request, and nothing that nobody asked for.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// stuck is a model that emits some output and then hangs until its context ends. Only the first n requests hang; the others get "And on."
type stuck struct {
	pipeline.Model
	first []pipeline.ModelEvent
	n     int
	ends  bool // those requests end as well

	mu    sync.Mutex
	asked []pipeline.Request
}

// Generate implements pipeline.Model.
func (m *stuck) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	m.mu.Lock()
	m.asked = append(m.asked, r)
	hangs := len(m.asked) <= m.n
	m.mu.Unlock()
	events := []pipeline.ModelEvent{say("And on.")}
	if hangs {
		events = m.first
	}
	for _, e := range events {
		if err := emit(e); err != nil {
			return pipeline.Usage{}, err
		}
	}
	if hangs && !m.ends {
		<-ctx.Done()
	}
	return pipeline.Usage{}, ctx.Err()
}

// requests returns what the model was asked for.
func (m *stuck) requests() []pipeline.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked
}

// killedWith is a long call whose model emits first and hangs. killed kills its process: the next session goes on.
func killedWith(t *testing.T, first ...pipeline.ModelEvent) (*longCall, *stuck) {
	t.Helper()
	l, m := heldBy(t, first...)
	l.begin()
	return l, m
}

// heldBy is such a call that has not begun.
func heldBy(t *testing.T, first ...pipeline.ModelEvent) (*longCall, *stuck) {
	m := &stuck{first: first, n: 1}
	return newLongCall(t, time.Hour, 12*time.Hour, func(c *Config) {
		m.Model = c.Pipeline.Model
		c.Pipeline.Model = m
	}), m
}

// killed has the next session go on with the call, and waits until that one has said what it says unasked.
func (l *longCall) killed() {
	l.t.Helper()
	wait(time.Second)
	l.goesOn()
	wait(2 * time.Second)
}

const inText = `"output_modalities":["text"]`

func TestAnAnswerGoesOnAfterItsBackEndsHaveLoaded(t *testing.T) {
	story(t, "the client is back before the back ends are", func(t *testing.T) {
		l, _ := killedWith(t)
		l.settle(inText)
		l.ask("tell me")
		first(l.caller, "response.created")
		slow := *l.cfg.Pipeline
		slow.Warm = func(context.Context) error { wait(2 * time.Second); return nil }
		l.cfg.Pipeline = &slow
		l.killed()
		l.g.Expect(next[*wire.ResponseDone](l.caller, "response.done").Response.Status).To(gomega.Equal("cancelled"))
		l.g.Expect(outline(next[*wire.ResponseDone](l.caller, "response.done").Response)).To(gomega.Equal("completed: And on."))
	})
}

func TestAFunctionIsCalledOnce(t *testing.T) {
	story(t, "the process is killed after the call and before the end of its response", func(t *testing.T) {
		l, m := killedWith(t, callsTool(0, "light"))
		l.settle(inText + `,"tools":[{"type":"function","name":"light","parameters":{}}]`)
		l.ask("make light")
		first(l.caller, "response.output_item.done")
		l.killed()
		done := next[*wire.ResponseDone](l.caller, "response.done").Response
		l.g.Expect(done.Status).To(gomega.Equal("completed"))
		l.g.Expect(done.Output).To(gomega.HaveLen(1))
		l.g.Expect(l.count("response.created")).To(gomega.BeZero(), "the server waits for the output")
		l.send(`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"` + done.Output[0].CallID + `","output":"on"}}`)
		l.send(`{"type":"response.create"}`)
		l.g.Expect(outline(next[*wire.ResponseDone](l.caller, "response.done").Response)).To(gomega.Equal("completed: And on."))
		l.g.Expect(m.requests()).To(gomega.HaveLen(2))
	})
	story(t, "the client has asked for the next response already", func(t *testing.T) {
		l, _ := killedWith(t, callsTool(0, "light"))
		l.settle(inText + `,"tools":[{"type":"function","name":"light","parameters":{}}]`)
		l.ask("make light")
		call := next[*wire.ResponseOutputItemDone](l.caller, "response.output_item.done").Item
		l.send(`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"` + call.CallID + `","output":"on"}}`)
		l.killed()
		l.send(`{"type":"response.create"}`)
		first(l.caller, "response.done")
		l.g.Expect(outline(next[*wire.ResponseDone](l.caller, "response.done").Response)).To(gomega.Equal("completed: And on."))
	})
}

func TestOutOfBandResponsesAfterAKill(t *testing.T) {
	story(t, "they end with their items, and the agent says nothing unasked", func(t *testing.T) {
		l, m := killedWith(t, say("Three "), say("words "))
		l.settle(inText)
		l.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"old"}]}}`)
		l.askOutOfBand(asText)
		item := next[*wire.ResponseOutputItemAdded](l.caller, "response.output_item.added").Item.ID
		l.killed()
		ended := next[*wire.ResponseOutputItemDone](l.caller, "response.output_item.done").Item
		l.g.Expect([]string{ended.ID, ended.Status, ended.Role}).To(gomega.Equal([]string{item, "incomplete", "assistant"}))
		done := next[*wire.ResponseDone](l.caller, "response.done").Response
		l.g.Expect(done.Status).To(gomega.Equal("cancelled"))
		l.g.Expect(done.ConversationID).To(gomega.BeNil())
		l.g.Expect(l.count("response.created") + l.count("conversation.item.done")).To(gomega.BeZero())
		l.g.Expect(m.requests()).To(gomega.HaveLen(1))
	})
	story(t, "a session that moves at a pause waits for their end", func(t *testing.T) {
		l := beginLongCall(t, time.Hour, 12*time.Hour, func(c *Config) {
			c.Pipeline.Model = &slowly{c.Pipeline.Model, 8 * time.Second}
		})
		l.settle(inText)
		l.askOutOfBand(asText + ownInput("alpha"))
		first(l.caller, "response.created")
		l.s.Drain(time.Minute)
		l.g.Expect(next[*wire.ResponseDone](l.caller, "response.done").Response.Status).To(gomega.Equal("completed"))
		first(l.caller, "antiphon.session.moving")
	})
}

// slowly is a model that takes a while before it answers.
type slowly struct {
	pipeline.Model
	takes time.Duration
}

// Generate implements pipeline.Model.
func (m *slowly) Generate(ctx context.Context, r pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	select {
	case <-time.After(m.takes):
		return m.Model.Generate(ctx, r, emit)
	case <-ctx.Done():
		return pipeline.Usage{}, ctx.Err()
	}
}

func TestAnAnswerGoesOnAsItWasAskedFor(t *testing.T) {
	story(t, "with its settings", func(t *testing.T) {
		l, m := killedWith(t)
		l.settle(`"instructions":"Be kind.","tools":[{"type":"function","name":"light","parameters":{}}]`)
		l.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]}}`)
		l.send(`{"type":"response.create","response":{` + inText + `,"instructions":"Sing.","tool_choice":"none","max_output_tokens":77,"metadata":{"topic":"song"}}}`)
		first(l.caller, "response.created")
		l.killed()
		first(l.caller, "response.done")
		created := next[*wire.ResponseCreated](l.caller, "response.created").Response
		l.g.Expect(created.OutputModalities).To(gomega.Equal([]string{"text"}))
		l.g.Expect(string(created.Metadata)).To(gomega.MatchJSON(`{"topic":"song"}`))
		first(l.caller, "response.done")
		asked := m.requests()[1]
		l.g.Expect(fmt.Sprint(asked.Instructions, asked.ToolChoice, asked.MaxOutputTokens)).To(gomega.Equal("Sing.none77"))
	})
	story(t, "with its own input", func(t *testing.T) {
		l, m := killedWith(t)
		l.settle(inText)
		l.send(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"one"}]}}`)
		l.send(`{"type":"response.create","response":{"metadata":{}` + ownInput("other") + `}}`)
		first(l.caller, "response.created")
		l.killed()
		first(l.caller, "response.done")
		first(l.caller, "response.done")
		asked := m.requests()[1]
		l.g.Expect(asked.Messages).To(gomega.HaveLen(1))
		l.g.Expect(asked.Messages[0].Text).To(gomega.Equal("other"))
	})
	story(t, "an answer to a turn goes on with the session's settings, whatever was asked for before", func(t *testing.T) {
		l, m := killedWith(t, say("Well. "), say("I am "))
		m.n = 2
		l.settle(inText)
		l.send(`{"type":"response.create","response":{"instructions":"Sing.","metadata":{"topic":"song"}}}`)
		first(l.caller, "response.created")
		l.send(`{"type":"response.cancel"}`)
		first(l.caller, "response.done")
		l.speak(scripted.Tones("hello there"))
		l.quiet(2000)
		first(l.caller, "response.created")
		l.killed()
		first(l.caller, "response.done")
		created := next[*wire.ResponseCreated](l.caller, "response.created").Response
		l.g.Expect(created.Metadata).To(gomega.BeNil())
		l.g.Expect(m.requests()[2].Instructions).NotTo(gomega.ContainSubstring("Sing."))
	})
}

func TestACancelledAnswerStaysCancelled(t *testing.T) {
	story(t, "its audio still plays when the process is killed", func(t *testing.T) {
		l, m := heldBy(t, say(strings.Repeat("one two three four. ", 10)))
		l.webRTC = true
		l.begin()
		l.ask("tell me")
		first(l.caller, "output_audio_buffer.started")
		wait(time.Second)
		l.kept.last = "response.done"
		l.send(`{"type":"response.cancel"}`)
		l.g.Expect(next[*wire.ResponseDone](l.caller, "response.done").Response.Status).To(gomega.Equal("cancelled"))
		wait(time.Second)
		l.g.Expect(l.kept.known().Open.Playing).NotTo(gomega.BeEmpty())
		l.goesOn()
		wait(3 * time.Second)
		l.g.Expect(l.count("response.created")).To(gomega.BeZero())
		l.g.Expect(m.requests()).To(gomega.HaveLen(1))
	})
}

func TestAQuestionOfTheServerIsAskedAgain(t *testing.T) {
	story(t, "and the agent does not speak over it", func(t *testing.T) {
		l, m := heldBy(t)
		l.webRTC = true
		l.cfg.Settings.Audio.Input.Transcription = &wire.Transcription{Language: "en"}
		l.cfg.Options.Runs = runs.Access{Keyed: true, Act: func(context.Context, wire.ClientEvent) *wire.Error { return nil }}
		l.begin()
		asks := tool.News{Run: "run_1", Tool: "book", Seq: 1, Text: "Run run_1 needs the user.", Asks: &tool.Question{
			Interaction: "ia_1", Approval: true, Arguments: json.RawMessage(`{"to":"Oslo"}`),
		}}
		l.s.runs.Caller.Follow("run_1")
		l.s.runs.Caller.Tell(asks)
		first(l.caller, "output_audio_buffer.started")
		l.killed()
		l.g.Expect(l.count("response.created")).To(gomega.BeZero())
		l.s.runs.Caller.Tell(asks) // the run tells each session that follows it
		l.g.Expect(outline(next[*wire.ResponseDone](l.caller, "response.done").Response)).To(gomega.HavePrefix("completed: I need your approval for book"))
		l.g.Expect(m.requests()).To(gomega.BeEmpty(), "no model is asked")
	})
}

func TestAudioThatIsNotCommittedIsToldOf(t *testing.T) {
	story(t, "a kill loses it, and the client learns so", func(t *testing.T) {
		l, _ := killedWith(t)
		l.settle(`"audio":{"input":{"turn_detection":null}}`)
		l.append(scripted.Tones("hello there"))
		l.killed()
		first(l.caller, "input_audio_buffer.cleared")
	})
	story(t, "a kill after the commit loses nothing", func(t *testing.T) {
		l, _ := killedWith(t)
		l.settle(`"audio":{"input":{"turn_detection":null}}`)
		l.append(scripted.Tones("hello there"))
		l.send(`{"type":"input_audio_buffer.commit"}`)
		first(l.caller, "input_audio_buffer.committed")
		l.killed()
		l.g.Expect(l.count("input_audio_buffer.cleared")).To(gomega.BeZero())
	})
	story(t, "a session that moves at a pause waits for the commit", func(t *testing.T) {
		l, _ := killedWith(t)
		l.settle(`"audio":{"input":{"turn_detection":null}}`)
		l.append(scripted.Tones("hello"))
		l.s.Drain(time.Minute)
		wait(20 * time.Second)
		l.g.Expect(l.count("antiphon.session.moving")).To(gomega.BeZero())
		l.send(`{"type":"input_audio_buffer.commit"}`)
		first(l.caller, "antiphon.session.moving")
	})
}

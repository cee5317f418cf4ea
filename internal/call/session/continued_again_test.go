package session

// What takes the place of an answer that a kill has cut off, and what does not.

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// cutOff is a call whose server was killed after the first words of a long answer. The next session has begun, and has not gone on with the answer.
func cutOff(t *testing.T, hangs int) (*longCall, *stuck) {
	t.Helper()
	l, m := heldBy(t, say(strings.Repeat("one two three four. ", 10)))
	l.webRTC, m.n, m.ends = true, hangs, true
	l.begin()
	l.ask("tell me")
	first(l.caller, "response.done")
	l.quiet(1000)
	l.goesOn()
	first(l.caller, "conversation.item.truncated")
	return l, m
}

// notes returns how often each request of the model says why it is asked again.
func (m *stuck) notes() (all []int) {
	for _, r := range m.requests() {
		all = append(all, strings.Count(r.Instructions, "A technical fault"))
	}
	return all
}

func TestASecondKill(t *testing.T) {
	story(t, "before the answer goes on: the user has still heard its beginning", func(t *testing.T) {
		l, m := cutOff(t, 1)
		l.s.Close(conn.ServerStops)
		<-l.s.Done()
		l.goesOn()
		wait(2 * time.Second)
		l.g.Expect(m.notes()).To(gomega.Equal([]int{0, 1}))
	})
	story(t, "while the answer goes on: it goes on as it was asked for at first", func(t *testing.T) {
		l, m := cutOff(t, 2)
		first(l.caller, "response.done")
		l.quiet(1000)
		l.killed()
		l.g.Expect(m.notes()).To(gomega.Equal([]int{0, 1, 1}))
	})
}

func TestTheClientEndsAnAnswerThatIsToGoOn(t *testing.T) {
	for _, stop := range []string{"response.cancel", "output_audio_buffer.clear"} {
		story(t, stop, func(t *testing.T) {
			l, m := cutOff(t, 1)
			l.send(`{"type":"` + stop + `"}`)
			wait(2 * time.Second)
			l.g.Expect(m.requests()).To(gomega.HaveLen(1))
		})
	}
	story(t, "it asks for another one", func(t *testing.T) {
		l, m := cutOff(t, 1)
		l.send(`{"type":"response.create"}`)
		wait(5 * time.Second)
		l.g.Expect(m.requests()).To(gomega.HaveLen(2))
	})
}

func TestATurnThatIsDroppedTakesNoPlace(t *testing.T) {
	story(t, "the client drops what it has heard", func(t *testing.T) {
		l, m := cutOff(t, 1)
		l.speak(scripted.Tones("a b"))
		first(l.caller, "input_audio_buffer.speech_started")
		l.send(`{"type":"input_audio_buffer.clear"}`)
		l.quiet(3000)
		l.g.Expect(m.notes()).To(gomega.Equal([]int{0, 1}))
	})
}

func TestATurnTakesThePlaceOfAnAnswer(t *testing.T) {
	story(t, "also while a tool of the session before runs again", func(t *testing.T) {
		l, m, _ := windAsked(t, true)
		l.moves()
		first(l.caller, "response.done")
		l.speak(scripted.Tones("hello there"))
		l.quiet(12000)
		l.g.Expect(m.calls()).To(gomega.Equal(2))
	})
	story(t, "also if the client asks for the responses", func(t *testing.T) {
		l, m := heldBy(t)
		l.begin()
		l.settle(inText + `,"audio":{"input":{"turn_detection":{"type":"server_vad","create_response":false}}}`)
		l.ask("tell me")
		first(l.caller, "response.created")
		wait(time.Second)
		l.goesOn()
		first(l.caller, "response.done")
		l.speak(scripted.Tones("hello there"))
		l.quiet(2000)
		l.g.Expect(m.requests()).To(gomega.HaveLen(1))
	})
}

func TestOneOfSeveralCallsIsComplete(t *testing.T) {
	for name, second := range map[string]pipeline.ModelEvent{"another call is not": pipeline.ToolCallDelta{Index: 1, Name: "light"}, "text follows": say("So ")} {
		story(t, name, func(t *testing.T) {
			l, m := killedWith(t, callsTool(0, "light"), second)
			l.settle(inText + `,"tools":[{"type":"function","name":"light","parameters":{}}]`)
			l.ask("make light")
			first(l.caller, "response.output_item.done")
			l.killed()
			l.g.Expect(next[*wire.ResponseDone](l.caller, "response.done").Response.Status).To(gomega.Equal("completed"))
			l.g.Expect(m.requests()).To(gomega.HaveLen(1))
		})
	}
}

func TestASecondAnswerWaitsBehindOneThatPlays(t *testing.T) {
	for name, row := range map[string]struct {
		cancels bool
		asked   string
	}{"it goes on as it was asked for": {false, "Sing."}, "it is cancelled, and the first one goes on": {true, "Tell."}} {
		story(t, name, func(t *testing.T) {
			l, m := heldBy(t, say(strings.Repeat("one two three four. ", 10)))
			l.webRTC, m.n, m.ends = true, 2, true
			l.begin()
			l.send(`{"type":"response.create","response":{"instructions":"Tell."}}`)
			first(l.caller, "response.done")
			m.ends = !row.cancels
			l.send(`{"type":"response.create","response":{"instructions":"Sing."}}`)
			l.quiet(1000)
			if row.cancels {
				l.send(`{"type":"response.cancel"}`)
			}
			l.killed()
			l.g.Expect(m.requests()).To(gomega.HaveLen(3))
			l.g.Expect(m.requests()[2].Instructions).To(gomega.HavePrefix(row.asked))
		})
	}
}

func TestAQuestionOfTheServerWaitsForTheAnswer(t *testing.T) {
	story(t, "it is asked once, after the answer", func(t *testing.T) {
		l, m := heldBy(t, say(strings.Repeat("one two three four. ", 10)))
		l.webRTC, m.ends = true, true
		l.cfg.Settings.Audio.Input.Transcription = &wire.Transcription{Language: "en"}
		l.cfg.Options.Runs = runs.Access{Keyed: true, Act: func(context.Context, wire.ClientEvent) *wire.Error { return nil }}
		l.begin()
		asks := tool.News{Run: "run_1", Tool: "book", Seq: 1, Text: "Run run_1 needs the user.", Asks: &tool.Question{
			Interaction: "ia_1", Approval: true, Arguments: json.RawMessage(`{"to":"Oslo"}`),
		}}
		l.s.runs.Caller.Follow("run_1")
		l.ask("tell me")
		first(l.caller, "response.done")
		l.quiet(1000)
		l.s.runs.Caller.Tell(asks)
		wait(100 * time.Millisecond)
		l.goesOn()
		l.s.runs.Caller.Tell(asks)
		wait(20 * time.Second)
		l.g.Expect(m.notes()).To(gomega.Equal([]int{0, 1}))
		l.g.Expect(outline(next[*wire.ResponseDone](l.caller, "response.done").Response)).To(gomega.Equal("completed: And on."))
		l.g.Expect(outline(next[*wire.ResponseDone](l.caller, "response.done").Response)).To(gomega.HavePrefix("completed: I need your approval for book"))
		l.g.Expect(l.count("response.created")).To(gomega.Equal(2))
	})
}

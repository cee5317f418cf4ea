package session

// Work in the background: a call of a tool begins it, its news reach client and model, and the agent answers when nobody speaks.

import (
	"context"
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

// beginsWork is a tool whose call begins work in the background. It gives the caller away.
func beginsWork(callers chan<- *tool.Caller) pipeline.ServerTools {
	return pipeline.ServerTools{Tools: []pipeline.ServerTool{{Tool: pipeline.Tool{Name: "book"}, Run: func(ctx context.Context, _ string) (string, error) {
		callers <- tool.CallerOf(ctx)
		return "Started run run_1.", nil
	}}}}
}

// begunWork is a call in which the model has begun work in the background.
func begunWork(t *testing.T) (*caller, *stepping, *tool.Caller) {
	callers := make(chan *tool.Caller, 1)
	c, m := callWithTools(t, false, beginsWork(callers), func(n int) []pipeline.ModelEvent {
		switch n {
		case 1:
			return []pipeline.ModelEvent{callsTool(0, "book")}
		case 2:
			return []pipeline.ModelEvent{say("I am on it.")}
		}
		return []pipeline.ModelEvent{say("It is booked.")}
	})
	c.send(`{"type":"antiphon.hello"}`)
	c.ask("book it")
	next[*wire.ResponseDone](c, "response.done")
	return c, m, <-callers
}

var ended = tool.News{Run: "run_1", Tool: "book", Message: []byte(`{"seq":7}`), Text: "Run run_1 has ended: booked."}

func TestNewsOfBackgroundWork(t *testing.T) {
	story(t, "the agent answers when nobody speaks", func(t *testing.T) {
		c, m, to := begunWork(t)
		c.g.Expect(to.Tell(tool.News{Run: "run_1", Tool: "book", Message: []byte(`{"seq":1}`)})).To(gomega.BeTrue(), "for the client alone")
		c.g.Expect(string(next[*wire.AntiphonRunMessage](c, "antiphon.run.message").Message)).To(gomega.Equal(`{"seq":1}`))
		c.g.Expect(m.calls()).To(gomega.Equal(2))
		to.Tell(ended)
		told := next[*wire.AntiphonRunMessage](c, "antiphon.run.message")
		c.g.Expect([]string{told.RunID, told.Tool, string(told.Message)}).To(gomega.Equal([]string{"run_1", "book", `{"seq":7}`}))
		c.g.Expect(outline(next[*wire.ResponseDone](c, "response.done").Response)).To(gomega.Equal("completed: It is booked."))
		c.g.Expect(m.read(3)).To(gomega.HaveSuffix("assistant: I am on it. | system: Run run_1 has ended: booked."))
		c.g.Expect(c.count("response.created")).To(gomega.Equal(2))
	})
	story(t, "while the agent speaks, the news wait for the end", func(t *testing.T) {
		c, m, to := begunWork(t)
		c.ask("and now?")
		next[*wire.ResponseCreated](c, "response.created")
		to.Tell(ended)
		to.Tell(ended)
		next[*wire.ResponseDone](c, "response.done")
		next[*wire.ResponseDone](c, "response.done")
		wait(time.Minute)
		c.g.Expect(m.calls()).To(gomega.Equal(4), "one answer to both")
		c.g.Expect(c.count("error")).To(gomega.BeZero())
	})
	story(t, "news that come while the model writes are after its words", func(t *testing.T) {
		callers, writes, told := make(chan *tool.Caller, 1), make(chan struct{}), make(chan struct{})
		c, m := callWithTools(t, false, beginsWork(callers), func(n int) []pipeline.ModelEvent {
			switch n {
			case 1:
				return []pipeline.ModelEvent{callsTool(0, "book")}
			case 2:
				close(writes)
				<-told
				return []pipeline.ModelEvent{say("I am on it.")}
			}
			return []pipeline.ModelEvent{say("It is booked.")}
		})
		c.send(`{"type":"antiphon.hello"}`)
		c.ask("book it")
		<-writes
		(<-callers).Tell(ended)
		next[*wire.AntiphonRunMessage](c, "antiphon.run.message")
		close(told)
		next[*wire.ResponseDone](c, "response.done")
		c.g.Expect(outline(next[*wire.ResponseDone](c, "response.done").Response)).To(gomega.Equal("completed: It is booked."))
		c.g.Expect(m.read(3)).To(gomega.HaveSuffix("assistant: I am on it. | system: Run run_1 has ended: booked."))
	})
	story(t, "the answer to a turn of the user has the news", func(t *testing.T) {
		c, m, to := begunWork(t)
		c.speak(scripted.Tones("hello"))
		next[*wire.InputAudioBufferSpeechStarted](c, "input_audio_buffer.speech_started")
		to.Tell(ended)
		c.quiet(1000)
		next[*wire.ResponseDone](c, "response.done")
		wait(time.Minute)
		c.g.Expect(m.read(m.calls())).To(gomega.ContainSubstring("Run run_1 has ended"))
		c.g.Expect(c.count("response.created")).To(gomega.Equal(2))
	})
	story(t, "a client that creates responses itself gets the news alone", func(t *testing.T) {
		c, m, to := begunWork(t)
		c.settle(`"audio":{"input":{"turn_detection":null}}`)
		to.Tell(ended)
		next[*wire.AntiphonRunMessage](c, "antiphon.run.message")
		wait(time.Minute)
		c.g.Expect(m.calls()).To(gomega.Equal(2))
	})
	story(t, "a session that has ended takes no news", func(t *testing.T) {
		c, _, to := begunWork(t)
		c.s.Close(conn.ByClient)
		<-to.Ended
		<-c.s.Done()
		c.g.Expect(to.Tell(ended)).To(gomega.BeFalse())
	})
}

func TestTheClientActsOnRuns(t *testing.T) {
	// called returns a call whose requests for runs are told to begun, and end with the error that end gives.
	called := func(t *testing.T) (c *caller, begun chan wire.ClientEvent, end chan *wire.Error) {
		begun, end = make(chan wire.ClientEvent), make(chan *wire.Error)
		c = newCallerWith(t, Config{Pipeline: plain(), Settings: wire.DefaultSession(), Options: Options{Runs: runs.Access{
			Keyed: true,
			Act: func(ctx context.Context, e wire.ClientEvent) *wire.Error {
				begun <- e
				select {
				case refused := <-end:
					return refused
				case <-ctx.Done():
					return &wire.Error{Type: "server_error", Code: "store_unavailable", Message: ctx.Err().Error()}
				}
			},
		}}}).start()
		c.send(`{"type":"antiphon.hello","event_id":"hello"}`)
		next[*wire.AntiphonAck](c, "antiphon.ack")
		return c, begun, end
	}
	const approves = `{"type":"antiphon.run.reply","event_id":"event_1","run_id":"run_1","interaction_id":"ia_1","approve":true}`
	story(t, "and gets an answer to each request", func(t *testing.T) {
		c, begun, end := called(t)
		c.send(approves)
		c.send(`{"type":"antiphon.run.cancel","event_id":"event_2","run_id":"run_1"}`)
		c.g.Expect(string((<-begun).(*wire.AntiphonRunReply).Approve)).To(gomega.Equal("true"))
		end <- nil
		c.g.Expect(next[*wire.AntiphonAck](c, "antiphon.ack").Acknowledges).To(gomega.Equal("event_1"))
		c.g.Expect((<-begun).(*wire.AntiphonRunCancel).RunID).To(gomega.Equal("run_1"))
		end <- &wire.Error{Type: "invalid_request_error", Code: "run_ended", Message: "it has succeeded"}
		refused := next[*wire.ErrorEvent](c, "error").Error
		c.g.Expect([]string{refused.Type, refused.Code, *refused.EventID}).To(gomega.Equal([]string{"invalid_request_error", "run_ended", "event_2"}))
	})
	story(t, "and the end of the call does not take an approval back", func(t *testing.T) {
		c, begun, end := called(t)
		c.send(approves)
		<-begun
		c.s.Close(conn.ByClient)
		wait(time.Second)
		end <- nil
		<-c.s.Done()
	})
	story(t, "and a request that hangs ends in time", func(t *testing.T) {
		c, begun, _ := called(t)
		c.send(approves)
		<-begun
		c.g.Expect(next[*wire.ErrorEvent](c, "error").Error.Code).To(gomega.Equal("store_unavailable"))
	})
}

package session

// A tool of the server that runs when its session ends: the next session of the call calls it again if it is repeatable. Otherwise its outcome is unknown.

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// windAsked is a long call in which the model has called a tool that takes 8 s. keys gets the key of each call of the tool.
func windAsked(t *testing.T, repeatable bool) (l *longCall, m *stepping, keys chan string) {
	t.Helper()
	keys = make(chan string, 9)
	wind := takes("wind", 8*time.Second)
	run := wind.Run
	wind.Repeatable, wind.Run = repeatable, func(ctx context.Context, arguments string) (string, error) {
		keys <- pipeline.IdempotencyKey(ctx)
		return run(ctx, arguments)
	}
	l = beginLongCall(t, time.Hour, 12*time.Hour, func(c *Config) {
		m = &stepping{Model: c.Pipeline.Model, step: func(n int) []pipeline.ModelEvent {
			if n == 1 {
				return []pipeline.ModelEvent{callsTool(0, "wind")}
			}
			return []pipeline.ModelEvent{say("It blows.")}
		}}
		c.Pipeline.Model, c.Options.Tools = m, pipeline.ServerTools{Tools: []pipeline.ServerTool{wind}}
	})
	l.settle(`"output_modalities":["text"]`)
	l.ask("how is the wind")
	first(l.caller, "response.mcp_call.in_progress")
	return l, m, keys
}

// moves ends the session, and begins the next one.
func (l *longCall) moves() {
	l.t.Helper()
	wait(2 * time.Second)
	l.s.Close(conn.ServerStops)
	<-l.s.Done()
	l.goesOn()
}

// outcome waits for the end of the tool's call.
func (l *longCall) outcome() wire.Item {
	l.t.Helper()
	for {
		if it := next[*wire.ConversationItemDone](l.caller, "conversation.item.done").Item; it.Type == wire.ItemMCPCall {
			return it
		}
	}
}

func TestAToolOfTheSessionBefore(t *testing.T) {
	story(t, "it is called again with the same key, and the agent goes on with the outcome", func(t *testing.T) {
		l, m, keys := windAsked(t, true)
		l.moves()
		done := next[*wire.ResponseDone](l.caller, "response.done").Response
		l.g.Expect([]string{done.Status, done.Output[0].Output}).To(gomega.Equal([]string{"cancelled", ""}))
		it := l.outcome()
		l.g.Expect([]string{it.Output, it.Status, string(it.Error)}).To(gomega.Equal([]string{`wind{"n":0}`, "completed", ""}))
		l.g.Expect(outline(next[*wire.ResponseDone](l.caller, "response.done").Response)).To(gomega.Equal("completed: It blows."))
		l.g.Expect(m.calls()).To(gomega.Equal(2), "nobody asks the model before the tool has ended")
		l.g.Expect(m.read(2)).To(gomega.ContainSubstring(`result wind{"n":0}`))
		l.g.Expect(keys).To(gomega.HaveLen(2))
		key := <-keys
		l.g.Expect([]string{key, <-keys}).To(gomega.Equal([]string{it.ID, it.ID}))
	})

	story(t, "also if its response was over, and if that session ends, too", func(t *testing.T) {
		l, _, keys := windAsked(t, true)
		l.send(`{"type":"response.cancel"}`)
		first(l.caller, "response.done")
		l.moves()
		l.moves()
		l.g.Expect(l.outcome().Output).To(gomega.Equal(`wind{"n":0}`))
		l.g.Expect(keys).To(gomega.HaveLen(3))
		l.g.Expect(l.count("response.created")).To(gomega.BeZero())
	})

	for name, cancels := range map[string]bool{"in a response": false, "after its response": true} {
		story(t, "one that is not repeatable has an unknown outcome "+name, func(t *testing.T) {
			l, _, keys := windAsked(t, false)
			if cancels {
				l.send(`{"type":"response.cancel"}`)
			}
			l.moves()
			l.g.Expect(string(l.outcome().Error)).To(gomega.ContainSubstring("outcome_unknown"))
			l.g.Expect(keys).To(gomega.HaveLen(1))
			l.g.Expect(<-keys).To(gomega.BeEmpty())
		})
	}

	story(t, "a session that moves at a pause waits for its end", func(t *testing.T) {
		l, _, _ := windAsked(t, true)
		l.send(`{"type":"response.cancel"}`)
		first(l.caller, "response.done")
		l.s.Drain(time.Minute)
		l.g.Expect(l.outcome().Output).To(gomega.Equal(`wind{"n":0}`))
		first(l.caller, "antiphon.session.moving")
	})
}

package session

// antiphon.hello: the comparison of the state machines of both ends.

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestHello(t *testing.T) {
	story(t, "the two ends tell each other which machines they run", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.send(`{"type":"antiphon.hello","event_id":"h1","barge_in":true,"machines":{"turn":"0000000000000001"}}`)
		ack := next[*wire.AntiphonAck](c, "antiphon.ack")
		c.g.Expect(ack.Acknowledges).To(gomega.Equal("h1"))
		known, differ := machine.Differing(coord.Machines(), func(name string) (string, bool) {
			v, ok := ack.Machines.Field(name)
			c.g.Expect(ok).To(gomega.BeTrue(), name)
			return v.Text()
		})
		c.g.Expect(known).To(gomega.Equal(len(coord.Machines())))
		c.g.Expect(differ).To(gomega.BeEmpty())
	})
	for name, machines := range map[string]string{
		"none": ``, "no texts": `,"machines":{"turn":7}`, "strangers": `,"machines":{"run":"1"}`, "empty": `,"machines":{}`,
	} {
		story(t, "machines: "+name, func(t *testing.T) {
			c := byWebSocket(t, plain())
			c.send(`{"type":"antiphon.hello","event_id":"h1"` + machines + `}`)
			c.g.Expect(next[*wire.AntiphonAck](c, "antiphon.ack").Machines).NotTo(gomega.BeEmpty())
		})
	}
}

// A model that thinks or loads before its first word: a client that knows our extensions is told, once for each change.
func TestProgressOfTheModel(t *testing.T) {
	thinker := func() *pipeline.Pipeline {
		return withModel(func(ctx context.Context, emit func(pipeline.ModelEvent) error) error {
			for _, e := range []pipeline.ModelEvent{
				pipeline.Thinking{Loading: true}, pipeline.Thinking{}, pipeline.Thinking{}, pipeline.TextDelta{Text: "Yes."}, pipeline.Thinking{Loading: true},
			} {
				if err := emit(e); err != nil {
					return err
				}
				wait(5 * time.Second)
			}
			return ctx.Err()
		})
	}
	story(t, "with hello", func(t *testing.T) {
		c := byWebSocket(t, thinker())
		c.send(`{"type":"antiphon.hello"}`)
		c.ask("now")
		for _, want := range []string{"loading", "thinking"} {
			e := next[*wire.AntiphonResponseProgress](c, "antiphon.response.progress")
			c.g.Expect(e.State).To(gomega.Equal(want))
			c.g.Expect(e.ResponseID).NotTo(gomega.BeEmpty())
		}
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
		c.g.Expect(c.count("antiphon.response.progress")).To(gomega.Equal(2))
	})
	story(t, "without hello", func(t *testing.T) {
		c := byWebSocket(t, thinker())
		c.ask("now")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
		c.g.Expect(c.count("antiphon.response.progress")).To(gomega.BeZero())
	})
}

package session

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/server/call"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/wire"
)

// returning is a caller that may come back over another connection.
type returning struct {
	*caller
	letGo atomic.Int32
}

// DropConnection implements call.Reconnectable.
func (r *returning) DropConnection() { r.letGo.Add(1) }

// byReturning places a call of a client that has said hello.
func byReturning(t *testing.T, paced bool) *returning {
	t.Helper()
	r := &returning{caller: newCaller(t, plain())}
	if paced {
		r.pacer = newPacer(r.s, nil)
	}
	r.s.Start(r)
	t.Cleanup(func() {
		r.s.Close(conn.ByClient)
		<-r.s.Done()
	})
	first(r.caller, "session.created")
	r.send(`{"type":"antiphon.hello","event_id":"h"}`)
	first(r.caller, "antiphon.ack")
	return r
}

var errGone = fmt.Errorf("%w: test", call.ErrUnreachable)

func TestAClientComesBack(t *testing.T) {
	story(t, "over another connection: the conversation is there, and nothing was said to nobody", func(t *testing.T) {
		c := byReturning(t, true)
		c.g.Expect(c.s.Resumable()).To(gomega.BeTrue())
		c.send(`{"type":"conversation.item.create","event_id":"i1","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"say 40 words"}]}}`)
		c.send(`{"type":"response.create","event_id":"r1"}`)
		first(c.caller, "output_audio_buffer.started")
		c.quiet(6000)
		wait(time.Second) // it is gone already
		c.s.Failed(errGone)
		wait(time.Second)
		c.g.Expect(c.letGo.Load()).To(gomega.Equal(int32(1)))
		gone := c.pacer.heardMS()
		wait(30 * time.Second)
		c.g.Expect(c.pacer.heardMS()).To(gomega.Equal(gone), "the reply waits")

		seen, ok := c.s.Leave()
		c.g.Expect(ok).To(gomega.BeTrue())
		c.g.Expect(seen).To(gomega.Equal("r1"))
		wait(50 * time.Second) // asking for it has given it the whole time again
		c.s.Restored()
		first(c.caller, "output_audio_buffer.stopped")
		c.g.Expect(c.pacer.again).To(gomega.HaveExactElements(gomega.BeNumerically("~", 3.5*format.OutputRate, format.OutputRate/10)), "what was under way is said again")
		c.ask("hello")
		first(c.caller, "response.done")
	})

	story(t, "before its old connection was seen to be gone", func(t *testing.T) {
		c := byReturning(t, false)
		_, ok := c.s.Leave()
		c.g.Expect(ok).To(gomega.BeTrue())
		c.s.Restored()
		wait(2 * time.Minute)
		c.ask("hello")
		first(c.caller, "response.done")
	})

	story(t, "a reply that begins meanwhile waits from its first sound on", func(t *testing.T) {
		c := byReturning(t, true)
		c.ask("say 20 words")
		c.s.Failed(errGone)
		first(c.caller, "response.created")
		wait(10 * time.Second)
		c.g.Expect(c.pacer.heardMS()).To(gomega.BeNumerically("<=", 20))
		c.s.Restored()
		first(c.caller, "output_audio_buffer.stopped")
	})

	story(t, "audio that the client plays waits, too", func(t *testing.T) {
		c := byReturning(t, false)
		c.s.Failed(errGone)
		c.ask("say 20 words")
		first(c.caller, "response.created")
		wait(10 * time.Second)
		before, _ := c.audio()
		c.g.Expect(before).To(gomega.BeNumerically("<=", 200))
		c.s.Restored()
		first(c.caller, "response.done")
		after, _ := c.audio()
		c.g.Expect(after).To(gomega.BeNumerically(">", 5000))
	})
}

// TestAClientStaysAway: what no connection follows, and what is no client's.
func TestAClientStaysAway(t *testing.T) {
	story(t, "not at all: the session ends after a minute", func(t *testing.T) {
		c := byReturning(t, true)
		began := time.Now()
		c.s.Failed(errGone)
		<-c.s.Done()
		c.g.Expect(time.Since(began)).To(gomega.Equal(time.Minute))
		_, ok := c.s.Leave()
		c.g.Expect(ok).To(gomega.BeFalse())
	})

	for name, err := range map[string]error{"the client hangs up": call.ErrHungUp, "its connection is broken by a fault": errors.New("fault")} {
		story(t, name+": nobody waits", func(t *testing.T) {
			c := byReturning(t, true)
			c.s.Failed(err)
			<-c.s.Done()
		})
	}

	story(t, "one that never said hello is not waited for", func(t *testing.T) {
		c := byWebRTC(t, plain())
		_, ok := c.s.Leave()
		c.g.Expect(ok).To(gomega.BeFalse())
		c.g.Expect(c.s.Resumable()).To(gomega.BeFalse())
		c.s.Failed(errGone)
		<-c.s.Done()
	})

	story(t, "what is controlled from the side does not count as the client's", func(t *testing.T) {
		c := byReturning(t, true)
		for _, rules := range []bool{true, false} {
			c.side(rules).send(`{"type":"input_audio_buffer.clear","event_id":"side"}`)
			first(c.caller, "input_audio_buffer.cleared")
		}
		c.send(`{"type":"nonsense","event_id":"bad"}`)
		c.g.Expect(next[*wire.ErrorEvent](c.caller, "error").Error.Code).To(gomega.Equal(wire.CodeUnknownEvent))
		seen, _ := c.s.Leave()
		c.g.Expect(seen).To(gomega.Equal("bad"), "a refused event was taken, too")
	})
}

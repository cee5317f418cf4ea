package session

// Clients that lose their connection and continue the call over another one.

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/wire"
)

// reconnectingClient is a caller that is link.Reconnectable: it may continue over another connection.
type reconnectingClient struct {
	*caller
	letGo atomic.Int32
}

// DropConnection implements link.Reconnectable.
func (r *reconnectingClient) DropConnection() { r.letGo.Add(1) }

// byReconnecting places a call of a client that has sent antiphon.hello.
func byReconnecting(t *testing.T, paced bool) *reconnectingClient {
	t.Helper()
	r := &reconnectingClient{caller: newCaller(t, plain())}
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

var errGone = fmt.Errorf("%w: test", link.ErrUnreachable)

func TestAClientReconnects(t *testing.T) {
	story(t, "over another connection: the conversation is kept, and no audio was sent meanwhile", func(t *testing.T) {
		c := byReconnecting(t, true)
		c.g.Expect(c.s.Resumable()).To(gomega.BeTrue())
		c.send(`{"type":"conversation.item.create","event_id":"i1","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"say 40 words"}]}}`)
		c.send(`{"type":"response.create","event_id":"r1"}`)
		first(c.caller, "output_audio_buffer.started")
		c.quiet(6000)
		c.pacer.cutNetwork()
		wait(time.Second) // the connection is gone already
		c.s.Failed(errGone)
		wait(time.Second)
		c.g.Expect(c.letGo.Load()).To(gomega.Equal(int32(1)))
		gone := c.pacer.sentMS()
		wait(30 * time.Second)
		c.g.Expect(c.pacer.sentMS()).To(gomega.Equal(gone), "the response waits")

		seen, ok := c.s.Leave()
		c.g.Expect(ok).To(gomega.BeTrue())
		c.g.Expect(seen).To(gomega.Equal("r1"))
		wait(50 * time.Second) // Leave has started the grace period anew
		c.s.Restored()
		first(c.caller, "output_audio_buffer.stopped")
		c.g.Expect(c.pacer.repeated).To(gomega.HaveExactElements(gomega.BeNumerically("~", room.OutputRate, room.OutputRate/10)), "the audio that was under way is sent again")
		c.ask("hello")
		first(c.caller, "response.done")
	})

	story(t, "a short response that was sent whole into a cut is sent again", func(t *testing.T) {
		c := byReconnecting(t, true)
		c.ask("hello")
		first(c.caller, "output_audio_buffer.started")
		c.pacer.cutNetwork()
		first(c.caller, "output_audio_buffer.stopped")
		sent := c.pacer.sentMS()
		wait(time.Second)
		c.s.Lost()
		wait(3 * time.Second)
		c.g.Expect(c.pacer.sentMS()).To(gomega.Equal(sent))
		c.s.Restored()
		first(c.caller, "output_audio_buffer.started")
		first(c.caller, "output_audio_buffer.stopped")
		c.g.Expect(c.pacer.sentMS()).To(gomega.BeNumerically("~", 2*sent, 40))
		c.s.Lost() // the second time nothing was lost
		c.s.Restored()
		c.ask("hello again")
		first(c.caller, "response.done")
		c.g.Expect(c.pacer.resumes()).To(gomega.HaveLen(1))
	})

	story(t, "before the server has noticed the loss of the old connection", func(t *testing.T) {
		c := byReconnecting(t, false)
		_, ok := c.s.Leave()
		c.g.Expect(ok).To(gomega.BeTrue())
		c.s.Restored()
		wait(2 * time.Minute)
		c.ask("hello")
		first(c.caller, "response.done")
	})
}

// TestAResponseWaitsForTheClient: what a response has while the client is away waits for its return.
func TestAResponseWaitsForTheClient(t *testing.T) {
	story(t, "a response that begins meanwhile waits with all its audio", func(t *testing.T) {
		c := byReconnecting(t, true)
		c.ask("say 20 words")
		c.s.Failed(errGone)
		first(c.caller, "response.created")
		wait(10 * time.Second)
		c.g.Expect(c.pacer.sentMS()).To(gomega.BeNumerically("<=", 20))
		c.s.Restored()
		first(c.caller, "output_audio_buffer.stopped")
	})

	story(t, "audio that goes out in events waits, too", func(t *testing.T) {
		c := byReconnecting(t, false)
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

// TestAClientDoesNotReconnect: calls that no other connection continues.
func TestAClientDoesNotReconnect(t *testing.T) {
	story(t, "the session ends after a minute", func(t *testing.T) {
		c := byReconnecting(t, true)
		began := time.Now()
		c.s.Failed(errGone)
		<-c.s.Done()
		c.g.Expect(time.Since(began)).To(gomega.Equal(time.Minute))
		_, ok := c.s.Leave()
		c.g.Expect(ok).To(gomega.BeFalse())
	})

	for name, err := range map[string]error{"the client hangs up": link.ErrHungUp, "its connection is broken by a fault": errors.New("fault")} {
		story(t, name+": the session does not wait", func(t *testing.T) {
			c := byReconnecting(t, true)
			c.s.Failed(err)
			<-c.s.Done()
		})
	}

	story(t, "the session does not wait for a client that never sent antiphon.hello", func(t *testing.T) {
		c := byWebRTC(t, plain())
		_, ok := c.s.Leave()
		c.g.Expect(ok).To(gomega.BeFalse())
		c.g.Expect(c.s.Resumable()).To(gomega.BeFalse())
		c.s.Failed(errGone)
		<-c.s.Done()
	})

	story(t, "an event of a side-band controller does not count as the client's", func(t *testing.T) {
		c := byReconnecting(t, true)
		for _, rules := range []bool{true, false} {
			c.sideband(rules).send(`{"type":"input_audio_buffer.clear","event_id":"side"}`)
			first(c.caller, "input_audio_buffer.cleared")
		}
		c.send(`{"type":"nonsense","event_id":"bad"}`)
		c.g.Expect(next[*wire.ErrorEvent](c.caller, "error").Error.Code).To(gomega.Equal(wire.CodeUnknownEvent))
		seen, _ := c.s.Leave()
		c.g.Expect(seen).To(gomega.Equal("bad"), "a refused event was taken, too")
	})
}

package session

// The ends of a session that the client did not ask for: the time limit, and the stop of the server.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestTimeLimit(t *testing.T) {
	story(t, "after an hour the session ends with a reason; a client of the extension gets a notice before", func(t *testing.T) {
		began := time.Now()
		c := byWebSocket(t, plain())
		created := c.All()[0].(*wire.SessionCreated).Session
		c.g.Expect(created.ExpiresAt).To(gomega.Equal(began.Add(time.Hour).Unix()))
		c.send(`{"type":"antiphon.hello","event_id":"hi"}`)
		wait(58 * time.Minute)
		c.g.Expect(c.count("antiphon.session.expiring")).To(gomega.BeZero())
		notice := next[*wire.AntiphonSessionExpiring](c, "antiphon.session.expiring")
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", 59*time.Minute, time.Second))
		c.g.Expect([]int{notice.ExpiresAt, notice.SecondsLeft}).To(gomega.Equal([]int{int(created.ExpiresAt), 60}))
		expectSessionWorks(c)
		c.ask("stall")
		first(c, "response.created")
		<-c.s.Done()
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", time.Hour, time.Second))
		e := next[*wire.ErrorEvent](c, "error").Error
		c.g.Expect(e.Code).To(gomega.Equal("session_expired"))
		c.g.Expect(e.Message).To(gomega.ContainSubstring("60 minutes"))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("cancelled"))
	})

	story(t, "a client that does not use the extension gets no notice", func(t *testing.T) {
		c := newCallerWith(t, Config{Pipeline: plain(), Settings: wire.DefaultSession(), Longest: 90 * time.Second}).start()
		<-c.s.Done()
		c.g.Expect(c.Names()).To(gomega.Equal([]string{"session.created", "conversation.created", "error"}))
	})
}

// TestADrainIsAnnounced: a client of the extension learns how long the server waits for a pause, and any other gets no event that it does not know.
func TestADrainIsAnnounced(t *testing.T) {
	for name, hello := range map[string]bool{"a client of the extension": true, "a client that does not use it": false} {
		story(t, name, func(t *testing.T) {
			c := byWebSocket(t, plain())
			if hello {
				c.send(`{"type":"antiphon.hello","event_id":"hi"}`)
			}
			c.ask("stall")
			first(c, "response.created")
			c.s.Drain(time.Minute)
			<-c.s.Done()
			c.g.Expect(c.count("antiphon.session.expiring") == 1).To(gomega.Equal(hello))
			if hello {
				c.g.Expect(next[*wire.AntiphonSessionExpiring](c, "antiphon.session.expiring").SecondsLeft).To(gomega.Equal(60))
			}
		})
	}
}

// TestTheServerStops: a data channel closes without a reason, so the server sends an error before. A WebSocket closes with a code.
func TestTheServerStops(t *testing.T) {
	story(t, "over WebRTC", func(t *testing.T) {
		c := byWebRTC(t, plain())
		c.ask("say 40 words")
		first(c, "output_audio_buffer.started")
		c.s.Close(conn.ServerStops)
		<-c.s.Done()
		e := next[*wire.ErrorEvent](c, "error").Error
		c.g.Expect([]string{e.Type, e.Code}).To(gomega.Equal([]string{"server_error", "server_stopping"}))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("cancelled"))
	})

	story(t, "over a WebSocket the close code says why", func(t *testing.T) {
		c := &explaining{caller: newCaller(t, plain())}
		c.s.Start(c)
		c.start() // only the first counts
		c.s.Close(conn.ServerStops)
		<-c.s.Done()
		c.g.Expect(c.count("error")).To(gomega.BeZero())
		c.g.Expect(c.why).To(gomega.Equal(conn.ServerStops))
	})
}

// explaining is a link.Link that is a link.CloseExplainer.
type explaining struct {
	*caller
	why conn.Reason
}

// ExplainClose implements link.CloseExplainer.
func (l *explaining) ExplainClose(why conn.Reason) { l.why = why }

package rtc

// Closing calls at random moments of their start.

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/rtcp"
	"github.com/pion/rtp"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/hangup"
)

// teardowns is how many calls TestTeardownAtEveryMoment closes, unless the environment variable ANTIPHON_TEARDOWNS says another number
// (make teardown).
const teardowns = 200

// TestTeardownAtEveryMoment closes calls at every moment of their start, while the client's media arrive. Each close ends in time, and
// leaves no goroutine behind.
func TestTeardownAtEveryMoment(t *testing.T) {
	g := gomega.NewWithT(t)
	n := teardowns
	if v := os.Getenv("ANTIPHON_TEARDOWNS"); v != "" {
		var err error
		n, err = strconv.Atoi(v)
		g.Expect(err).NotTo(gomega.HaveOccurred(), "ANTIPHON_TEARDOWNS")
	}
	e := newTestEngine(t, Config{UDPPort: freePort(t), farewell: 50 * time.Millisecond})
	var slowest time.Duration
	var mu sync.Mutex
	var workers sync.WaitGroup
	calls := make(chan int)
	for range 4 {
		workers.Go(func() {
			for i := range calls {
				took := closeDuringStart(t, e, i)
				mu.Lock()
				slowest = max(slowest, took)
				mu.Unlock()
			}
		})
	}
	for i := range n {
		calls <- i
	}
	close(calls)
	workers.Wait()
	t.Logf("%d calls closed, the slowest in %v", n, slowest)
	g.Expect(slowest).To(gomega.BeNumerically("<", hangup.GiveUpAfter))
	g.Expect(e.Stuck()).To(gomega.BeZero())
}

// closeDuringStart begins a call, closes it at a random moment of its start, and returns how long that took. Every second call is closed
// in the moment in which the server's handshake has ended and nobody accepts the client's streams yet.
func closeDuringStart(t *testing.T, e *Engine, i int) time.Duration {
	t.Helper()
	c := newClient(t, clientOptions{ssrc: rand.Uint32})
	defer c.close()
	p, answer, err := e.Answer(context.Background(), c.offer(t), nil, &recorder{})
	if err != nil {
		t.Error(err)
		return 0
	}
	due := make(chan struct{})
	if i%2 == 0 {
		p.pc.SCTP().Transport().OnStateChange(func(s webrtc.DTLSTransportState) {
			if s == webrtc.DTLSTransportStateConnected {
				close(due)
				<-time.After(20 * time.Millisecond) // so that the end of the call waits for this transport
			}
		})
	}
	if err := c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeAnswer, SDP: answer}); err != nil {
		t.Error(err)
		return 0
	}
	stop := make(chan struct{})
	var talking sync.WaitGroup
	talking.Go(func() { c.talkUntil(stop) })
	select {
	case <-due:
	case <-time.After(time.Duration(rand.Int64N(int64(60 * time.Millisecond)))):
	}
	began := time.Now()
	_ = p.Close() // a connection that never stood complains about its end
	took := time.Since(began)
	close(stop)
	talking.Wait()
	return took
}

// talkUntil sends audio and reports of streams that the server does not know, as fast as the connection takes them.
func (c *client) talkUntil(stop <-chan struct{}) {
	tick := time.NewTicker(200 * time.Microsecond)
	defer tick.Stop()
	for n := uint32(1); ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		for range 10 {
			h := rtp.Header{Version: 2, SequenceNumber: uint16(n), Timestamp: n * frameTicks}
			_ = c.voice.WriteRTP(&rtp.Packet{Header: h, Payload: opus.SilentPacket()}) // the connection may not stand yet, or any more
		}
		_ = c.pc.WriteRTCP([]rtcp.Packet{&rtcp.SenderReport{SSRC: n}})
	}
}

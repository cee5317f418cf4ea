package rtc

// Receipts: what the client has provably received, and what it has missed when the network was cut.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/pion/rtcp"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// TestMissed checks what an output says that a client has missed, frame by frame.
func TestMissed(t *testing.T) {
	const frames = 10
	for _, row := range []struct {
		name   string
		do     func(o *Output, first uint32)
		since  uint64
		missed int // the first missed frame; -1 for none
	}{
		{"nothing is proven", func(*Output, uint32) {}, 1, 0},
		{"half is proven", func(o *Output, ts uint32) { o.Received(ts + 5*frameTicks) }, 1, 5},
		{"all is proven", func(o *Output, ts uint32) { o.Received(ts + frames*frameTicks) }, 1, -1},
		{"a proof never goes back", func(o *Output, ts uint32) { o.Received(ts + 5*frameTicks); o.Received(ts) }, 1, 5},
		{"a client cannot prove what was not sent", func(o *Output, ts uint32) { o.Received(ts + 500*frameTicks) }, 1, 0},
		{"after a cut later packets prove nothing", func(o *Output, ts uint32) {
			o.Received(ts + 5*frameTicks)
			o.cut()
			o.Received(ts + frames*frameTicks)
		}, 1, 5},
		{"once the missed audio is known, receipts count again", func(o *Output, ts uint32) {
			o.cut()
			_, _ = o.Missed(1)
			o.Received(ts + frames*frameTicks)
		}, 1, -1},
		{"a cut that was over before it was noticed", func(o *Output, ts uint32) {
			o.Received(ts + frames*frameTicks)
			o.CutSince(60 * time.Millisecond)
		}, 1, 7},
		{"a response that begins after the cut", func(o *Output, _ uint32) {
			o.cut()
			o.Begin(2)
			o.Write(ramp(0, FrameSize))
			var pcm [FrameSize]int16
			o.next(&pcm)
			o.Received(o.NextTimestamp())
		}, 2, -1},
		{"another response", func(*Output, uint32) {}, 2, -1},
		{"the earliest position after a rewind", func(o *Output, _ uint32) {
			o.Resume(2, 3*FrameSize)
			var pcm [FrameSize]int16
			o.next(&pcm)
		}, 2, 3},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			o := NewOutput(randomStart())
			var pcm [FrameSize]int16
			o.next(&pcm) // silence is never missed
			first := o.NextTimestamp()
			o.Begin(1)
			o.Write(ramp(0, frames*FrameSize))
			for range frames {
				o.next(&pcm)
			}
			row.do(o, first)
			from, ok := o.Missed(row.since)
			g.Expect(ok).To(gomega.Equal(row.missed >= 0))
			if ok {
				g.Expect(from).To(gomega.Equal(voice.Samples(row.missed * FrameSize)))
			}
		})
	}
}

// TestReportsProveReceipts checks that a receiver report proves what its last sequence number names, also when the RTP clock has skipped.
func TestReportsProveReceipts(t *testing.T) {
	g := gomega.NewWithT(t)
	s := newStage()
	p := &Peer{output: s.output, pacer: s.pacer}
	s.output.Begin(1)
	s.output.Write(ramp(0, 10*FrameSize))
	for range 4 {
		s.pacer.Send()
	}
	s.output.skip(7)
	for range 6 {
		s.pacer.Send()
	}
	packets := s.sink.all()
	p.reported([]rtcp.ReceptionReport{{LastSequenceNumber: 3<<16 | uint32(packets[5].SequenceNumber)}})
	from, ok := s.output.Missed(1)
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(from).To(gomega.Equal(voice.Samples(6 * FrameSize)))
	p.reported([]rtcp.ReceptionReport{{LastSequenceNumber: uint32(packets[9].SequenceNumber + 1)}})
	_, ok = s.output.Missed(1)
	g.Expect(ok).To(gomega.BeTrue(), "the packet was never sent")
	p.reported([]rtcp.ReceptionReport{{LastSequenceNumber: uint32(packets[9].SequenceNumber)}})
	_, ok = s.output.Missed(1)
	g.Expect(ok).To(gomega.BeFalse())
}

// TestLastAnswered checks which connectivity checks prove a receipt.
func TestLastAnswered(t *testing.T) {
	now := time.Now()
	pair := func(nominated bool, responses uint64, ago time.Duration) webrtc.ICECandidatePairStats {
		return webrtc.ICECandidatePairStats{
			Nominated: nominated, ResponsesReceived: responses, CurrentRoundTripTime: 0.25,
			LastResponseTimestamp: webrtc.StatsTimestamp(now.Add(-ago).UnixMilli()),
		}
	}
	for _, row := range []struct {
		name  string
		stats webrtc.StatsReport
		age   time.Duration
		ok    bool
	}{
		{"no path", webrtc.StatsReport{}, 0, false},
		{"the round trip counts", webrtc.StatsReport{"a": pair(true, 3, time.Second)}, 1250 * time.Millisecond, true},
		{"another path", webrtc.StatsReport{"a": pair(false, 3, time.Second)}, 0, false},
		{"never answered", webrtc.StatsReport{"a": pair(true, 0, time.Second)}, 0, false},
		{"the clock was set back", webrtc.StatsReport{"a": pair(true, 3, -time.Hour)}, 0, false},
		{"too long ago", webrtc.StatsReport{"a": pair(true, 3, time.Hour)}, 0, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			age, ok := lastAnswered(row.stats, now)
			g.Expect(ok).To(gomega.Equal(row.ok))
			g.Expect(age).To(gomega.BeNumerically("~", row.age, 2*time.Millisecond))
		})
	}
}

// TestArrivals checks which gaps in the client's packets are cuts of the network.
func TestArrivals(t *testing.T) {
	for _, row := range []struct {
		name  string
		seq   uint16
		after time.Duration
		cut   bool
	}{
		{"the next packet", 65530 + 1, 20 * time.Millisecond, false},
		{"packets that are late and not lost", 65530 + 1, time.Second, false},
		{"a pause of a client that sends no silence", 65530 + 2, 5 * time.Second, false},
		{"a second is lost", 65530 - 65536 + 50, time.Second, true},
		{"300 ms are lost", 65530 - 65536 + 16, 300 * time.Millisecond, true},
		{"less than 300 ms are lost", 65530 - 65536 + 15, 299 * time.Millisecond, false},
		{"a second is lost of a client that sends half of its packets", 65530 - 65536 + 8, time.Second, true},
		{"a second is lost, and this machine reads late", 65530 - 65536 + 50, 20 * time.Millisecond, true},
		{"280 ms are lost, and this machine reads late", 65530 - 65536 + 15, 20 * time.Millisecond, false},
		{"a new numbering", 30000, time.Second, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var a arrivals
			began := time.Now()
			g.Expect(a.next(65530, began)).To(gomega.BeZero())
			cut := a.next(row.seq, began.Add(row.after))
			g.Expect(cut > 0).To(gomega.Equal(row.cut))
		})
	}
}

// TestArrivalsOneCutAtATime: a client that leaves out numbers all the time causes a cut every 300 ms at most.
func TestArrivalsOneCutAtATime(t *testing.T) {
	var a arrivals
	began := time.Now()
	cuts := 0
	for n := range 50 {
		if a.next(uint16(n*100), began.Add(time.Duration(n)*frameTime)) > 0 {
			cuts++
		}
	}
	gomega.NewWithT(t).Expect(cuts).To(gomega.Equal(4))
}

// lastState returns what the Handler was told last of the connection.
func (r *recorder) lastState() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.states) == 0 {
		return ""
	}
	return r.states[len(r.states)-1]
}

// TestRestartReportsTheLoss checks a response that is sent whole into a cut which this side has not noticed: the client's restart reports
// the loss, and the whole response counts as missed.
func TestRestartReportsTheLoss(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	c, p := dial(t, newTestEngine(t, Config{KeepAlive: 50 * time.Millisecond}), r, clientOptions{})
	connected(g, r)
	g.Eventually(func() int { return len(c.heard()) }, soon).Should(gomega.BeNumerically(">", 20))
	g.Eventually(func() bool { _, ok := lastAnswered(p.pc.GetStats(), time.Now()); return ok }, soon).Should(gomega.BeTrue())
	out := p.output
	out.Begin(1)
	out.Write(tone(440, 50*FrameSize))
	g.Eventually(func() voice.Samples { return out.Sent() }, soon).Should(gomega.BeNumerically(">", 30*FrameSize))
	cutAt := out.Sent()
	c.net.cut.Store(true)
	out.End()
	g.Eventually(r.drains, soon).Should(gomega.Equal([]uint64{1}))
	g.Expect(r.lastState()).To(gomega.BeEmpty(), "this side has not noticed the cut")
	c.net.cut.Store(false)
	c.restart(t, p)
	g.Eventually(r.lastState, soon).Should(gomega.Equal("restored"))
	r.do(func() { g.Expect(r.states).To(gomega.HaveExactElements("lost", "restored")) })
	from, ok := out.Missed(1)
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(from).To(gomega.BeNumerically("~", cutAt-voice.Samples(Rate/4), Rate/4), "what came before the cut is proven, up to the last check")
	g.Expect(r.failure()).NotTo(gomega.HaveOccurred())
}

// TestShortCut checks a cut that is over before pion notices it: the gap in the client's packets shows it.
func TestShortCut(t *testing.T) {
	g := gomega.NewWithT(t)
	r := &recorder{}
	c, p := dial(t, newTestEngine(t, Config{}), r, clientOptions{})
	connected(g, r)
	frames := func(n int) (out [][]byte) {
		for range n {
			out = append(out, opus.SilentPacket())
		}
		return out
	}
	c.say(t, frames(5))
	g.Eventually(func() uint64 { return p.Stats().PacketsReceived }, soon).Should(gomega.BeNumerically(">=", 5))
	out := p.output
	out.Begin(1)
	out.Write(tone(440, 200*FrameSize))
	c.net.cut.Store(true)
	cutAt := out.Sent()
	c.say(t, frames(50))
	g.Eventually(func() voice.Samples { return out.Sent() }, soon).Should(gomega.BeNumerically(">", cutAt+25*FrameSize))
	c.net.cut.Store(false)
	c.say(t, frames(1))
	g.Eventually(r.lastState, soon).Should(gomega.Equal("restored"))
	from, ok := out.Missed(1)
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(from).To(gomega.BeNumerically("<=", cutAt))
}

package rtc

// The pacer: deadlines, silence, holds, and delays of the machine.

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// stage is an Output with a pacer whose packets a test can read. It runs in a synctest bubble: time passes only in play.
type stage struct {
	output *Output
	sink   *sink
	enc    *rawEncoder
	told   *recorder
	pacer  *Pacer
	stop   chan struct{}
	ended  chan struct{}
}

func newStage() *stage {
	s := &stage{
		output: NewOutput(randomStart()), sink: &sink{}, enc: &rawEncoder{}, told: &recorder{},
		stop: make(chan struct{}), ended: make(chan struct{}),
	}
	s.pacer = NewPacer(s.output, s.sink, s.enc, s.told, func(err error) { panic(err) })
	s.pacer.coded = make([]byte, 2*FrameSize)
	return s
}

// open starts the pacer half a frame before the test looks, so that nothing in a test happens at a deadline.
func (s *stage) open() {
	go func() { defer close(s.ended); s.pacer.run(s.stop) }()
	<-time.After(frameTime / 2)
	synctest.Wait()
}

func (s *stage) close() {
	close(s.stop)
	<-s.ended
}

// play lets the time of n frames pass.
func (s *stage) play(n int) {
	<-time.After(time.Duration(n) * frameTime)
	synctest.Wait()
}

// voiced returns the PCM of all packets that are not the packet of silence.
func (s *stage) voiced() (pcm []int16) {
	for _, p := range s.sink.all() {
		if v, ok := raw(p.payload); ok {
			pcm = append(pcm, v...)
		}
	}
	return pcm
}

func TestPacerKeepsItsDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := newStage()
		start := time.Now()
		s.output.Begin(1)
		s.output.Write(ramp(0, 500*FrameSize))
		s.open()
		s.play(999)
		s.close()

		packets := s.sink.all()
		g.Expect(packets).To(gomega.HaveLen(1000))
		for i, p := range packets {
			g.Expect(p.at.Sub(start)).To(gomega.Equal(time.Duration(i)*frameTime), "packet %d", i)
			g.Expect(p.Timestamp-packets[0].Timestamp).To(gomega.Equal(uint32(i*frameTicks)), "packet %d", i)
			g.Expect(p.SequenceNumber-packets[0].SequenceNumber).To(gomega.Equal(uint16(i)), "packet %d", i)
			g.Expect(p.Marker).To(gomega.Equal(i == 0), "packet %d", i)
		}
		g.Expect(s.pacer.stats.clock.Late.Load()).To(gomega.BeZero())
		g.Expect(s.voiced()[:500*FrameSize]).To(gomega.Equal(ramp(0, 500*FrameSize)))
	})
}

func TestPacerIsSilentWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := newStage()
		s.open()
		s.play(10)
		s.close()
		for _, p := range s.sink.all() {
			g.Expect(p.payload).To(gomega.Equal([]byte{0xF8, 0xFF, 0xFE}))
			g.Expect(p.Marker).To(gomega.BeFalse())
		}
		g.Expect(s.told.told()).To(gomega.BeEmpty())
	})
}

func TestPacerBringsOutTheCodecsTail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := newStage()
		s.output.Begin(1)
		s.output.Write(ramp(0, FrameSize+100))
		s.output.End()
		s.open()
		s.play(4)
		s.close()

		want := append(ramp(0, FrameSize+100), make([]int16, FrameSize-100)...) // the last frame is filled up with silence
		want = append(want, make([]int16, FrameSize)...)                        // and one more frame brings out the codec's tail
		g.Expect(s.voiced()).To(gomega.Equal(want))
		g.Expect(s.told.told()).To(gomega.Equal([]heard{
			{gen: 1, sent: FrameSize, first: true},
			{gen: 1, sent: FrameSize + 100},
			{gen: 1, end: true},
		}))
	})
}

func TestPacerCutsAtOnceWhenHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := newStage()
		s.output.Begin(1)
		s.output.Write(ramp(0, 10*FrameSize))
		s.open()
		s.play(2)
		sent := s.output.Hold()
		s.play(3)
		firstSilent, silent := s.output.FirstSilent()
		g.Expect(silent).To(gomega.BeTrue())
		s.close()

		g.Expect(sent).To(gomega.Equal(voice.Samples(3 * FrameSize)))
		g.Expect(s.voiced()).To(gomega.Equal(ramp(0, 3*FrameSize)), "no tail of the codec, nothing more")
		packets := s.sink.all()
		g.Expect(packets[3].Timestamp).To(gomega.Equal(firstSilent))
		g.Expect(packets[3].payload).To(gomega.Equal(opus.SilentPacket()))
		g.Expect(s.told.drains()).To(gomega.BeEmpty())
	})
}

// A response that goes on softly counts as sent, and is at its own level again after Resume.
func TestPacerPlaysSoftly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := newStage()
		s.output.Begin(1)
		loud := slices.Repeat([]int16{1000}, 10*FrameSize)
		s.output.Write(loud)
		s.open()
		s.play(1)
		s.output.Soften(0.1)
		s.play(2)
		g.Expect(s.output.Hold()).To(gomega.Equal(voice.Samples(4 * FrameSize)))
		s.play(1)
		s.output.Resume(2, 2*FrameSize)
		s.play(1)
		s.close()
		heard := s.voiced()
		g.Expect(heard[:2*FrameSize]).To(gomega.Equal(loud[:2*FrameSize]))
		g.Expect(heard[2*FrameSize]).To(gomega.BeEquivalentTo(1000), "it becomes softer within 5 ms")
		g.Expect(heard[3*FrameSize : 4*FrameSize]).To(gomega.HaveEach(int16(100)))
		g.Expect(heard[4*FrameSize:]).To(gomega.HaveEach(int16(1000)))
	})
}

func TestPacerForgetsAnotherSegment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := newStage()
		s.output.Begin(1)
		s.output.Write(ramp(0, 10*FrameSize))
		s.open()
		s.play(2)
		g.Expect(s.enc.taken.Load()).To(gomega.BeEquivalentTo(1))
		s.output.Drop()
		s.output.Begin(2) // before any silent frame went out
		s.output.Write(ramp(0, 10*FrameSize))
		s.play(2)
		g.Expect(s.enc.taken.Load()).To(gomega.BeEquivalentTo(2), "nothing of the dropped response may be heard")
		s.close()
	})
}

func TestPacerMarksSpeechAfterSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := newStage()
		s.open()
		s.output.Begin(1)
		s.output.Write(ramp(0, 2*FrameSize))
		s.play(5) // runs out of audio: the rest is not written yet
		s.output.Write(ramp(2*FrameSize, 3*FrameSize))
		s.play(2)
		s.close()
		var marked []int
		for i, p := range s.sink.all() {
			if p.Marker {
				marked = append(marked, i)
			}
		}
		g.Expect(marked).To(gomega.Equal([]int{1, 6}))
	})
}

// TestPacerIsLate checks a delayed pacer: after a small delay it catches up, after a large one it leaves a gap in time. It sends all
// audio in both cases.
func TestPacerIsLate(t *testing.T) {
	for _, row := range []struct {
		name          string
		late          time.Duration
		wantLate      uint64
		wantSkipped   uint64
		wantTimestamp uint32 // steps of the packet after the delay
	}{
		{"punctual->on time", 0, 0, 0, 1},
		{"one frame late->sends at once", frameTime, 0, 0, 1},
		{"three frames late->sends in a burst", 3 * frameTime, 1, 0, 1},
		{"ten frames late->skips ahead", 10 * frameTime, 1, 10, 11},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			s := newStage()
			s.output.Begin(1)
			s.output.Write(ramp(0, 10*FrameSize))
			deadline := time.Now()
			s.pacer.Send()
			next, skipped := s.pacer.stats.clock.CatchUp(deadline.Add(frameTime), deadline.Add(frameTime+row.late))
			s.output.skip(skipped)
			s.pacer.Send()
			packets := s.sink.all()
			g.Expect(packets[1].Timestamp - packets[0].Timestamp).To(gomega.Equal(row.wantTimestamp * frameTicks))
			g.Expect(packets[1].SequenceNumber - packets[0].SequenceNumber).To(gomega.Equal(uint16(1)))
			g.Expect(next).To(gomega.Equal(deadline.Add(frameTime * time.Duration(row.wantTimestamp))))
			g.Expect(s.pacer.stats.clock.Late.Load()).To(gomega.Equal(row.wantLate))
			g.Expect(s.pacer.stats.clock.Skipped.Load()).To(gomega.Equal(row.wantSkipped))
			g.Expect(s.voiced()).To(gomega.Equal(ramp(0, 2*FrameSize)), "no audio is skipped")
		})
	}
}

// A call has an encoder only while the agent speaks, until the codec has given out all of the speech.
func TestPacerBorrowsAnEncoder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := newStage()
		s.open()
		s.play(3)
		g.Expect(s.enc.lent()).To(gomega.Equal([2]int32{0, 0}), "before the agent speaks")
		s.output.Begin(1)
		s.output.Write(ramp(0, 3*FrameSize))
		s.output.End()
		s.play(3)
		g.Expect(s.enc.lent()).To(gomega.Equal([2]int32{1, 0}), "while the agent speaks")
		s.play(1)
		g.Expect(s.enc.lent()).To(gomega.Equal([2]int32{1, 1}), "after it has spoken")
		s.output.Begin(2)
		s.output.Write(ramp(0, 3*FrameSize))
		s.play(1)
		s.output.Hold()
		s.play(1)
		g.Expect(s.enc.lent()).To(gomega.Equal([2]int32{2, 2}), "while the response is held")
		s.output.Resume(2, 0)
		s.play(1)
		s.close()
		g.Expect(s.enc.lent()).To(gomega.Equal([2]int32{3, 3}), "after the end of the call")
	})
}

func TestPacerReportsABrokenEncoder(t *testing.T) {
	g := gomega.NewWithT(t)
	s := newStage()
	broken := errors.New("broken")
	var got error
	s.pacer.encoders = brokenEncoder{broken}
	s.pacer.failed = func(err error) { got = err }
	s.output.Begin(1)
	s.output.Write(ramp(0, FrameSize))
	s.pacer.Send()
	g.Expect(got).To(gomega.MatchError(broken))
	g.Expect(slices.Equal(s.sink.all()[0].payload, opus.SilentPacket())).To(gomega.BeTrue())
}

type brokenEncoder struct{ err error }

func (e brokenEncoder) Take() (opus.Encoding, error)        { return e, nil }
func (e brokenEncoder) Give(opus.Encoding)                  {}
func (e brokenEncoder) Encode([]int16, []byte) (int, error) { return 0, e.err }
func (e brokenEncoder) Reset()                              {}

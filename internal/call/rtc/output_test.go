package rtc

// The Output: what it sends after each command, sample by sample.

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/outgoing"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// TestOutputStories writes into testdata/output.txt what an Output sends. Lengths are in milliseconds. The audio is a ramp over the
// response, so each line shows which part of the response a run of frames was.
func TestOutputStories(t *testing.T) {
	var s *stage
	var written voice.Samples
	var start uint32
	datadriven.RunTest(t, "testdata/output.txt", func(t *testing.T, d *datadriven.TestData) string {
		switch d.Cmd {
		case "new":
			s, written = newStage(), 0
			start = s.output.NextTimestamp()
			return ""
		case "do":
			var out strings.Builder
			for line := range strings.Lines(d.Input) {
				word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
				out.WriteString(perform(t, s, &written, start, word, rest))
			}
			return out.String()
		}
		t.Fatalf("unknown command %q", d.Cmd)
		return ""
	})
}

func perform(t *testing.T, s *stage, written *voice.Samples, start uint32, word, rest string) string {
	t.Helper()
	var a, b int
	_, _ = fmt.Sscan(rest, &a, &b) // missing numbers stay 0
	switch word {
	case "begin":
		s.output.Begin(uint64(a))
		*written = 0
	case "write":
		n := voice.SamplesIn(int64(a), Rate)
		s.output.Write(ramp(*written, *written+n))
		*written += n
	case "end":
		s.output.End()
	case "hold":
		return fmt.Sprintf("held at %d ms\n", s.output.Hold().Milliseconds(Rate))
	case "drop":
		return fmt.Sprintf("dropped at %d ms\n", s.output.Drop().Milliseconds(Rate))
	case "resume":
		s.output.Resume(uint64(a), voice.SamplesIn(int64(b), Rate))
	case "play":
		return runs(s, a)
	case "status":
		return fmt.Sprintf("sent %d ms, buffered %d ms\n",
			s.output.Sent().Milliseconds(Rate), s.output.Buffered().Milliseconds(Rate))
	case "at":
		p, ok := s.output.PositionAt(start + uint32(a*48))
		switch {
		case !ok:
			return "unknown\n"
		case p.NextGen != 0:
			return fmt.Sprintf("segment %d, %d ms; then segment %d from %d ms on\n", p.Gen, p.At.Milliseconds(Rate), p.NextGen, p.Next.Milliseconds(Rate))
		}
		return fmt.Sprintf("segment %d, %d ms\n", p.Gen, p.At.Milliseconds(Rate))
	case "silent":
		ts, ok := s.output.FirstSilent()
		if !ok {
			return "not silent\n"
		}
		return fmt.Sprintf("silent from %d ms on\n", (ts-start)/48)
	default:
		t.Fatalf("unknown word %q", word)
	}
	return ""
}

// runs sends n frames and describes them as runs of silence and runs of audio between two positions of the response.
func runs(s *stage, n int) string {
	var out strings.Builder
	silent, from, to := 0, voice.Samples(-1), voice.Samples(-1)
	flush := func() {
		if silent > 0 {
			fmt.Fprintf(&out, "silence, %d ms\n", silent*20)
		}
		if from >= 0 {
			fmt.Fprintf(&out, "audio from %d to %d ms\n", from.Milliseconds(Rate), to.Milliseconds(Rate))
		}
		silent, from, to = 0, -1, -1
	}
	for range n {
		before := len(s.told.told())
		s.pacer.Send()
		packets := s.sink.all()
		pcm, coded := raw(packets[len(packets)-1].payload)
		if !coded || pcm[0] == 0 { // 0 is not on the ramp: it is the frame that brings out the codec's tail
			if from >= 0 {
				flush()
			}
			silent++
		} else {
			first := voice.Samples(pcm[0] - 1)
			if first != to {
				flush()
				from = first
			}
			for i, v := range pcm {
				if v != 0 && voice.Samples(v-1) != first+voice.Samples(i) {
					return fmt.Sprintf("BROKEN at sample %d\n", i)
				}
				if v != 0 {
					to = first + voice.Samples(i) + 1
				}
			}
		}
		for _, h := range s.told.told()[before:] {
			if h.first {
				flush()
				out.WriteString("(first frame of the response was sent)\n")
			}
			if h.end {
				flush()
				fmt.Fprintf(&out, "(segment %d drained)\n", h.gen)
			}
		}
	}
	flush()
	return out.String()
}

// TestOutputIsExact drives an Output at random, and compares each sample with a model that keeps everything.
func TestOutputIsExact(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		g := gomega.NewWithT(t)
		s := NewOutput(randomStart())
		var written []int16 // all audio written
		var pos voice.Samples
		var gen uint64
		var pcm [FrameSize]int16
		held, ended := false, false
		for step := range 2000 {
			switch k := rnd.IntN(40); {
			case k == 0 && step > 0 || gen == 0:
				gen++
				s.Begin(gen)
				written, pos, held, ended = nil, 0, false, false
			case k < 4 && !ended:
				from := voice.Samples(len(written))
				more := ramp(from, from+voice.Samples(rnd.IntN(4*FrameSize)))
				written = append(written, more...)
				s.Write(more)
			case k == 4:
				held = true
				g.Expect(s.Hold()).To(gomega.Equal(pos))
			case k < 7:
				gen++
				from := max(0, pos-voice.Samples(rnd.IntN(int(outgoing.Keep))))
				s.Resume(gen, from)
				pos, held = from, false
			case k == 7:
				ended = true
				s.End()
			default:
				f := s.next(&pcm)
				left := written[pos:]
				if held || len(left) < FrameSize && (!ended || len(left) == 0) {
					g.Expect(f.Voiced).To(gomega.BeFalse())
					continue
				}
				n := min(FrameSize, len(left))
				want := make([]int16, FrameSize)
				copy(want, left[:n])
				pos += voice.Samples(n)
				g.Expect(f.Voiced).To(gomega.BeTrue())
				g.Expect(slices.Equal(pcm[:], want)).To(gomega.BeTrue(), "seed %d step %d", seed, step)
				g.Expect(f.Sent).To(gomega.Equal(pos))
				g.Expect(f.Gen).To(gomega.Equal(gen))
			}
			g.Expect(s.Sent()).To(gomega.Equal(pos))
			g.Expect(s.Buffered()).To(gomega.Equal(voice.Samples(len(written)) - pos))
		}
	}
}

func TestOutputLimitsUnsentAudio(t *testing.T) {
	g := gomega.NewWithT(t)
	s := NewOutput(randomStart())
	s.Begin(1)
	minute := make([]int16, 60*Rate)
	for range 6 {
		s.Write(minute)
	}
	g.Expect(s.Buffered()).To(gomega.Equal(outgoing.MaxUnsent))
	g.Expect(s.refusedSamples()).To(gomega.Equal(uint64(60 * Rate)))
}

func TestTimelineForgetsTheOldest(t *testing.T) {
	g := gomega.NewWithT(t)
	var p timeline
	base := ^uint32(0) - 100*frameTicks // wraps around on the way
	for i := range uint32(timelineKept + 50) {
		p.add(base+i*frameTicks, 7, voice.Samples(i)*FrameSize, FrameSize)
	}
	_, ok := p.at(base+49*frameTicks, 0)
	g.Expect(ok).To(gomega.BeFalse())
	place, ok := p.at(base+300*frameTicks+480, 0)
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(place).To(gomega.Equal(link.Position{Gen: 7, At: voice.Samples(300*FrameSize + 240)}))
}

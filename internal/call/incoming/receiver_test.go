package incoming

// Incoming packets become audio: stories of loss, delay, pauses and floods.

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

// plainDecoder "decodes" packets whose first byte says what they are: 'v' 20 ms of audio, 'p' a pause (DTX), 'r' audio with redundancy,
// 'V' and 'R' the same as 'v' and 'r' with 60 ms, 'x' garbage.
type plainDecoder struct{ log func(string) }

func (d plainDecoder) Decode(packet []byte, pcm []int16) (int, error) {
	if packet[0] == 'x' {
		return 0, errors.New("garbage")
	}
	d.log(map[byte]string{'v': "voice", 'r': "voice", 'p': "pause", 'V': "voice", 'R': "voice"}[packet[0]])
	if packet[0] == 'V' || packet[0] == 'R' {
		return 3 * opus.FrameSize, nil
	}
	return opus.FrameSize, nil
}

func (d plainDecoder) Conceal(pcm []int16) error {
	d.log("concealed")
	return nil
}

func (d plainDecoder) Redundant(packet []byte) bool { return packet[0] == 'r' || packet[0] == 'R' }

func (d plainDecoder) Recover(packet []byte, pcm []int16) bool {
	if !d.Redundant(packet) {
		return false
	}
	d.log("recovered")
	return true
}

// listener is a Listener that is told how many samples come.
type listener func(samples int, missing bool)

func (l listener) Audio(pcm []int16)   { l(len(pcm), false) }
func (l listener) Missing(samples int) { l(samples, true) }

// TestPacketReceiverStories writes into testdata/receiver.txt what audio the receiver emits. Times are in milliseconds: "at" is wall
// time, "ts" is the client's clock. Each story ends with the amount of audio emitted.
func TestPacketReceiverStories(t *testing.T) {
	start := time.Unix(1000, 0)
	datadriven.RunTest(t, "testdata/receiver.txt", func(t *testing.T, d *datadriven.TestData) string {
		var out []string
		var kind string
		heard := 0
		dec := plainDecoder{log: func(s string) { kind = s }}
		var stats Stats
		r := New(dec, &stats, listener(func(samples int, missing bool) {
			switch {
			case missing:
				kind = "missing"
			case kind == "":
				kind = "silence"
			}
			heard += samples
			out = append(out, fmt.Sprintf("%s %d", kind, samples*1000/opus.Rate))
			kind = ""
		}))
		var text strings.Builder
		for line := range strings.Lines(d.Input) {
			var at, seq, ts int
			var what string
			if n, _ := fmt.Sscanf(line, "at %d packet %d ts %d %s", &at, &seq, &ts, &what); n >= 3 {
				payload := append([]byte(what), 0, 0)
				if what == "p" {
					payload = payload[:1]
				}
				if what == "padding" {
					payload = nil
				}
				now := start.Add(time.Duration(at) * time.Millisecond)
				r.Push(Packet{Seq: uint16(seq), TS: uint32(ts * 48), Payload: payload, At: now})
				r.Tick(now)
			} else if _, err := fmt.Sscanf(line, "until %d", &at); err == nil {
				drive(r, start.Add(time.Duration(at)*time.Millisecond))
			} else {
				t.Fatalf("%s: cannot read %q", d.Pos, line)
			}
			fmt.Fprintf(&text, "%s -> %s\n", strings.TrimSpace(line), summary(out))
			out = nil
		}
		fmt.Fprintf(&text, "heard %d ms; lost %d, garbled %d, refused %d\n", heard*1000/opus.Rate,
			stats.Lost.Load(), stats.Garbled.Load(), stats.Refused.Load())
		return text.String()
	})
}

// drive calls tick whenever the receiver asks for it, until a time.
func drive(r *Receiver, until time.Time) {
	for {
		wake, ok := r.Wake()
		if !ok || wake.After(until) {
			return
		}
		r.Tick(wake)
	}
}

// summary joins equal neighbours: "silence 20", "silence 20" -> "silence 2 x 20".
func summary(out []string) string {
	var parts []string
	for i := 0; i < len(out); {
		j := i
		for j < len(out) && out[j] == out[i] {
			j++
		}
		kind, ms, _ := strings.Cut(out[i], " ")
		if j-i > 1 {
			ms = fmt.Sprintf("%d x %s", j-i, ms)
		}
		parts = append(parts, kind+" "+ms)
		i = j
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func TestPacketReceiverMeasuresJitter(t *testing.T) {
	g := gomega.NewWithT(t)
	var stats Stats
	r := New(plainDecoder{log: func(string) {}}, &stats, listener(func(int, bool) {}))
	start := time.Unix(1000, 0)
	for i := range 500 {
		at := start.Add(time.Duration(i) * 20 * time.Millisecond)
		if i%2 == 1 {
			at = at.Add(8 * time.Millisecond) // so each gap differs by 8 ms
		}
		r.Push(Packet{Seq: uint16(i), TS: uint32(i) * 960, Payload: []byte("voice"), At: at})
	}
	g.Expect(time.Duration(stats.Jitter.Load())).To(gomega.BeNumerically("~", 8*time.Millisecond, 100*time.Microsecond))
}

// A stream whose timestamps or numbers leap in each packet, or that comes far too fast, makes only a limited amount of audio, and of work for the codec.
func TestPacketReceiverLimitsAFloodToRealTime(t *testing.T) {
	for _, row := range []struct {
		name    string
		leap    uint32
		numbers int
	}{{"timestamps leap", 40 * 48_000, 1}, {"packets flood", 960, 1}, {"numbers leap", 40 * 960, 40}} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var stats Stats
			samples, work := 0, 0
			r := New(plainDecoder{log: func(string) { work += opus.FrameSize }}, &stats, listener(func(n int, _ bool) { samples += n }))
			start := time.Unix(1000, 0)
			for i := range 10_000 { // one packet a millisecond for 10 s
				r.Push(Packet{
					Seq: uint16(i * row.numbers), TS: uint32(i) * row.leap, Payload: []byte("redundant"),
					At: start.Add(time.Duration(i) * time.Millisecond),
				})
			}
			most := 10*opus.Rate*pace/100 + int(burst)
			g.Expect(samples).To(gomega.BeNumerically("<=", most))
			g.Expect(work).To(gomega.BeNumerically("<=", most), "of the codec")
			g.Expect(stats.Refused.Load()).To(gomega.BeNumerically(">", 0))
		})
	}
}

// TestPacketReceiverExcusesItsOwnDelay checks that no packet counts as late because the machine stood still.
func TestPacketReceiverExcusesItsOwnDelay(t *testing.T) {
	g := gomega.NewWithT(t)
	start := time.Unix(1000, 0)
	var heard []string
	var kind string
	r := New(plainDecoder{log: func(s string) { kind = s }}, &Stats{}, listener(func(int, bool) {
		heard, kind = append(heard, kind), ""
	}))
	packet := func(seq int, at time.Duration) {
		r.Push(Packet{Seq: uint16(seq), TS: uint32(seq) * 960, Payload: []byte("v"), At: start.Add(at)})
	}
	packet(0, 0)
	packet(2, 40*time.Millisecond) // packet 1 is still missing
	wake, ok := r.Wake()
	g.Expect(ok).To(gomega.BeTrue())
	now := start.Add(900 * time.Millisecond)
	r.Extend(now.Sub(wake))
	r.Tick(now)
	packet(1, 901*time.Millisecond)
	for i := range 40 {
		packet(3+i, 902*time.Millisecond)
	}
	g.Expect(heard).To(gomega.HaveLen(43))
	g.Expect(heard).To(gomega.HaveEach("voice"))
}

// A client whose clock is 100 ppm wrong talks for an hour, with up to 15 ms of jitter: every packet is heard, and nothing is made up.
func TestPacketReceiverFollowsAWrongClock(t *testing.T) {
	for name, ppm := range map[string]int{"fast": 100, "slow": -100} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var stats Stats
			var heard, missing int
			r := New(plainDecoder{log: func(string) {}}, &stats, listener(func(n int, lost bool) {
				heard += n
				if lost {
					missing += n
				}
			}))
			start := time.Unix(1000, 0)
			period := 20*time.Millisecond - time.Duration(20*ppm)*time.Nanosecond // a fast clock sends more often
			const packets = 180_000
			for i := range packets {
				at := start.Add(time.Duration(i)*period + time.Duration(i*7%16)*time.Millisecond)
				if wake, ok := r.Wake(); ok && wake.Before(at) {
					r.Tick(wake)
				}
				r.Push(Packet{Seq: uint16(i), TS: uint32(i) * 960, Payload: []byte("voice"), At: at})
			}
			g.Expect([]uint64{stats.Packets.Load(), stats.Lost.Load(), stats.Refused.Load(), stats.Filled.Load(), stats.Concealed.Load()}).
				To(gomega.Equal([]uint64{packets, 0, 0, 0, 0}))
			g.Expect([]int{heard, missing}).To(gomega.Equal([]int{packets * opus.FrameSize, 0}))
		})
	}
}

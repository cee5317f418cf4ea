package calltest

// A bad line: what happens to the user's sound and to its packets on the way to the server.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/antiphon-rt/antiphon/internal/engine/strict"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// Line is a bad line of the user. The agent's sound is not changed.
type Line struct {
	Loss   share         `yaml:"loss" doc:"This share of the user's packets is lost, such as 2%."`
	Jitter time.Duration `yaml:"jitter" min:"0s" max:"1s" doc:"A packet comes up to this much later than the delay says. The order of the packets stays."`
	Delay  time.Duration `yaml:"delay" min:"0s" max:"5s" doc:"Each packet comes this much later."`
	Codec  string        `yaml:"codec" enum:"opus,g711" doc:"g711: the user sounds as on a telephone. opus is the sound of WebRTC, and the default."`
	Noise  *decibels     `yaml:"noise" doc:"There is noise all the time, this many decibels below the user's speech, such as 15dB."`

	at int // the line of the file
}

// share is a part of all, from 0 to 1.
type share float64

// UnmarshalNode implements strict.Unmarshaler.
func (s *share) UnmarshalNode(d *strict.Decoder, n *yaml.Node) {
	*s = share(number(d, n, "%", 50) / 100)
}

type decibels float64

// UnmarshalNode implements strict.Unmarshaler.
func (s *decibels) UnmarshalNode(d *strict.Decoder, n *yaml.Node) {
	*s = decibels(number(d, n, "dB", 60))
}

// number reads a number with its unit, from 0 to most.
func number(d *strict.Decoder, n *yaml.Node, unit string, most float64) float64 {
	text, is := strings.CutSuffix(n.Value, unit)
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if !is || err != nil || !(v >= 0 && v <= most) {
		d.Fail(n, "want 0%[1]s to %[2]v%[1]s with the unit, such as 2%[1]s, not %[3]q", unit, most, n.Value)
		return 0
	}
	return v
}

// Place implements strict.Placed.
func (l *Line) Place(line int, _ []string) { l.at = line }

// Fits returns an error if the line of the call cannot be had on this transport.
func (f *File) Fits(webSocket bool) error {
	if l := f.Line; l == nil || !webSocket || l.Loss == 0 && l.Jitter == 0 && l.Delay == 0 && l.Codec != "opus" {
		return nil
	}
	return fmt.Errorf("%s:%d: a WebSocket loses and delays no packets, and has no Opus: call over WebRTC (without --websocket), or leave in line only noise and codec: g711", f.Path, f.Line.at)
}

// badLine is the line of one call. The zero value is a good line.
type badLine struct {
	Line
	noise float64 // the amplitude of the noise
	pink  [3]float64

	down, up *voice.Resampler // nil without a telephone
	narrow   []int16
	coded    []byte
	wide     []int16

	mu   sync.Mutex
	rand *rand.Rand
	due  time.Time // when the last packet is sent
	late []func()  // packets that wait, in their order
}

// speechLevel is the level of speech where a call has none, in dBFS: what ITU-T P.56 calls the nominal level.
const speechLevel = -26

// newBadLine makes the line of a call. speech is the level of the user's speech in dBFS, play the number of the play, which decides what is lost.
func newBadLine(l *Line, speech float64, play uint64) *badLine {
	b := &badLine{rand: rand.New(rand.NewPCG(play, 1))}
	if l == nil {
		return b
	}
	b.Line = *l
	if l.Noise != nil {
		b.noise = 32768 * math.Pow(10, (speech-float64(*l.Noise))/20)
	}
	if l.Codec == "g711" {
		const telephone = 8000
		b.down, _ = voice.NewResampler(native.Rate, telephone) // it supports both rates
		b.up, _ = voice.NewResampler(telephone, native.Rate)
		b.wide = make([]int16, native.FrameSize) // the resamplers come later
	}
	return b
}

func (b *badLine) frame(pcm []int16) {
	if b.noise > 0 {
		b.mu.Lock()
		for i, v := range pcm {
			pcm[i] = int16(min(max(float64(v)+b.noise*b.pinkNoise(), math.MinInt16), math.MaxInt16))
		}
		b.mu.Unlock()
	}
	if b.down == nil {
		return
	}
	b.narrow = b.down.AppendPCM16(b.narrow[:0], pcm)
	b.coded = voice.AppendMuLaw(b.coded[:0], b.narrow)
	b.narrow = voice.MuLawToPCM16(b.narrow[:0], b.coded)
	b.wide = b.up.AppendPCM16(b.wide, b.narrow)
	n := copy(pcm, b.wide)
	clear(pcm[n:])
	b.wide = b.wide[:copy(b.wide, b.wide[n:])]
}

// pinkNoise returns the next sample of noise whose power falls by 3 dB per octave, as that of rooms and streets does, with a root mean square of
// 1: three low-pass filters of white noise.
func (b *badLine) pinkNoise() float64 {
	sum := 0.0
	for i, pole := range [3]float64{0.3, 0.8, 0.97} {
		b.pink[i] = pole*b.pink[i] + math.Sqrt(1-pole*pole)*b.rand.NormFloat64()
		sum += math.Sqrt(1.0/3) * b.pink[i]
	}
	return sum
}

// packet sends a packet of the user's sound: at once, later, or not at all.
func (b *badLine) packet(send func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rand.Float64() < float64(b.Loss) {
		return
	}
	now := time.Now()
	at := now.Add(b.Delay + time.Duration(b.rand.Float64()*float64(b.Jitter)))
	if at.Before(b.due) {
		at = b.due
	}
	b.due, b.late = at, append(b.late, send)
	time.AfterFunc(at.Sub(now), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		next := b.late[0]
		b.late = b.late[1:]
		next()
	})
}

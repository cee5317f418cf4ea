//go:build !js

package native

// Tests of ducking, of the position in the sound, of the detector, and of rewinding.

import (
	"math"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
)

// stoppedDucking returns a ducking whose clock stands still until pass moves it.
func stoppedDucking() (l *ducking, pass func(time.Duration)) {
	now := time.Unix(1000, 0)
	l = &ducking{gain: gain{set: 1, volume: 1, now: 1}, clock: time.Now}
	l.clock = func() time.Time { return now }
	return l, func(d time.Duration) { now = now.Add(d) }
}

func loud() []int16 { return tone(FrameTime, 300) }

// The loudspeaker plays the sound that it has at the old level. A level that is set now begins after that sound, which is the
// position.
func TestThePositionIsWhereALevelBegins(t *testing.T) {
	g := gomega.NewWithT(t)
	l, pass := stoppedDucking()
	at := func() uint32 {
		at, ok := l.position()
		g.Expect(ok).To(gomega.BeTrue())
		return at.Timestamp
	}
	_, ok := l.position()
	g.Expect(ok).To(gomega.BeFalse(), "nothing has been played")

	const begin = math.MaxUint32 - 900 // the timestamp wraps around within the packet
	l.play(begin, loud())
	end := uint32(begin)
	end += 960
	g.Expect(at()).To(gomega.Equal(end))
	pass(time.Second)
	g.Expect(at()).To(gomega.Equal(end), "sound that has not come yet is ducked too")

	l.gain.set = 0
	next := loud()
	l.play(end, next)
	g.Expect(next[FrameSize/2:]).To(gomega.HaveEach(gomega.BeZero()), "the packet at the position is the first that is silent")
}

func TestAPassedPositionIsReportedOnce(t *testing.T) {
	g := gomega.NewWithT(t)
	l, pass := stoppedDucking()
	_, ok := l.passed()
	g.Expect(ok).To(gomega.BeFalse(), "nobody waits")
	l.awaited, l.awaiting = sdk.PlayedPosition{Timestamp: 1000}, true
	l.play(0, loud())
	pass(FrameTime)
	_, ok = l.passed()
	g.Expect(ok).To(gomega.BeFalse())
	l.play(960, loud())
	pass(time.Millisecond)
	at, ok := l.passed()
	g.Expect(ok).To(gomega.BeTrue())
	g.Expect(at.Timestamp).To(gomega.BeEquivalentTo(1000))
	_, ok = l.passed()
	g.Expect(ok).To(gomega.BeFalse())
}

func TestTheGainChangesAtOnceAndWithoutAClick(t *testing.T) {
	g := gomega.NewWithT(t)
	l, _ := stoppedDucking()
	whole := loud()
	before := dbfs(whole)
	for _, row := range []struct {
		gain  float32
		under float64
	}{{0.1, 20}, {1, 0}, {0.25, 12}} {
		l.gain.set = row.gain
		l.play(0, loud()) // the gain changes within it
		again := loud()
		l.play(960, again)
		g.Expect(dbfs(again)).To(gomega.BeNumerically("~", before-row.under, 0.1))
	}
	l.gain.set = 0
	constant := make([]int16, FrameSize)
	for i := range constant {
		constant[i] = 10000
	}
	l.play(0, constant)
	for i := 1; i < len(constant); i++ {
		g.Expect(constant[i-1]-constant[i]).To(gomega.BeNumerically("<=", 10000/ramp+1), "a step at %d", i)
	}
	g.Expect(constant[FrameSize-1]).To(gomega.BeZero())
}

func TestAMutedResponseIsSilentAndTheNextIsPlayed(t *testing.T) {
	still := func() []int16 { return make([]int16, FrameSize) }
	mute := func(l *ducking) { l.muted, l.silentFrames, l.mutedUntil = true, 0, l.clock().Add(muteTime) }
	t.Run("silence ends it", func(t *testing.T) {
		g := gomega.NewWithT(t)
		l, _ := stoppedDucking()
		mute(l)
		old := loud()
		for range 5 {
			l.silenceMuted(old)
			g.Expect(dbfs(old)).To(gomega.BeNumerically("==", -120))
			old = loud()
		}
		for range muteFrames {
			l.silenceMuted(still())
		}
		next := loud()
		l.silenceMuted(next)
		g.Expect(next).To(gomega.Equal(loud()))
	})
	t.Run("or time does", func(t *testing.T) {
		g := gomega.NewWithT(t)
		l, pass := stoppedDucking()
		mute(l)
		pass(muteTime)
		next := loud()
		l.silenceMuted(next)
		g.Expect(next).To(gomega.Equal(loud()))
	})
}

// speech returns a sound that the detector takes for speech: a pitch with its overtones, and syllables.
func speech(d time.Duration) []int16 {
	pcm := make([]int16, int(d.Seconds()*Rate))
	for i := range pcm {
		at := float64(i) / Rate
		pitch := 140 + 20*math.Sin(2*math.Pi*2.3*at)
		var v float64
		for n := 1.0; n <= 12; n++ {
			v += math.Sin(2*math.Pi*pitch*n*at) / n
		}
		pcm[i] = int16(4000 * v * (0.55 + 0.45*math.Sin(2*math.Pi*4*at)))
	}
	return pcm
}

func TestSpeechOverTheAgentIsFound(t *testing.T) {
	quiet := make([]int16, int(time.Second.Seconds()*Rate))
	for name, row := range map[string]struct {
		mic, agent []int16
		found      []sdk.Detection
	}{
		"speech":  {append(append(quiet[:len(quiet):len(quiet)], speech(time.Second)...), quiet...), nil, []sdk.Detection{sdk.DetectedOnset, sdk.DetectedSustained, sdk.DetectedEnd}},
		"silence": {append(quiet[:len(quiet):len(quiet)], quiet...), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newSpeechDetection()
			var found []sdk.Detection
			for i := 0; i+FrameSize <= len(row.mic); i += FrameSize {
				if row.agent != nil {
					h.agentFrame(row.agent[i : i+FrameSize])
				}
				h.microphoneFrame(row.mic[i:i+FrameSize], func(v sdk.Detection) { found = append(found, v) })
			}
			gomega.NewWithT(t).Expect(found).To(gomega.Equal(row.found))
		})
	}
}

func TestTheReferenceIsBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	h := newSpeechDetection()
	for range 50 {
		h.agentFrame(loud())
	}
	h.agentFrame(speech(time.Second))
	g.Expect(h.reference).To(gomega.HaveLen(maxReference))
	whole := speech(time.Second)
	g.Expect(h.reference).To(gomega.Equal(whole[len(whole)-maxReference:]), "the newest is kept")
}

func TestDetectionAllocatesNothing(t *testing.T) {
	h := newSpeechDetection()
	frame, tell := loud(), func(sdk.Detection) {}
	for range 20 {
		h.agentFrame(frame)
		h.microphoneFrame(frame, tell)
	}
	gomega.NewWithT(t).Expect(testing.AllocsPerRun(50, func() {
		h.agentFrame(frame)
		h.microphoneFrame(frame, tell)
	})).To(gomega.BeZero())
}

// numbered returns n samples whose values are their positions, from this one on.
func numbered(from, n int) []byte {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(from + i)
	}
	return voice.PCM16ToBytes(nil, pcm)
}

func TestThePlayerHoldsAndRewinds(t *testing.T) {
	g := gomega.NewWithT(t)
	var p player
	frame := make([]int16, FrameSize)
	position := func() sdk.PlayedPosition {
		at, playing := p.position()
		g.Expect(playing).To(gomega.BeTrue())
		return at
	}
	p.hold()
	g.Expect(p.play("r", "a", 0, numbered(0, 4*FrameSize))).To(gomega.BeTrue())
	g.Expect(p.play("r", "b", 1, numbered(5000, 4*FrameSize))).To(gomega.BeTrue())
	p.finish("r")
	_, playing := p.position()
	g.Expect(playing).To(gomega.BeFalse())
	for range 3 {
		p.frame(frame)
	}
	at := position() // the playback was not held before
	g.Expect(at).To(gomega.Equal(sdk.PlayedPosition{ItemID: "a", MS: 60}))
	for range 2 {
		p.frame(frame)
	}

	p.hold()
	_, sounding := p.frame(frame)
	g.Expect(sounding).To(gomega.BeFalse())
	p.resume(at)
	g.Expect(position()).To(gomega.Equal(at))
	var heard []int16
	for sounding := true; sounding; {
		if _, sounding = p.frame(frame); sounding {
			heard = append(heard, frame...)
		}
	}
	g.Expect(voice.PCM16ToBytes(nil, heard)).To(gomega.Equal(append(numbered(3*FrameSize, FrameSize), numbered(5000, 4*FrameSize)...)))
	g.Expect(p.queued).To(gomega.BeZero())
	g.Expect(p.played).To(gomega.BeEmpty())
}

func TestThePlayerKeepsSixSecondsForARewind(t *testing.T) {
	g := gomega.NewWithT(t)
	var p player
	frame := make([]int16, FrameSize)
	position := func() sdk.PlayedPosition {
		at, playing := p.position()
		g.Expect(playing).To(gomega.BeTrue())
		return at
	}
	g.Expect(p.play("r", "a", 0, make([]byte, 2*20*Rate))).To(gomega.BeTrue())
	for range 10 * Rate / FrameSize {
		p.frame(frame)
	}
	g.Expect(p.playedSamples).To(gomega.BeNumerically("<=", keepPlayed))
	p.hold()
	p.resume(sdk.PlayedPosition{ItemID: "a", MS: 5000})
	g.Expect(position()).To(gomega.Equal(sdk.PlayedPosition{ItemID: "a", MS: 5000}), "5 s are kept")
	p.hold()
	p.resume(sdk.PlayedPosition{ItemID: "a", MS: 1000})
	g.Expect(position()).To(gomega.Equal(sdk.PlayedPosition{ItemID: "a", MS: 5000}), "what is not known any more is not said again")
	_, sounding := p.frame(frame)
	g.Expect(sounding).To(gomega.BeTrue())
}

//go:build !js

package native

// Tests of microphone, speaker, Opus, WAV files, player and pacer.

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/sdk"
)

func TestAMicrophoneSendsItsSoundThenSilence(t *testing.T) {
	g := gomega.NewWithT(t)
	var m Microphone
	first, err := m.Speak(tone(30*time.Millisecond, 440))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	second, err := m.Speak(tone(5*time.Millisecond, 440))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	frame := make([]int16, FrameSize)
	m.Frame(frame)
	g.Expect(first).NotTo(gomega.BeClosed())
	m.Frame(frame)
	g.Expect(first).To(gomega.BeClosed())
	g.Expect(second).To(gomega.BeClosed())
	g.Expect(silent(frame[FrameSize*3/4:])).To(gomega.BeTrue())
	g.Expect(silent(frame[:FrameSize*3/4])).To(gomega.BeFalse())
	m.Frame(frame)
	g.Expect(silent(frame)).To(gomega.BeTrue())
}

func TestAMutedMicrophoneSendsSilence(t *testing.T) {
	g := gomega.NewWithT(t)
	var m Microphone
	said, err := m.Speak(tone(time.Second, 440))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	m.Clear()
	g.Expect(said).To(gomega.BeClosed())
	frame := tone(FrameTime, 440)
	m.Frame(frame)
	g.Expect(silent(frame)).To(gomega.BeTrue())
	nothing, err := m.Speak(nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(nothing).To(gomega.BeClosed())
}

func TestAMicrophoneHasALimit(t *testing.T) {
	g := gomega.NewWithT(t)
	var m Microphone
	minute := make([]int16, 60*Rate)
	for range int(MaxQueued / time.Minute) {
		_, err := m.Speak(minute)
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	_, err := m.Speak(minute[:1])
	g.Expect(err).To(gomega.MatchError(ErrQueueFull))
}

func TestASpeakerMeasures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		s := NewSpeaker(50 * time.Millisecond)
		sounded := make(chan error, 1)
		go func() { sounded <- s.AwaitSound(t.Context()) }()
		synctest.Wait()
		s.Hear(make([]int16, FrameSize))
		synctest.Wait()
		g.Expect(sounded).NotTo(gomega.Receive())
		for range 5 {
			s.Hear(tone(FrameTime, 440))
		}
		g.Expect(<-sounded).To(gomega.Succeed())
		begin := time.Now()
		g.Expect(s.AwaitSilence(t.Context(), 300*time.Millisecond)).To(gomega.Succeed())
		g.Expect(time.Since(begin)).To(gomega.Equal(300 * time.Millisecond))
		last, total := s.Sounded()
		g.Expect(last).To(gomega.Equal(begin))
		g.Expect(total).To(gomega.Equal(100 * time.Millisecond))
		recording := s.Recording()
		g.Expect(recording).To(gomega.HaveLen(Rate / 20))
		g.Expect(s.RecordingFrom(Rate / 40)).To(gomega.Equal(recording[Rate/40:]))
		g.Expect(s.RecordingFrom(Rate)).To(gomega.BeEmpty())
		frames := s.Frames()
		g.Expect(frames).To(gomega.HaveLen(6))
		g.Expect(frames[0].Level).To(gomega.Equal(-120.0))
		want := 20 * math.Log10(8000/math.Sqrt2/32768)
		g.Expect(frames[5].Level).To(gomega.BeNumerically("~", want, 0.2))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		g.Expect(s.AwaitSound(ctx)).To(gomega.MatchError(context.DeadlineExceeded))
	})
}

func TestASpeakerForgetsTheOldestFrames(t *testing.T) {
	g := gomega.NewWithT(t)
	s := NewSpeaker(0)
	for i := range MaxFrames + 3 {
		s.Hear(make([]int16, 1+i%7))
	}
	frames := s.Frames()
	g.Expect(frames).To(gomega.HaveLen(MaxFrames))
	g.Expect(frames[0].Samples).To(gomega.Equal(1 + 3%7))
	g.Expect(frames[MaxFrames-1].Samples).To(gomega.Equal(1 + (MaxFrames+2)%7))
	g.Expect(s.Recording()).To(gomega.BeEmpty())
}

func TestMeterLevels(t *testing.T) {
	g := gomega.NewWithT(t)
	for dbfs, want := range map[float64]float32{-120: 0, -60: 0, -30: 0.5, 0: 1, 3: 1} {
		g.Expect(meterLevel(dbfs)).To(gomega.BeNumerically("~", want, 1e-6))
	}
}

// coded returns the Opus packets of a tone.
func coded(t *testing.T, frames int) [][]byte {
	t.Helper()
	enc, err := newEncoder()
	if err != nil {
		t.Fatal(err)
	}
	var packets [][]byte
	for range frames {
		packet, err := enc.encode(tone(FrameTime, 500))
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, append([]byte(nil), packet...))
	}
	return packets
}

func TestLostPacketsAreConcealedAndLateOnesDropped(t *testing.T) {
	for name, row := range map[string]struct {
		numbers []uint16
		frames  int
	}{
		"all":               {[]uint16{7, 8, 9}, 3},
		"one lost":          {[]uint16{7, 9}, 3},
		"late":              {[]uint16{7, 9, 8}, 3},
		"twice":             {[]uint16{7, 7, 8}, 2},
		"round the number":  {[]uint16{65535, 0, 1}, 3},
		"lost at the round": {[]uint16{65534, 1}, 4},
		"many lost":         {[]uint16{7, 300}, 2 + maxConceal},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			dec, err := newDecoder()
			g.Expect(err).NotTo(gomega.HaveOccurred())
			packet, heard := coded(t, 1)[0], 0
			for _, n := range row.numbers {
				g.Expect(dec.decode(n, packet, func(pcm []int16) {
					g.Expect(pcm).To(gomega.HaveLen(FrameSize))
					heard++
				})).To(gomega.Succeed())
			}
			g.Expect(heard).To(gomega.Equal(row.frames))
		})
	}
}

// A packet that the decoder refuses leaves it as it was. This one has three frames, of which the second is longer than the rest.
func TestARefusedPacketIsNotHeard(t *testing.T) {
	g := gomega.NewWithT(t)
	disturbed, err := newDecoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	undisturbed, err := newDecoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for i, packet := range coded(t, 10) {
		g.Expect(disturbed.decode(uint16(2*i), append([]byte{packet[0] | 3, 0x83, 40, 251}, packet[1:]...), func([]int16) {})).NotTo(gomega.Succeed())
		var got, want []int16
		g.Expect(disturbed.decode(uint16(2*i+1), packet, func(pcm []int16) { got = append(got, pcm...) })).To(gomega.Succeed())
		g.Expect(undisturbed.decode(uint16(i), packet, func(pcm []int16) { want = append(want, pcm...) })).To(gomega.Succeed())
		g.Expect(got).To(gomega.Equal(want), "packet %d", i)
	}
}

func TestTheDecoderGoesOnAfterGarbage(t *testing.T) {
	g := gomega.NewWithT(t)
	dec, err := newDecoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	hear := func([]int16) {}
	g.Expect(dec.decode(1, nil, hear)).To(gomega.Succeed())
	g.Expect(dec.decode(2, []byte{0xff, 0xff, 0xff}, hear)).NotTo(gomega.Succeed())
	heard := 0
	g.Expect(dec.decode(3, coded(t, 1)[0], func(pcm []int16) { heard += len(pcm) })).To(gomega.Succeed())
	g.Expect(heard).To(gomega.Equal(FrameSize))
}

func TestSoundSurvivesTheCodec(t *testing.T) {
	g := gomega.NewWithT(t)
	enc, err := newEncoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	dec, err := newDecoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	in := append(tone(200*time.Millisecond, 500), make([]int16, 20*FrameSize)...)
	var out []int16
	ready := 0
	for n := uint16(0); len(in) > 0; n++ {
		packet, err := enc.encode(in[:FrameSize])
		g.Expect(err).NotTo(gomega.HaveOccurred())
		if bytes.Equal(packet, silentPacket()) {
			ready++
		}
		g.Expect(dec.decode(n, packet, func(pcm []int16) { out = append(out, pcm...) })).To(gomega.Succeed())
		in = in[FrameSize:]
	}
	g.Expect(ready).To(gomega.Equal(20-tail), "pauses cost nothing")
	g.Expect(dbfs(out[2*FrameSize : 8*FrameSize])).To(gomega.BeNumerically("~", dbfs(tone(time.Second, 500)), 1))
	g.Expect(dbfs(out[15*FrameSize:])).To(gomega.BeNumerically("<", -60))
}

// wavFile makes a WAV file. extra adds a chunk that a reader has to skip.
func wavFile(rate, channels, bits int, extra bool, pcm []int16) []byte {
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) } // writing to a buffer never fails
	b.WriteString("RIFF")
	put(uint32(0))
	b.WriteString("WAVE")
	if extra {
		b.WriteString("LIST")
		put(uint32(3))
		b.WriteString("odd\x00")
	}
	b.WriteString("fmt ")
	put(uint32(16))
	put([]uint16{1, uint16(channels)})
	put([]uint32{uint32(rate), uint32(rate * channels * bits / 8)})
	put([]uint16{uint16(channels * bits / 8), uint16(bits)})
	b.WriteString("data")
	put(uint32(0xFFFFFFFF)) // a program that does not know the length yet writes this
	put(pcm)
	return b.Bytes()
}

func TestReadWAV(t *testing.T) {
	g := gomega.NewWithT(t)
	pcm := tone(100*time.Millisecond, 440)
	same, err := ReadWAV(bytes.NewReader(wavFile(Rate, 1, 16, true, pcm)))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(same).To(gomega.Equal(pcm))

	var stereo []int16
	for _, v := range pcm {
		stereo = append(stereo, v+100, v-100)
	}
	mean, err := ReadWAV(bytes.NewReader(wavFile(Rate, 2, 16, false, stereo)))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(mean).To(gomega.Equal(pcm))

	slower, err := ReadWAV(bytes.NewReader(wavFile(16000, 1, 16, false, pcm)))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(len(slower)).To(gomega.BeNumerically("~", len(pcm)*3/2, 2))
}

func TestReadWAVRefuses(t *testing.T) {
	good := wavFile(Rate, 1, 16, false, []int16{1, 2, 3})
	for name, data := range map[string][]byte{
		"nothing":         nil,
		"text":            []byte("this is a text and no sound at all"),
		"no data":         good[:36],
		"12 bits":         wavFile(Rate, 1, 12, false, nil),
		"no channels":     wavFile(Rate, 0, 16, false, nil),
		"no rate":         wavFile(0, 1, 16, false, nil),
		"an odd rate":     wavFile(1, 1, 16, false, nil),
		"data first":      append(append([]byte(nil), good[:12]...), good[36:]...),
		"a short format":  append(append([]byte(nil), good[:12]...), "fmt \x02\x00\x00\x00\x01\x00"...),
		"a cut-off chunk": append(append([]byte(nil), good[:12]...), "LIST\xff\xff\xff\xff"...),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadWAV(bytes.NewReader(data))
			gomega.NewWithT(t).Expect(err).To(gomega.MatchError(ErrWAV))
		})
	}
}

func TestThePlayerKnowsThePlayedPosition(t *testing.T) {
	g := gomega.NewWithT(t)
	var p player
	sound := voice.PCM16ToBytes(nil, tone(50*time.Millisecond, 440))
	frame := make([]int16, FrameSize)
	_, playing := p.stop()
	g.Expect(playing).To(gomega.BeFalse())

	g.Expect(p.play("r1", "a1", 0, sound)).To(gomega.BeTrue())
	_, playing = p.stop()
	g.Expect(playing).To(gomega.BeFalse(), "nothing of it was heard")
	g.Expect(p.play("r1", "a1", 0, sound)).To(gomega.BeTrue())
	_, sounding := p.frame(frame)
	g.Expect(sounding).To(gomega.BeFalse(), "late sound of a stopped response is not played")

	g.Expect(p.play("r2", "a2", 0, sound)).To(gomega.BeTrue())
	g.Expect(p.play("r2", "a3", 1, sound)).To(gomega.BeTrue())
	p.finish("r2")
	tell, _ := p.frame(frame)
	g.Expect(tell).To(gomega.Equal([]sdk.PeerEvent{sdk.PlaybackStarted{ResponseID: "r2"}}))
	for range 3 {
		tell, sounding = p.frame(frame)
		g.Expect(tell).To(gomega.BeEmpty())
		g.Expect(sounding).To(gomega.BeTrue())
	}
	heard, playing := p.stop()
	g.Expect(playing).To(gomega.BeTrue())
	g.Expect(heard).To(gomega.Equal(sdk.PlayedPosition{ItemID: "a3", ContentIndex: 1, MS: 30}))

	g.Expect(p.play("r3", "a4", 0, sound[:2*FrameSize])).To(gomega.BeTrue())
	p.finish("r3")
	tell, _ = p.frame(frame)
	g.Expect(tell).To(gomega.Equal([]sdk.PeerEvent{sdk.PlaybackStarted{ResponseID: "r3"}, sdk.PlaybackStopped{ResponseID: "r3"}}))
	p.finish("r4")
	tell, sounding = p.frame(frame)
	g.Expect(tell).To(gomega.BeEmpty(), "an answer in writing is not played")
	g.Expect(sounding).To(gomega.BeFalse())
}

func TestThePlayerHasALimit(t *testing.T) {
	g := gomega.NewWithT(t)
	var p player
	minute := make([]byte, 2*60*Rate)
	for range int(MaxQueued / time.Minute) {
		g.Expect(p.play("r", "a", 0, minute)).To(gomega.BeTrue())
	}
	g.Expect(p.play("r", "a", 0, minute[:2])).To(gomega.BeFalse())
}

// The pacer counts its frames from the beginning, so that delays do not add up.
func TestThePaceDoesNotDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		stop, ticks := make(chan struct{}), 0
		begin := time.Now()
		pace(stop, func() {
			ticks++
			if ticks%10 == 0 { // the machine is busy from time to time
				<-time.After(35 * time.Millisecond)
			}
			if ticks == 500 {
				close(stop)
			}
		})
		g.Expect(time.Since(begin)).To(gomega.BeNumerically("~", 500*FrameTime, 2*FrameTime))
	})
}

func TestThePacerSkipsALongPauseOfTheMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		stop, ticks := make(chan struct{}), 0
		pace(stop, func() {
			ticks++
			switch ticks {
			case 5:
				<-time.After(time.Minute)
			case 40:
				close(stop)
			}
		})
		g.Expect(ticks).To(gomega.BeNumerically("<", 45))
	})
}

func FuzzReadWAV(f *testing.F) {
	f.Add(wavFile(Rate, 1, 16, true, []int16{1, 2, 3}))
	f.Add(wavFile(16000, 2, 16, false, []int16{1, 2, 3}))
	f.Add([]byte("RIFF\x00\x00\x00\x00WAVE"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := ReadWAV(bytes.NewReader(data)); err != nil && !errors.Is(err, ErrWAV) {
			t.Fatal(err)
		}
	})
}

func TestAWrittenWAVFileCanBeRead(t *testing.T) {
	g := gomega.NewWithT(t)
	pcm := tone(100*time.Millisecond, 440)
	var file bytes.Buffer
	g.Expect(WriteWAV(&file, pcm)).To(gomega.Succeed())
	g.Expect(ReadWAV(&file)).To(gomega.Equal(pcm))
}

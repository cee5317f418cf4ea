package voice

import "testing"

// The detector's target is 10 us a frame natively and 50 us under wasm. The energy detector beside it is what a frame costs
// that is only measured.
func BenchmarkDetectorFrame(b *testing.B) {
	x := concat(quiet(0.5), newSpeaker(110).say(3), whiteNoise(1, 0.5, 0.01))
	d := NewDetector(DetectorConfig{})
	b.ReportAllocs()
	at := 0
	for b.Loop() {
		d.Frame(x[at : at+FrameSize])
		if at += FrameSize; at+FrameSize > len(x) {
			at = 0
		}
	}
}

func BenchmarkDetectorReferenceEnergy(b *testing.B) {
	x := newSpeaker(110).say(1)
	threshold, speech := float32(-40), false
	b.ReportAllocs()
	at := 0
	for b.Loop() {
		speech = speech != (DBFS(RMS(x[at:at+FrameSize])) > threshold)
		if at += FrameSize; at+FrameSize > len(x) {
			at = 0
		}
	}
}

func BenchmarkResampler(b *testing.B) {
	for _, c := range []struct {
		name     string
		from, to int
	}{
		{"24000->16000", 24000, 16000},
		{"48000->16000", 48000, 16000},
		{"44100->16000", 44100, 16000},
		{"16000->24000", 16000, 24000},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := mustResampler(b, c.from, c.to)
			src := sineAt(440, c.from, c.from/100)
			dst := make([]float32, 0, c.to/100+8)
			b.ReportAllocs()
			for b.Loop() {
				dst = r.Append(dst[:0], src)
			}
		})
	}
}

func BenchmarkNewDetector(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		NewDetector(DetectorConfig{})
	}
}

// A frame of Echo with a Detector is one spectrum more.
func BenchmarkEchoFrameOf(b *testing.B) {
	agent, person := newSpeaker(110).say(3), newSpeaker(190).say(3)
	d, e := NewDetector(DetectorConfig{}), NewEcho()
	d.Frame(person[:FrameSize])
	b.ReportAllocs()
	at := 0
	for b.Loop() {
		e.FrameOf(d, agent[at:at+FrameSize])
		if at += FrameSize; at+FrameSize > len(person) {
			at = 0
		}
	}
}

// A frame of Echo after a frame of its Detector.
func BenchmarkEchoFrame(b *testing.B) {
	agent, person := newSpeaker(110).say(3), newSpeaker(190).say(3)
	e := NewEcho()
	b.ReportAllocs()
	at := 0
	for b.Loop() {
		e.Frame(person[at:at+FrameSize], agent[at:at+FrameSize])
		if at += FrameSize; at+FrameSize > len(person) {
			at = 0
		}
	}
}

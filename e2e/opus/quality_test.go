package opus

// What our encoder costs the listener, beside libopus' own encoder at the same bit rate. Debian's libopus decodes both.

import (
	"fmt"
	"math"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// encoders are the ways to encode 20 ms of 24 kHz mono that are compared. The server uses the first, at 40 kbit/s.
var encoders = []struct {
	name                    string
	complexity, application int32 // application 0 is the server's encoder
}{
	{"server, complexity 1", 1, 0},
	{"server, complexity 10", 10, 0},
	{"libopus low delay, complexity 1", 1, forLowDelay},
	{"libopus low delay, complexity 10", 10, forLowDelay},
	{"libopus VoIP, complexity 10", 10, forVoIP},
}

// quality encodes speech, lets Debian's libopus decode it, and returns the bit rate in kbit/s and two distances in dB. segments is the ratio of the
// speech to the error in pieces of 20 ms, a mean of -10 to 35: it counts phase, too. spectrum is by how much the levels of the critical bands
// are wrong, as the root of the mean square over bands and frames.
func quality(t testing.TB, pcm []int16, which, bitrate int) (rate, segments, spectrum float64) {
	lib, g := libopus(t, debian)
	dec := lib.newReference(g, opus.Rate, 1)
	defer dec.close()
	e := encoders[which]
	var encode func(pcm []int16, packet []byte) int
	if e.application == 0 {
		enc, err := opus.NewEncoder(int(e.complexity), bitrate)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		encode = func(pcm []int16, packet []byte) int {
			n, err := enc.Encode(pcm, packet)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			return n
		}
	} else {
		var status int32
		enc := lib.NewEncoder(opus.Rate, 1, e.application, &status)
		g.Expect(status).To(gomega.BeZero())
		defer lib.CloseEncoder(enc)
		g.Expect(lib.SetEncoder(enc, setBitrate, int32(bitrate))).To(gomega.BeZero())
		g.Expect(lib.SetEncoder(enc, setComplexity, e.complexity)).To(gomega.BeZero())
		encode = func(pcm []int16, packet []byte) int {
			return int(lib.Encode(enc, &pcm[0], opus.FrameSize, &packet[0], int32(len(packet))))
		}
	}
	var coded []int16
	bytes, packet, out := 0, make([]byte, opus.MaxBytes), make([]int16, opus.MaxPacket)
	for at := 0; at+opus.FrameSize <= len(pcm); at += opus.FrameSize {
		n := encode(pcm[at:at+opus.FrameSize], packet)
		g.Expect(n).To(gomega.BeNumerically(">", 0))
		bytes += n
		n = dec.decode(packet[:n], out)
		g.Expect(n).To(gomega.Equal(opus.FrameSize))
		coded = append(coded, out[:n]...)
	}
	delay, best := 0, math.Inf(-1)
	for d := 0; d <= 240; d += 4 { // each application has its own delay
		if ratio := segmentRatio(pcm[:2*opus.Rate], coded[d:]); ratio > best {
			delay, best = d, ratio
		}
	}
	segments, spectrum = segmentRatio(pcm, coded[delay:]), bandError(pcm, coded[delay:])
	return float64(bytes) * 8 / (float64(len(coded)) / opus.Rate) / 1000, segments, spectrum
}

func segmentRatio(in, out []int16) float64 {
	const size = opus.Rate / 50
	sum, n := 0.0, 0
	for at := 0; at+size <= min(len(in), len(out)); at += size {
		signal, fault := 1.0, 1.0
		for i := at; i < at+size; i++ {
			signal += float64(in[i]) * float64(in[i])
			d := float64(in[i]) - float64(out[i])
			fault += d * d
		}
		if signal/size > 100*100 { // speech
			sum += min(35, max(-10, 10*math.Log10(signal/fault)))
			n++
		}
	}
	return sum / float64(n)
}

// barks are the edges of the critical bands of hearing up to 7.7 kHz, in hertz (Zwicker, 1961): the prompts have nothing above 8 kHz.
var barks = []float64{100, 200, 300, 400, 510, 630, 770, 920, 1080, 1270, 1480, 1720, 2000, 2320, 2700, 3150, 3700, 4400, 5300, 6400, 7700}

func bandError(in, out []int16) float64 {
	const size = 512
	spectrum, windowed, power := voice.NewSpectrum(size), make([]float32, size), make([]float32, size/2)
	bands := func(x []int16) (levels []float64) {
		for i := range windowed {
			windowed[i] = float32(x[i]) * float32(0.5-0.5*math.Cos(2*math.Pi*float64(i)/size))
		}
		spectrum.Power(power, windowed)
		for b := range barks[1:] {
			sum := 1.0 // far below what is heard
			for k := int(barks[b] * size / opus.Rate); k <= int(barks[b+1]*size/opus.Rate); k++ {
				sum += float64(power[k])
			}
			levels = append(levels, 10*math.Log10(sum))
		}
		return levels
	}
	sum, n := 0.0, 0
	for at := 0; at+size <= min(len(in), len(out)); at += size / 2 {
		if level(in[at:at+size]) > 100 {
			was, is := bands(in[at:]), bands(out[at:])
			for b := range was {
				sum += (was[b] - is[b]) * (was[b] - is[b])
				n++
			}
		}
	}
	return math.Sqrt(sum / float64(n))
}

// TestEncoderQuality holds the server's encoder to libopus with the same application, complexity and bit rate. At complexity 1, which the server uses, the
// two are the same to 0.5 dB. At complexity 10 gopus has up to 2.5 dB more error in phase, and the same spectrum.
func TestEncoderQuality(t *testing.T) {
	pcm := speech(t, opus.Rate, 30)
	g := gomega.NewWithT(t)
	lines := "\n| encoder | asked | kbit/s | segments, dB | spectrum, dB |\n|---|---|---|---|---|\n"
	defer func() { t.Log(lines) }()
	for _, bitrate := range []int{16_000, 24_000, 32_000, 40_000, 64_000, 128_000} {
		var ratio, wrong [5]float64
		for which := range encoders {
			rate, segments, spectrum := quality(t, pcm, which, bitrate)
			ratio[which], wrong[which] = segments, spectrum
			lines += fmt.Sprintf("| %s | %d | %.1f | %.2f | %.2f |\n", encoders[which].name, bitrate/1000, rate, segments, spectrum)
		}
		for which := range 2 {
			g.Expect(ratio[which]).To(gomega.BeNumerically(">", ratio[which+2]-[]float64{0.5, 2.5}[which]), "segments, %d bit/s, %s", bitrate, encoders[which].name)
			g.Expect(wrong[which]).To(gomega.BeNumerically("<", wrong[which+2]+0.5), "spectrum, %d bit/s, %s", bitrate, encoders[which].name)
		}
	}
}

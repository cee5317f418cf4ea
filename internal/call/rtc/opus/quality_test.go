package opus

// The quality and the cost of each complexity of the encoder, on speech that flite makes.

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// codecDelay is how much later a sample comes out of the decoder than it went into the encoder, in samples.
const codecDelay = 60

// barks are the edges of the critical bands of hearing up to 9.5 kHz, in hertz (Zwicker, 1961).
var barks = []float64{100, 200, 300, 400, 510, 630, 770, 920, 1080, 1270, 1480, 1720, 2000, 2320, 2700, 3150, 3700, 4400, 5300, 6400, 7700, 9500}

// BenchmarkSpeech encodes a frame of speech at 40 kbit/s. It also reports the ratio of the speech to what the codec changes: as a mean over
// the critical bands (bands-dB), and over pieces of 2.5 ms, where sound before an onset counts (pieces-dB). 1 dB is hard to hear.
func BenchmarkSpeech(b *testing.B) {
	speech := fliteSpeech(b)
	for _, complexity := range []int{1, 5, 10} {
		b.Run(fmt.Sprintf("complexity%d", complexity), func(b *testing.B) {
			g := gomega.NewWithT(b)
			enc, err := NewEncoder(complexity, 40_000)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			dec, err := NewDecoder()
			g.Expect(err).NotTo(gomega.HaveOccurred())
			packet, pcm, coded := make([]byte, MaxBytes), make([]int16, MaxPacket), []int16(nil)
			for at := 0; at+FrameSize <= len(speech); at += FrameSize {
				n, err := enc.Encode(speech[at:at+FrameSize], packet)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				n, err = dec.Decode(packet[:n], pcm)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				coded = append(coded, pcm[:n]...)
			}
			at := 0
			for b.Loop() {
				if at += FrameSize; at+FrameSize > len(speech) {
					at = 0
				}
				if _, err := enc.Encode(speech[at:at+FrameSize], packet); err != nil {
					b.Fatal(err)
				}
			}
			in := voice.PCM16ToFloat(nil, speech[:len(coded)-codecDelay])
			out := voice.PCM16ToFloat(nil, coded[codecDelay:])
			b.ReportMetric(bandRatio(in, out), "bands-dB")
			b.ReportMetric(pieceRatio(in, out), "pieces-dB")
		})
	}
}

// fliteSpeech returns two sentences of two of flite's speakers.
func fliteSpeech(b *testing.B) (pcm []int16) {
	b.Helper()
	g := gomega.NewWithT(b)
	flite, err := exec.LookPath("flite")
	g.Expect(err).NotTo(gomega.HaveOccurred(), "apt install flite")
	file := filepath.Join(b.TempDir(), "speech.wav")
	for _, said := range [][2]string{
		{"slt", "The quick brown fox jumps over the lazy dog."}, {"rms", "A rod is used to catch pink salmon."},
	} {
		g.Expect(exec.CommandContext(b.Context(), flite, "-voice", said[0], "-t", said[1], "-o", file).Run()).To(gomega.Succeed())
		wav, err := os.ReadFile(file)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		const header, rateAt = 44, 24
		up, err := voice.NewResampler(int(binary.LittleEndian.Uint32(wav[rateAt:])), Rate)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		pcm = up.FlushPCM16(up.AppendPCM16(pcm, voice.BytesToPCM16(nil, wav[header:])))
	}
	return pcm
}

// bandRatio returns the mean over frames and critical bands of the ratio of in to out-in, in dB. It leaves silence out, and limits each
// ratio to -10 .. 35 dB.
func bandRatio(in, out []float32) float64 {
	const size = 1024
	spectrum, windowed := voice.NewSpectrum(size), make([]float32, size)
	power := func(x func(int) float32) []float32 {
		for i := range windowed {
			windowed[i] = x(i) * float32(0.5-0.5*math.Cos(2*math.Pi*float64(i)/size))
		}
		p := make([]float32, size/2)
		spectrum.Power(p, windowed)
		return p
	}
	var mean meanRatio
	for at := 0; at+size <= len(in); at += size / 4 {
		if voice.RMS(in[at:at+size]) < 0.005 {
			continue
		}
		signal := power(func(i int) float32 { return in[at+i] })
		change := power(func(i int) float32 { return out[at+i] - in[at+i] })
		for k := range len(barks) - 1 {
			low, high := int(barks[k]*size/Rate), int(barks[k+1]*size/Rate)
			if s := sum(signal[low:high]); s > 1e-5*sum(signal) {
				mean.add(s, sum(change[low:high]))
			}
		}
	}
	return mean.dB / mean.n
}

// pieceRatio is bandRatio over pieces of 2.5 ms instead of bands.
func pieceRatio(in, out []float32) float64 {
	const size = Rate / 400
	var mean meanRatio
	for at := 0; at+size <= len(in); at += size {
		var signal, change float64
		for i := at; i < at+size; i++ {
			signal += float64(in[i] * in[i])
			change += float64((out[i] - in[i]) * (out[i] - in[i]))
		}
		if signal > size*1e-6 {
			mean.add(signal, change)
		}
	}
	return mean.dB / mean.n
}

// meanRatio is a mean of ratios of powers.
type meanRatio struct{ dB, n float64 }

func (m *meanRatio) add(signal, change float64) {
	m.dB += min(max(10*math.Log10(signal/(change+1e-12)), -10), 35)
	m.n++
}

func sum(x []float32) (s float64) {
	for _, v := range x {
		s += float64(v)
	}
	return s
}

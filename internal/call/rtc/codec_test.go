package rtc

// Opus: tones, silence, concealment, redundancy and stereo.

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/onsi/gomega"
	"github.com/thesyncim/gopus"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// tone returns n samples of a sine at half of full scale.
func tone(hz float64, n int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		pcm[i] = int16(16_384 * math.Sin(2*math.Pi*hz*float64(i)/Rate))
	}
	return pcm
}

// rms returns the root mean square of pcm; 1 is full scale.
func rms(pcm []int16) float64 {
	return float64(voice.RMS(voice.PCM16ToFloat(nil, pcm)))
}

// purity returns the share of pcm's energy that is a sine of that frequency, 0 to 1.
func purity(pcm []int16, hz float64) float64 {
	var s, c, e float64
	for i, v := range pcm {
		sin, cos := math.Sincos(2 * math.Pi * hz * float64(i) / Rate)
		s, c, e = s+float64(v)*sin, c+float64(v)*cos, e+float64(v)*float64(v)
	}
	return 2 * (s*s + c*c) / float64(len(pcm)) / e
}

// code encodes pcm into packets.
func code(t *testing.T, enc opus.Encoding, pcm []int16) (packets [][]byte) {
	t.Helper()
	for len(pcm) >= FrameSize {
		packet := make([]byte, opus.MaxBytes)
		n, err := enc.Encode(pcm[:FrameSize], packet)
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, packet[:n])
		pcm = pcm[FrameSize:]
	}
	return packets
}

func newTestEncoder(t *testing.T) *opus.Encoder {
	t.Helper()
	enc, err := opus.NewEncoder(1, 40_000)
	if err != nil {
		t.Fatal(err)
	}
	return enc
}

func newTestDecoder(t *testing.T) *opus.Decoder {
	t.Helper()
	dec, err := opus.NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	return dec
}

// decode decodes packets into one piece of PCM.
func decode(t *testing.T, dec opus.Decoding, packets [][]byte) (pcm []int16) {
	t.Helper()
	buf := make([]int16, opus.MaxPacket)
	for _, p := range packets {
		n, err := dec.Decode(p, buf)
		if err != nil {
			t.Fatal(err)
		}
		pcm = append(pcm, buf[:n]...)
	}
	return pcm
}

func TestOpusCarriesTones(t *testing.T) {
	for _, hz := range []float64{150, 440, 1000, 3000, 7000} {
		g := gomega.NewWithT(t)
		in := tone(hz, Rate)
		packets := code(t, newTestEncoder(t), in)
		out := decode(t, newTestDecoder(t), packets)
		g.Expect(out).To(gomega.HaveLen(len(in)), "%v Hz", hz)
		settled := out[Rate/5:]
		g.Expect(rms(settled)).To(gomega.BeNumerically("~", rms(in), 0.03), "%v Hz", hz)
		g.Expect(purity(settled, hz)).To(gomega.BeNumerically(">", 0.98), "%v Hz", hz)
		bytes := 0
		for _, p := range packets {
			bytes += len(p)
		}
		g.Expect(bytes*8).To(gomega.BeNumerically("<", 60_000), "bits a second at %v Hz", hz)
	}
}

// After Reset only the slow state of the codec's DC filter remains: 50 dB lower, and without a pitch.
func TestOpusResetForgets(t *testing.T) {
	g := gomega.NewWithT(t)
	enc := newTestEncoder(t)
	code(t, enc, tone(440, Rate))
	enc.Reset()
	out := decode(t, newTestDecoder(t), code(t, enc, make([]int16, 10*FrameSize)))
	g.Expect(rms(out)).To(gomega.BeNumerically("<", 0.003))
	g.Expect(purity(out, 440)).To(gomega.BeNumerically("<", 0.05))
}

func TestOpusSilenceFrame(t *testing.T) {
	g := gomega.NewWithT(t)
	pcm := decode(t, newTestDecoder(t), [][]byte{opus.SilentPacket(), opus.SilentPacket()})
	g.Expect(pcm).To(gomega.HaveLen(2 * FrameSize))
	g.Expect(rms(pcm)).To(gomega.BeZero())
}

func TestOpusConcealsLostPackets(t *testing.T) {
	g := gomega.NewWithT(t)
	packets := code(t, newTestEncoder(t), tone(440, Rate))
	dec := newTestDecoder(t)
	before := decode(t, dec, packets[:20])
	for _, n := range []int{FrameSize, FrameSize / 2, FrameSize / 8} { // 20, 10, 2.5 ms
		lost := make([]int16, n)
		g.Expect(dec.Conceal(lost)).To(gomega.Succeed())
		g.Expect(rms(lost)).To(gomega.BeNumerically(">", rms(before)/4), "%d samples", n)
	}
	after := decode(t, dec, packets[22:])
	g.Expect(purity(after[5*FrameSize:], 440)).To(gomega.BeNumerically(">", 0.95))
}

// Browsers send SILK, with redundancy if packets are lost, because the answer has useinbandfec=1. Packets have 20, 40 or 60 ms.
func TestOpusRecoversFromRedundancy(t *testing.T) {
	for _, ms := range []int{20, 40, 60} {
		t.Run(fmt.Sprint(ms, " ms"), func(t *testing.T) {
			g := gomega.NewWithT(t)
			size := 16 * ms
			enc, err := gopus.NewEncoder(gopus.EncoderConfig{SampleRate: 16_000, Channels: 1, Application: gopus.ApplicationVoIP})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(errors.Join(enc.SetFrameSize(size), enc.SetBitrate(32_000), enc.SetPacketLoss(20))).To(gomega.Succeed())
			enc.SetFEC(true)
			dec := newTestDecoder(t)
			lost := make([]int16, Rate*ms/1000)
			var recovered []int16
			for i := range 100 {
				packet := make([]byte, opus.MaxBytes)
				n, err := enc.EncodeInt16(buzz(i*size, size, 16_000), packet)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				packet = packet[:n]
				if i%5 == 3 {
					continue // lost
				}
				if i%5 == 4 && dec.Redundant(packet) && dec.Recover(packet, lost) {
					recovered = append(recovered, lost...)
				}
				decode(t, dec, [][]byte{packet})
			}
			g.Expect(len(recovered)).To(gomega.BeNumerically(">", 10*len(lost)), "of 20 lost packets; only loud frames have redundancy")
			g.Expect(rms(recovered)).To(gomega.BeNumerically("~", rms(buzz(0, Rate, Rate)), 0.05))
			g.Expect(dec.Recover(opus.SilentPacket(), lost)).To(gomega.BeFalse(), "no redundancy in a frame of silence")
		})
	}
}

// buzz returns a signal like a vowel: a gliding pitch with overtones, whose volume rises four times a second.
func buzz(from, n, rate int) []int16 {
	pcm := make([]int16, n)
	for i := range pcm {
		x := float64(from+i) / float64(rate)
		v := 0.0
		for h := 1.0; h < 20; h++ {
			v += math.Sin(2*math.Pi*140*(1+0.01*math.Sin(5*x))*h*x) / h
		}
		pcm[i] = int16(5000 * v * (0.6 + 0.4*math.Sin(2*math.Pi*4*x)))
	}
	return pcm
}

func TestOpusMixesStereoDown(t *testing.T) {
	g := gomega.NewWithT(t)
	enc, err := gopus.NewEncoder(gopus.EncoderConfig{SampleRate: 48_000, Channels: 2, Application: gopus.ApplicationAudio})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(enc.SetBitrate(64_000)).To(gomega.Succeed())
	var out []int16
	dec := newTestDecoder(t)
	stereo := make([]int16, 2*960)
	for i := range 50 {
		for j := range 960 {
			v := int16(16_384 * math.Sin(2*math.Pi*440*float64(i*960+j)/48_000))
			stereo[2*j], stereo[2*j+1] = v, v
		}
		packet := make([]byte, opus.MaxBytes)
		n, err := enc.EncodeInt16(stereo, packet)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		out = append(out, decode(t, dec, [][]byte{packet[:n]})...)
	}
	g.Expect(out).To(gomega.HaveLen(Rate))
	g.Expect(rms(out[Rate/2:])).To(gomega.BeNumerically("~", 0.3536, 0.03))
	g.Expect(purity(out[Rate/2:], 440)).To(gomega.BeNumerically(">", 0.98))
}

package wav

// Files of each kind, files that lie, and files that arrive slowly.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"testing"
	"testing/iotest"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/voice"
)

// file returns a WAV file with a format chunk of this content and these samples.
func file(kind, channels, rate, bits int, data []byte) []byte {
	le := binary.LittleEndian
	out := le.AppendUint32([]byte("RIFF\xff\xff\xff\xffWAVEfmt "), 16)
	out = le.AppendUint16(le.AppendUint16(out, uint16(kind)), uint16(channels))
	out = le.AppendUint32(le.AppendUint32(out, uint32(rate)), 0)
	out = le.AppendUint16(le.AppendUint16(out, 0), uint16(bits))
	out = append(out, "LIST\x03\x00\x00\x00abc\x00data"...)
	return append(le.AppendUint32(out, uint32(len(data))), data...)
}

// sounds has the samples 0, 8192 and -16384 in each kind of file.
func sounds() map[string][]byte {
	le := binary.LittleEndian
	var pcm24, pcm32, float32s, float64s, stereo []byte
	for _, v := range []int16{0, 8192, -16384} {
		pcm24 = append(pcm24, 0, byte(v), byte(v>>8))
		pcm32 = le.AppendUint32(pcm32, uint32(int32(v)<<16))
		float32s = le.AppendUint32(float32s, math.Float32bits(float32(v)/32768))
		float64s = le.AppendUint64(float64s, math.Float64bits(float64(v)/32768))
		stereo = le.AppendUint16(le.AppendUint16(stereo, uint16(v/2)), uint16(v/2*3))
	}
	return map[string][]byte{
		"8 bits": file(1, 1, 16000, 8, []byte{128, 128 + 32, 128 - 64}), "16 bits": file(1, 1, 16000, 16, voice.PCM16ToBytes(nil, []int16{0, 8192, -16384})),
		"24 bits": file(1, 1, 16000, 24, pcm24), "32 bits": file(1, 1, 16000, 32, pcm32), "stereo": file(1, 2, 16000, 16, stereo),
		"float": file(3, 1, 16000, 32, float32s), "double": file(3, 1, 16000, 64, float64s),
		"A-law": file(6, 1, 16000, 8, voice.AppendALaw(nil, []int16{0, 8192, -16384})),
		"µ-law": file(7, 1, 16000, 8, voice.AppendMuLaw(nil, []int16{0, 8192, -16384})),
	}
}

func TestKindsOfFiles(t *testing.T) {
	for name, data := range sounds() {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			for _, in := range []io.Reader{bytes.NewReader(data), iotest.OneByteReader(bytes.NewReader(data)), bytes.NewReader(data[:len(data):len(data)])} {
				pcm, rate, err := ReadAll(in, 3)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(rate).To(gomega.Equal(16000))
				g.Expect(pcm).To(gomega.HaveLen(3))
				for i, want := range []int{0, 8192, -16384} {
					g.Expect(int(pcm[i])).To(gomega.BeNumerically("~", want, 400), "G.711 rounds")
				}
			}
			_, _, err := ReadAll(bytes.NewReader(data), 2)
			g.Expect(err).To(gomega.MatchError(ErrTooLong))
		})
	}
}

func TestHeader(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, size := range []int{6, Unknown} {
		pcm, rate, err := ReadAll(bytes.NewReader(voice.PCM16ToBytes(Header(24000, size), []int16{1, -2, 3})), 10)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(rate).To(gomega.Equal(24000))
		g.Expect(pcm).To(gomega.Equal([]int16{1, -2, 3}))
	}
	g.Expect(Header(24000, 0)).To(gomega.HaveLen(HeaderSize))
}

// TestReadDoesNotWait: a reader of a stream gets what has arrived.
func TestReadDoesNotWait(t *testing.T) {
	g := gomega.NewWithT(t)
	in, out := io.Pipe()
	go func() {
		_, _ = out.Write(voice.PCM16ToBytes(Header(24000, Unknown), []int16{1, 2}))
		_, _ = out.Write([]byte{3}) // half a sample
		_, _ = out.Write([]byte{0, 4, 0})
		_ = out.CloseWithError(errCut)
	}()
	r, err := NewReader(in)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var got []int16
	for {
		var piece [10]int16
		n, err := r.Read(piece[:])
		if got = append(got, piece[:n]...); err != nil {
			g.Expect(err).To(gomega.MatchError(errCut))
			break
		}
	}
	g.Expect(got).To(gomega.Equal([]int16{1, 2, 3, 4}))
}

var errCut = errors.New("the connection is cut")

func TestFilesThatLie(t *testing.T) {
	whole := file(1, 1, 16000, 16, []byte{1, 0, 2, 0})
	for want, data := range map[string][]byte{
		"does not begin":   []byte("OggS\x00\x00\x00\x00\x00\x00\x00\x00\x00"),
		"ends before":      whole[:50],
		"a rate of 0":      file(1, 1, 0, 16, nil),
		"a rate of 400000": file(1, 1, 400000, 16, nil),
		"0 channels":       file(1, 0, 16000, 16, nil),
		"40 channels":      file(1, 40, 16000, 16, nil),
		"with 12 bits":     file(1, 1, 16000, 12, nil),
		"of kind 85":       file(85, 1, 16000, 0, nil),
		"only 4 bytes":     []byte("RIFF\x00\x00\x00\x00WAVEfmt \x04\x00\x00\x00\x01\x00\x01\x00"),
		"before its":       []byte("RIFF\x00\x00\x00\x00WAVEdata\x04\x00\x00\x00\x01\x00\x02\x00"),
		"of 2147483648":    []byte("RIFF\x00\x00\x00\x00WAVEfmt \x00\x00\x00\x80"),
	} {
		_, err := NewReader(bytes.NewReader(data))
		g := gomega.NewWithT(t)
		g.Expect(err).To(gomega.MatchError(ErrFormat))
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)))
	}
	pcm, _, err := ReadAll(bytes.NewReader(whole[:len(whole)-1]), 10)
	g := gomega.NewWithT(t)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(pcm).To(gomega.Equal([]int16{1}), "the half sample is left out")
}

// FuzzReadAll: whatever arrives, the result is a sound with a rate, or an error that says why.
func FuzzReadAll(f *testing.F) {
	for _, data := range sounds() {
		f.Add(data)
	}
	f.Add(append(Header(8000, Unknown), 1))
	f.Fuzz(func(t *testing.T, data []byte) {
		pcm, rate, err := ReadAll(bytes.NewReader(data), 1<<20)
		switch {
		case err != nil && !errors.Is(err, ErrFormat):
			t.Fatal(err)
		case err == nil && (rate < MinRate || rate > MaxRate):
			t.Fatalf("%d samples a second", rate)
		case len(pcm) > len(data):
			t.Fatalf("%d samples of %d bytes", len(pcm), len(data))
		}
	})
}

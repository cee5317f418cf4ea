package opus

// The official test vectors, and another decoder in Go.

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onsi/gomega"
	pion "github.com/pion/opus"
	"github.com/thesyncim/gopus"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

// BenchmarkVectors decodes the .bit files of the folder OPUS_VECTORS, which RFC 8251 describes. Each packet there has the final state of the range decoder,
// which gopus must reach; and our decoder must give the samples of libopus, within the bound of TestIntactPackets.
func BenchmarkVectors(b *testing.B) {
	lib, g := libopus(b, pinned)
	files, err := filepath.Glob(filepath.Join(os.Getenv("OPUS_VECTORS"), "*.bit"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(files).NotTo(gomega.BeEmpty(), "OPUS_VECTORS names the folder of testvector01.bit")
	tally := newTally(lib)
	for _, file := range files {
		data, err := os.ReadFile(file)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		whole, err := gopus.NewDecoder(gopus.DefaultDecoderConfig(fullRate, 2))
		g.Expect(err).NotTo(gomega.HaveOccurred())
		ours, err := opus.NewDecoder()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		ref := lib.newReference(g, opus.Rate, 1)
		x, y, stereo := make([]int16, opus.MaxPacket), make([]int16, opus.MaxPacket), make([]int16, 2*5760)
		for i := 0; len(data) >= 8; i++ {
			size, final := binary.BigEndian.Uint32(data), binary.BigEndian.Uint32(data[4:])
			packet := data[8 : 8+size]
			data = data[8+size:]
			_, err := whole.DecodeInt16(packet, stereo)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(whole.FinalRange()).To(gomega.Equal(final), "%s, packet %d", file, i)
			n, err := ours.Decode(packet, x)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(ref.decode(packet, y)).To(gomega.Equal(n))
			tally.add(filepath.Base(file), apart(x[:n], y[:n]))
		}
		ref.close()
	}
	b.Log(tally)
}

// BenchmarkPion decodes intact and mutated packets with the decoder of pion/opus beside libopus, as TestIntactPackets and TestMutatedPackets do with ours.
// Time is for a packet.
func BenchmarkPion(b *testing.B) {
	lib, g := libopus(b, pinned)
	tally, failed, panicked := newTally(lib), map[string]int{}, 0
	x, y := make([]int16, opus.MaxPacket), make([]int16, opus.MaxPacket)
	var took time.Duration
	packets := 0
	for _, s := range streams(b, lib, 0.6) {
		dec, err := pion.NewDecoderWithOutput(opus.Rate, 1)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		ref := lib.newReference(g, opus.Rate, 1)
		for _, p := range s.packets {
			kind := modes[mode(p)] + []string{", mono", ", stereo"}[p[0]>>2&1]
			began := time.Now()
			n, err := safely(func() (int, error) { return dec.DecodeToInt16(p, x) }, &panicked)
			took += time.Since(began)
			packets++
			if m := ref.decode(p, y); err != nil {
				failed[kind]++
			} else {
				g.Expect(n).To(gomega.Equal(m))
				tally.add(kind, apart(x[:n], y[:n]))
			}
		}
		ref.close()
	}
	r, all, refused, both := rand.New(rand.NewPCG(1, 2)), streams(b, lib, 0.6), 0, 0
	for range mutations(g) {
		s := all[r.IntN(len(all))]
		bad := lib.mutated(r, s.packets[r.IntN(len(s.packets))], s.packets[0])
		dec, err := pion.NewDecoderWithOutput(opus.Rate, 1)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_, err = safely(func() (int, error) { return dec.DecodeToInt16(bad, x) }, &panicked)
		if theirs := len(lib.frames(bad)) == 0; theirs && err != nil {
			both++
		} else if theirs != (err != nil) {
			refused++
		}
	}
	b.Log(tally)
	b.Logf("mutated packets: %d, both refuse %d, only one refuses %d", mutations(g), both, refused)
	b.Logf("errors: %v, panics: %d, %v for a packet", failed, panicked, took/time.Duration(packets))
}

// safely turns a panic into an error and counts it.
func safely(decode func() (int, error), panicked *int) (n int, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			*panicked++
			err = os.ErrInvalid
		}
	}()
	return decode()
}

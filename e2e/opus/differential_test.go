package opus

// Both decoders get the same packets: intact ones, mutated ones, and gaps.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"github.com/thesyncim/gopus"

	"github.com/antiphon-rt/antiphon/internal/call/rtc/opus"
)

const (
	// exact is by how much a sample of two decoders may differ. Both compute with floats, in another order of additions; a step is a 32768th of full scale.
	exact = 3
	// nearly is the same for hybrid frames, where gopus differs more in some (docs/opus.md): 42 dB below full scale.
	nearly = 256
	// further is one in how many mutated hybrid frames may differ still more.
	further = 500
	// longest is how many bytes our decoder takes. A datagram of a call has less.
	longest = 1500
)

// mode returns 0 for SILK, 1 for hybrid and 2 for CELT, from the first byte of a packet.
func mode(packet []byte) int {
	config := packet[0] >> 3
	return int(min(1, config/12) + min(1, config/16))
}

// apart returns the greatest difference of two samples.
func apart(a, b []int16) (most int) {
	for i := range a {
		d := int(a[i]) - int(b[i])
		most = max(most, d, -d)
	}
	return most
}

// short reports whether a frame of the packet has at most one byte: that stands for a frame that the encoder has left out, and the decoder conceals it.
func (l *library) short(packet []byte) bool {
	return slices.ContainsFunc(l.frames(packet), func(n int16) bool { return n <= 1 })
}

// TestIntactPackets decodes every form of packet of both encoders, of one and of several frames. After each packet gopus' range decoder has the state of
// that of libopus, which tells that all bits were read in the same way.
func TestIntactPackets(t *testing.T) {
	for name, of := range map[string]func() (*library, error){"Debian": debian, "pinned": pinned} {
		t.Run(name, func(t *testing.T) {
			lib, g := libopus(t, of)
			tally := newTally(lib)
			for _, s := range streams(t, lib, 0.6) {
				ours, err := opus.NewDecoder()
				g.Expect(err).NotTo(gomega.HaveOccurred())
				theirs := lib.newReference(g, opus.Rate, 1)
				a, b := make([]int16, opus.MaxPacket), make([]int16, opus.MaxPacket)
				whole, err := gopus.NewDecoder(gopus.DefaultDecoderConfig(fullRate, 2))
				g.Expect(err).NotTo(gomega.HaveOccurred())
				stereo, all := lib.newReference(g, fullRate, 2), make([]int16, 2*fullRate*120/1000)
				for i, p := range s.packets {
					if len(p) > longest || name == "Debian" && lib.short(p) {
						break
					}
					n, err := ours.Decode(p, a)
					g.Expect(err).NotTo(gomega.HaveOccurred(), "%s: packet %d", s.name, i)
					g.Expect(theirs.decode(p, b)).To(gomega.Equal(n), "%s: packet %d", s.name, i)
					d := apart(a[:n], b[:n])
					tally.add(modes[mode(p)], d)
					g.Expect(d).To(gomega.BeNumerically("<=", []int{exact, nearly, exact}[mode(p)]), "%s: packet %d", s.name, i)

					_, err = whole.DecodeInt16(p, all)
					g.Expect(err).NotTo(gomega.HaveOccurred())
					stereo.decode(p, all)
					var state uint32
					g.Expect(lib.AskDecoder(stereo.c, finalRange, &state)).To(gomega.BeZero())
					g.Expect(whole.FinalRange()).To(gomega.Equal(state), "%s: packet %d", s.name, i)
				}
				theirs.close()
				stereo.close()
			}
			t.Log(tally)
		})
	}
}

var modes = []string{"SILK", "hybrid", "CELT"}

// tally counts by kinds how far the samples of packets were apart.
type tally struct {
	version string
	kinds   map[string]*struct{ packets, same, exact, nearly, worst int }
}

func newTally(lib *library) *tally {
	return &tally{lib.Version(), map[string]*struct{ packets, same, exact, nearly, worst int }{}}
}

func (t *tally) add(kind string, apart int) {
	k := t.kinds[kind]
	if k == nil {
		k = &struct{ packets, same, exact, nearly, worst int }{}
		t.kinds[kind] = k
	}
	k.packets++
	k.worst = max(k.worst, apart)
	if apart == 0 {
		k.same++
	} else if apart <= exact {
		k.exact++
	} else if apart <= nearly {
		k.nearly++
	}
}

func (t *tally) String() string {
	lines := fmt.Sprintf("%s\n| packets | kind | same samples | apart by at most %d | by at most %d | greatest difference |\n|---|---|---|---|---|---|\n", t.version, exact, nearly)
	for _, name := range slices.Sorted(maps.Keys(t.kinds)) {
		k := t.kinds[name]
		lines += fmt.Sprintf("| %d | %s | %.2f %% | %.2f %% | %.2f %% | %d |\n", k.packets, name,
			100*float64(k.same)/float64(k.packets), 100*float64(k.exact)/float64(k.packets), 100*float64(k.nearly)/float64(k.packets), k.worst)
	}
	return lines
}

// mutations is how many packets are mutated: the whole campaign is make opus.
func mutations(g *gomega.WithT) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("ANTIPHON_OPUS"), "5000"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return n
}

// TestMutatedPackets gives both decoders two intact packets of a stream, a mutated one, and the intact one after it. Both refuse the same packets, and
// give the same number of samples. The samples are the same, too, and those of the packet after it, unless the mutated packet has another mode or
// number of channels, or a frame that is concealed: there the standard leaves the samples open.
func TestMutatedPackets(t *testing.T) {
	for name, of := range map[string]func() (*library, error){"Debian": debian, "pinned": pinned} {
		t.Run(name, func(t *testing.T) {
			lib, g := libopus(t, of)
			if name == "pinned" {
				g.Expect(lib.Version()).To(gomega.Equal(pinnedVersion))
			}
			r := rand.New(rand.NewPCG(1, 2))
			all, tally, costs := streams(t, lib, 0.6), newTally(lib), &costs{}
			for range mutations(g) {
				s, other := all[r.IntN(len(all))], all[r.IntN(len(all))]
				at := 2 + r.IntN(len(s.packets)-3)
				c := mutation{lib: lib, name: s.name, intact: s.packets[at-2 : at+2], bad: lib.mutated(r, s.packets[at], other.packets[r.IntN(len(other.packets))])}
				c.run(g, name == "pinned", tally, costs)
			}
			t.Log(tally)
			t.Log(costs)
			for kind, k := range tally.kinds {
				if name == "pinned" && strings.Contains(kind, "the same mode, hybrid") && !strings.HasPrefix(kind, "recovered") {
					g.Expect(k.packets-k.same-k.exact-k.nearly).To(gomega.BeNumerically("<=", 1+k.packets/further), kind)
				}
			}
			g.Expect(costs.bytes).To(gomega.BeNumerically("<=", 256<<10), "bytes allocated for a packet")
		})
	}
}

// mutation is one case of TestMutatedPackets.
type mutation struct {
	lib    *library
	name   string
	intact [][]byte // four packets, the third of which is replaced by bad
	bad    []byte
}

// kind says what the mutated packet is.
func (c mutation) kind() string {
	was := c.intact[2]
	switch {
	case len(c.lib.frames(c.bad)) == 0:
		return "refused"
	case c.lib.short(c.bad):
		return "a frame is concealed"
	case mode(c.bad) != mode(was) || (c.bad[0]^was[0])&4 != 0:
		return "another mode or number of channels"
	}
	return "the same mode, " + modes[mode(was)] + []string{", mono", ", stereo"}[was[0]>>2&1]
}

// run decodes the case with both decoders. strict holds the samples, too.
func (c mutation) run(g *gomega.WithT, strict bool, tally *tally, costs *costs) {
	ours, err := opus.NewDecoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	theirs := c.lib.newReference(g, opus.Rate, 1)
	defer theirs.close()
	a, b := make([]int16, opus.MaxPacket), make([]int16, opus.MaxPacket)
	kind := c.kind()
	if slices.ContainsFunc(c.intact, c.lib.short) {
		kind = "a frame is concealed"
	}
	for i, p := range [][]byte{c.intact[0], c.intact[1], c.bad, c.intact[3]} {
		if len(p) > longest {
			return
		}
		note := func() string { return fmt.Sprintf("%s, %s, step %d: % x", c.name, kind, i, p) }
		var n int
		if i == 2 {
			n, err = costs.decode(ours, c.intact[:2], p, a)
		} else {
			n, err = ours.Decode(p, a)
		}
		g.Expect(errors.Is(err, opus.ErrGarbled)).To(gomega.BeFalse(), note)
		m := theirs.decode(p, b)
		g.Expect(err != nil).To(gomega.Equal(m < 0), note)
		if err != nil {
			tally.add(kind, 0)
			continue
		}
		g.Expect(n).To(gomega.Equal(m), note)
		d := apart(a[:n], b[:n])
		switch i {
		case 2:
			tally.add(kind, d)
		case 3:
			tally.add("the packet after: "+kind, d)
		}
		if strict && mode(p) != 1 && (kind == "refused" || strings.HasPrefix(kind, "the same mode")) {
			g.Expect(d).To(gomega.BeNumerically("<=", exact), note)
		}
	}
	c.recover(g, tally)
}

// recover decodes the redundancy of the mutated packet, if it has any: a gap may come before every packet. Only the length is held, because the standard
// leaves concealed sound open, and that goes into it.
func (c mutation) recover(g *gomega.WithT, tally *tally) {
	ours, err := opus.NewDecoder()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	theirs := c.lib.newReference(g, opus.Rate, 1)
	defer theirs.close()
	a, b := make([]int16, opus.MaxPacket), make([]int16, opus.MaxPacket)
	n, err := ours.Decode(c.intact[1], a)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	theirs.decode(c.intact[1], b)
	if ours.Redundant(c.bad) && ours.Recover(c.bad, a[:n]) {
		g.Expect(theirs.recover(c.bad, b[:n])).To(gomega.Equal(n), "%s: % x", c.name, c.bad)
		tally.add("recovered: "+c.kind(), apart(a[:n], b[:n]))
	}
}

// costs are those of decoding a mutated packet.
type costs struct {
	took        []time.Duration
	worst, dear time.Duration // the most for a packet, and for 20 ms of sound
	bytes       uint64        // the most that one packet allocated
}

// decode decodes a packet and measures it. What takes longer than all before is decoded again by a decoder with the same past, and the shortest time
// counts: this machine has other work.
func (c *costs) decode(d *opus.Decoder, past [][]byte, packet []byte, pcm []int16) (int, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	n, err := d.Decode(packet, pcm)
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	c.bytes = max(c.bytes, after.TotalAlloc-before.TotalAlloc)
	sound := func() time.Duration { return time.Duration(float64(took) * min(1, opus.FrameSize/float64(max(n, 1)))) }
	for try := 0; try < 20 && (took > c.worst || sound() > c.dear); try++ {
		again, _ := opus.NewDecoder()
		for _, p := range past {
			_, _ = again.Decode(p, make([]int16, opus.MaxPacket)) // as it did before
		}
		began = time.Now()
		_, _ = again.Decode(packet, make([]int16, opus.MaxPacket))
		took = min(took, time.Since(began))
	}
	c.took = append(c.took, took)
	c.worst, c.dear = max(c.worst, took), max(c.dear, sound())
	return n, err
}

func (c *costs) String() string {
	slices.Sort(c.took)
	at := func(share float64) time.Duration { return c.took[int(share*float64(len(c.took)-1))] }
	return fmt.Sprintf("decoding a mutated packet took %v (median), %v (99 %%), %v (worst); worst of 20 ms of sound %v; allocated %d bytes (worst)",
		at(0.5), at(0.99), c.worst, c.dear, c.bytes)
}

// level returns the root mean square of samples.
func level(pcm []int16) float64 {
	sum := 1.0
	for _, v := range pcm {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(pcm)))
}

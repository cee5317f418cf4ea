package playback

import (
	"math"
	"strconv"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

func TestTheSoundBetweenTwoPositions(t *testing.T) {
	for name, row := range map[string]struct {
		from, to Position
		want     int
	}{
		"of a track":      {Position{Timestamp: 480}, Position{Timestamp: 960}, 10},
		"the clock wraps": {Position{Timestamp: math.MaxUint32 - 479}, Position{Timestamp: 480}, 20},
		"backwards":       {Position{Timestamp: 960}, Position{Timestamp: 480}, 0},
		"of an item":      {Position{ItemID: "a", MS: 100}, Position{ItemID: "a", MS: 350}, 250},
		"of another item": {Position{ItemID: "a", MS: 100}, Position{ItemID: "b", MS: 350}, 0},
		"of another part": {Position{ItemID: "a", MS: 100}, Position{ItemID: "a", ContentIndex: 1, MS: 350}, 0},
		"back in an item": {Position{ItemID: "a", MS: 350}, Position{ItemID: "a", MS: 100}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(row.from.Until(row.to)).To(gomega.Equal(row.want))
		})
	}
}

func TestAPinnedPositionStays(t *testing.T) {
	g := gomega.NewWithT(t)
	var p Positions
	g.Expect(p.Number(Position{Timestamp: 1}, false)).To(gomega.BeZero())
	pinned := p.Number(Position{Timestamp: 1}, true)
	p.Pin(pinned)
	for i := range uint32(100) {
		at, known := p.At(p.Number(Position{Timestamp: 10 + i}, true))
		g.Expect(known).To(gomega.BeTrue())
		g.Expect(at.Timestamp).To(gomega.Equal(10 + i))
	}
	at, _ := p.At(pinned)
	g.Expect(at.Timestamp).To(gomega.BeEquivalentTo(1))
	_, known := p.At(0)
	g.Expect(known).To(gomega.BeFalse())
}

func TestTheLastResponsesHaveNumbers(t *testing.T) {
	g := gomega.NewWithT(t)
	var r Responses
	for last := range 20 {
		for n := range last + 2 { // as many as there are, and one that is not there
			want := machine.Response(0)
			if n >= 1 && n <= last && n > last-len(r.ids) {
				want = machine.Response(n)
				g.Expect(r.ID(want)).To(gomega.Equal(strconv.Itoa(n)))
			}
			g.Expect(r.Number(strconv.Itoa(n))).To(gomega.Equal(want), "%d of %d", n, last)
		}
		r.Started(strconv.Itoa(last + 1))
		r.Started(strconv.Itoa(last + 1))
		g.Expect(r.Heard).To(gomega.BeEquivalentTo(last+1), "the same response")
	}
	r.Heard = 0
	r.Started("20")
	g.Expect(r.Heard).To(gomega.BeEquivalentTo(21), "it is heard again")
}

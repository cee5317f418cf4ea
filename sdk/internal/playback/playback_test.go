package playback

import (
	"math"
	"strconv"
	"testing"

	"github.com/onsi/gomega"
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
	r.Started("a")
	r.Started("a")
	g.Expect(r.Heard).To(gomega.BeEquivalentTo(1), "the same response")
	r.Heard = 0
	r.Started("a")
	g.Expect(r.Heard).To(gomega.BeEquivalentTo(2), "it is heard again")
	for i := range 8 {
		r.Started(strconv.Itoa(i))
	}
	g.Expect(r.Number("a")).To(gomega.BeZero(), "too many since")
	g.Expect(r.ID(r.Number("3"))).To(gomega.Equal("3"))
}

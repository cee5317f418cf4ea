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

func TestAResponseThatGoesBack(t *testing.T) {
	for name, row := range map[string]struct {
		before, then Run
		want         bool
	}{
		"goes on":               {Run{"r", 0, 960, false, 0}, Run{"r", 1000, 48_960, false, 0}, false},
		"goes back":             {Run{"r", 0, 960, false, 0}, Run{"r", 800, 48_960, false, 0}, true},
		"the clock wraps":       {Run{"r", 0, math.MaxUint32 - 959, false, 0}, Run{"r", 10, 48_000, false, 0}, true},
		"goes on after a hold":  {Run{"r", 500, 960, true, 0}, Run{"r", 500, 48_960, false, 0}, false},
		"is another one":        {Run{"r", 500, 960, false, 0}, Run{"s", 0, 48_960, false, 0}, false},
		"goes on a packet late": {Run{"r", 0, 960, false, 0}, Run{"r", 980, 48_960, false, 0}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var s Spoken
			g := gomega.NewWithT(t)
			g.Expect(s.Playing(row.before)).To(gomega.BeFalse())
			g.Expect(s.Playing(row.then)).To(gomega.Equal(row.want))
		})
	}
}

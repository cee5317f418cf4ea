package session

// The plan of a simulated call: what the user and the client do, when, and how the network behaves.

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// plan is the plan of one call: what the user and the client do and when, how the network behaves, and the seed of all random
// numbers. The random numbers of a part depend on the seed and the part alone. So if a wish is removed from a plan, the rest of
// the call stays the same.
type plan struct {
	seed    uint64
	config  Config
	socket  bool // a WebSocket: nothing is lost, and nothing is paced
	near    ms   // the network's delay
	far     ms
	loss    int
	asks    bool // an end of utterance is to be confirmed by the gate
	pause   ms   // the silence that ends a turn
	patient bool // a silence alone does not: it starts a fallback
	idle    bool // the agent speaks up when nobody does
	mumbles int  // of what a client reports, in percent, that is never sent
	end     ms
	wishes  []wish
}

// wish is one thing that the user or the client does at a time.
type wish struct {
	at   ms
	what deed
	n    int
}

type deed uint8

const (
	speak deed = iota // n ms long
	create
	cancel
	cancelOne // what it believes to be live, or the one before
	commit
	clearInput
	clearOutput
	configure // n: two flags
	detect    // n: on or off
	suspect   // the client's own detector hears somebody
	outage    // n ms long
	hangUp
	fail
	timeUp
)

func (d deed) String() string {
	return []string{
		"speak", "create", "cancel", "cancel one", "commit", "clear the input", "clear the output", "configure", "detect",
		"suspect", "outage", "hang up", "fail", "time is up",
	}[d]
}

// draw makes the plan of a seed.
func draw(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 0))
	p := plan{
		seed: seed, config: Config{Interrupt: r.IntN(5) > 0, CreateResponse: r.IntN(8) > 0}, socket: r.IntN(4) == 0,
		near: ms(5 + r.IntN(60)), loss: []int{0, 0, 5, 30}[r.IntN(4)], asks: r.IntN(4) == 0, pause: ms(200 + 100*r.IntN(6)),
		patient: r.IntN(4) == 0, idle: r.IntN(3) == 0, end: ms(6_000 + r.IntN(14_000)),
	}
	p.far = p.near + ms([]int{0, 20, 120, 600}[r.IntN(4)])
	busy := 4 + r.IntN(24)
	for range busy {
		p.wishes = append(p.wishes, someWish(r, p.end))
	}
	p.config.Reports = !p.socket && r.IntN(2) == 0
	p.mumbles = []int{0, 0, 0, 30}[r.IntN(4)]
	slices.SortStableFunc(p.wishes, func(a, b wish) int { return cmp.Compare(a.at, b.at) })
	return p
}

func someWish(r *rand.Rand, end ms) wish {
	w := wish{at: ms(r.IntN(int(end)))}
	switch n := r.IntN(200); {
	case n < 98:
		w.what, w.n = speak, []int{100, 300, 700, 1500, 3000}[r.IntN(5)]
	case n < 116:
		w.what = create
	case n < 124:
		w.what = cancel
	case n < 134:
		w.what = cancelOne
	case n < 144:
		w.what = commit
	case n < 149:
		w.what = clearInput
	case n < 157:
		w.what = clearOutput
	case n < 167:
		w.what, w.n = configure, r.IntN(4)
	case n < 175:
		w.what, w.n = detect, r.IntN(3)
	case n < 184:
		w.what = suspect
	case n < 194:
		w.what, w.n = outage, []int{100, 800, 3000, 9000}[r.IntN(4)]
	default:
		w.what = []deed{hangUp, fail, timeUp}[n%3]
	}
	return w
}

// dice are those of the nth part of a kind.
func (p plan) dice(kind, nth uint64) *rand.Rand { return rand.New(rand.NewPCG(p.seed, kind<<32|nth+1)) }

func (p plan) String() string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "%s; socket=%t delay=%d..%d loss=%d%% asks=%t pause=%d patient=%t idle=%t mumbles=%d%% until %d\n", eventText(Configure{p.config}),
		p.socket, p.near, p.far, p.loss, p.asks, p.pause, p.patient, p.idle, p.mumbles, p.end)
	for _, w := range p.wishes {
		_, _ = fmt.Fprintf(&b, "%6d %s %d\n", w.at, w.what, w.n)
	}
	return b.String()
}

// shrink takes out of the plan what the failure does not need.
func shrink(p plan, broken string, again func(plan) string) plan {
	for smaller := true; smaller; {
		smaller = false
		for i := len(p.wishes) - 1; i >= 0; i-- {
			less := p
			less.wishes = slices.Delete(slices.Clone(p.wishes), i, i+1)
			if again(less) == broken {
				p, smaller = less, true
			}
		}
		for _, calm := range []func(*plan){
			func(p *plan) { p.loss = 0 }, func(p *plan) { p.far = p.near }, func(p *plan) { p.asks = false },
			func(p *plan) { p.patient = false }, func(p *plan) { p.idle = false }, func(p *plan) { p.mumbles = 0 },
			func(p *plan) { p.end /= 2 },
		} {
			less := p
			calm(&less)
			if less.String() != p.String() && again(less) == broken {
				p, smaller = less, true
			}
		}
	}
	return p
}

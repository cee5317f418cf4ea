package machine_test

import (
	"sync"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
)

type transition = machine.Transition[state, event, effect]

func TestCoordinator(t *testing.T) {
	t.Run("the hook sees every step, before its effects are the caller's", func(t *testing.T) {
		g := gomega.NewWithT(t)
		var log []transition
		c := machine.NewCoordinator(door(), state(closed{}), func(tr transition) { log = append(log, tr) })
		g.Expect(c.Step(pull{})).To(gomega.Equal([]effect{"creak", "light"}))
		g.Expect(c.Step(pull{})).To(gomega.BeEmpty())
		g.Expect(c.State()).To(gomega.Equal(state(opened{1})))
		g.Expect(log).To(gomega.Equal([]transition{
			{From: closed{}, Event: pull{}, To: opened{1}, Effects: []effect{"creak", "light"}, Action: "Open"},
			{From: opened{1}, Event: pull{}, To: opened{1}, Why: "it is open already"},
		}))
	})
	t.Run("a pair without a row is no secret", func(t *testing.T) {
		g := gomega.NewWithT(t)
		var log []transition
		c := machine.NewCoordinator(door().Mutate(0, nil), state(closed{}), func(tr transition) { log = append(log, tr) })
		g.Expect(c.Step(pull{})).To(gomega.BeEmpty())
		g.Expect(log).To(gomega.Equal([]transition{{From: closed{}, Event: pull{}, To: closed{}, Why: "no row"}}))
	})
	t.Run("it works without a hook", func(t *testing.T) {
		c := machine.NewCoordinator(door(), state(closed{}), nil)
		gomega.NewWithT(t).Expect(c.Step(turned{4})).To(gomega.Equal([]effect{"click"}))
	})
}

// The law of a driver: many goroutines send to one queue, one of them steps. The
// queue is the only thing that they share; -race watches it.
func TestOneWriter(t *testing.T) {
	g := gomega.NewWithT(t)
	const senders, rounds = 8, 200
	queue := make(chan event, 4)
	var sending sync.WaitGroup
	for range senders {
		sending.Go(func() {
			for range rounds {
				queue <- pull{}
				queue <- push{}
			}
		})
	}
	go func() { sending.Wait(); close(queue) }()

	steps, bangs := 0, 0
	c := machine.NewCoordinator(door(), state(closed{}), func(transition) { steps++ })
	for e := range queue {
		for _, f := range c.Step(e) {
			if f == "bang" {
				bangs++
			}
		}
	}
	g.Expect(steps).To(gomega.Equal(2 * senders * rounds))
	g.Expect(bangs).To(gomega.BeNumerically(">", 0))
}

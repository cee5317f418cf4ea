package cluster

// What principals use of several servers.

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/store"
)

type used = map[string]map[string]Use

// A server takes from its budgets what the others use, once: also what they have used before it came, and what a later one uses from its start.
func TestBudgetsAreShared(t *testing.T) {
	g := gomega.NewWithT(t)
	var l ledger
	g.Expect(l.read(used{
		"one": {"desk": {Requests: 1000, Tokens: 5000, RequestsShort: 7, TokensShort: 50}},
		"two": {"desk": {Requests: 2000, RequestsShort: 8}, "shop": {}},
	})).To(gomega.Equal(map[string]spent{"desk": {8, 50}, "shop": {}}), "both say how much is left of the same budget")
	g.Expect(l.read(used{
		"one": {"desk": {Requests: 1003, Tokens: 5000, RequestsShort: 9}},
		"two": {"desk": {Requests: 2001, Tokens: 4}},
		"new": {"shop": {Requests: 2, RequestsShort: 60}},
	})).To(gomega.Equal(map[string]spent{"desk": {4, 4}, "shop": {2, 0}}))
	g.Expect(l.read(used{"two": {"desk": {Requests: 2001, Tokens: 4}}})).To(gomega.Equal(map[string]spent{"desk": {}}))
	g.Expect(l.read(used{"one": {"desk": {Requests: 3}}})).To(gomega.Equal(map[string]spent{"desk": {}}), "it counts backwards")
	g.Expect(l.read(used{"one": {"desk": {Requests: 5}}})).To(gomega.Equal(map[string]spent{"desk": {2, 0}}))
	for i := range 2 * maxSeen {
		l.read(used{fmt.Sprint(i): {}})
	}
	g.Expect(len(l.seen)).To(gomega.BeNumerically("<=", maxSeen+1))
}

// The calls of a principal on other servers count while these are heard, and as they were last while the store is away.
func TestCallsOfOtherServers(t *testing.T) {
	g, now := gomega.NewWithT(t), time.Now()
	known := table{own: "own", silence: silence, avoidFor: avoidFor}
	load := Load{Most: 10, Uses: map[string]Use{"desk": {Calls: 3}, "liar": {Calls: -3}}}
	known.update(map[string]store.Entry{"a": entry(t, load, now), "b": entry(t, load, now.Add(-silence)), "own": entry(t, load, now)}, now, now)
	others := func(principal string, at time.Time) []int {
		calls, most := known.sum(at, func(r record) int { return r.Uses[principal].Calls })
		return []int{calls, most}
	}
	g.Expect(others("desk", now)).To(gomega.Equal([]int{3, 10}), "b is silent")
	g.Expect(others("shop", now)).To(gomega.Equal([]int{0, 10}))
	g.Expect(others("liar", now)).To(gomega.Equal([]int{0, 10}))
	g.Expect(others("desk", now.Add(silence))).To(gomega.Equal([]int{6, 20}), "the store is away")
}

// The calls of a name come to the others through the store, and the name does not.
func TestSharesTravel(t *testing.T) {
	c := opened(t)
	one, two := c.node("http://127.0.0.1:1"), c.node("http://127.0.0.1:2")
	c.publish(one, Load{Most: 5, Shares: map[string]int{"client address 192.0.2.1/32": 3}})
	c.meet(two)
	calls, most := two.OthersOf("client address 192.0.2.1/32")
	c.g.Expect([]int{calls, most}).To(gomega.Equal([]int{3, 5}))
	calls, most = two.OthersOf("client address 192.0.2.2/32")
	c.g.Expect([]int{calls, most}).To(gomega.Equal([]int{0, 5}))
	record, err := one.records.Get(t.Context(), one.id)
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	c.g.Expect(string(record.Value)).NotTo(gomega.ContainSubstring("192.0.2.1"))
}

// A record has a bounded number of principals and of other shares.
func TestRecordsAreBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	shares := map[string]int{"busy": 2}
	for i := range 2 * maxShares {
		shares[fmt.Sprint("share ", i)] = 1
	}
	key := sealKey("key")
	g.Expect(key.shares(shares)).To(gomega.HaveLen(maxShares))
	g.Expect(key.shares(shares)).To(gomega.HaveKeyWithValue(key.share("busy"), 2))
	all := map[string]Use{"busy": {Calls: 1}}
	for i := range 2 * maxUses {
		all[fmt.Sprint("principal ", i)] = Use{Requests: 1}
	}
	most := mostUses(all)
	g.Expect(most).To(gomega.HaveLen(maxUses))
	g.Expect(most).To(gomega.HaveKey("busy"))
}

// What one server has used comes to the others through the store.
func TestUsesTravel(t *testing.T) {
	c := opened(t)
	one, two := c.node("http://127.0.0.1:1"), c.node("http://127.0.0.1:2")
	took := make(chan string, 10)
	load := func(requests uint64) func() Load {
		return func() Load { return Load{Most: 5, Uses: map[string]Use{"desk": {Calls: 2, Requests: requests}}} }
	}
	c.g.Expect(two.Publish(t.Context(), load(0), func(principal string, requests, tokens uint64) { took <- fmt.Sprint(principal, requests, tokens) })).To(gomega.Succeed())
	c.g.Expect(one.Publish(t.Context(), load(1), func(string, uint64, uint64) {})).To(gomega.Succeed())
	c.meet(one, two)
	calls, most := two.Others("desk")
	c.g.Expect([]int{calls, most}).To(gomega.Equal([]int{2, 5}))
	c.g.Expect(one.Publish(t.Context(), load(4), func(string, uint64, uint64) {})).To(gomega.Succeed())
	c.meet(two)
	c.g.Eventually(took, patience).Should(gomega.Receive(gomega.HaveSuffix(" 0")))
}

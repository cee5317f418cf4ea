package cluster

// What the other servers publish about shared limits: calls of each principal, client secret and address, and what principals have taken from their budgets.

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"
)

// maxUses is how many principals a server publishes: those with most calls first.
const maxUses = 2000

// mostUses returns at most maxUses of the principals.
func mostUses(all map[string]Use) map[string]Use {
	if len(all) <= maxUses {
		return all
	}
	names := slices.SortedFunc(maps.Keys(all), func(one, other string) int {
		return cmp.Or(cmp.Compare(all[other].Calls, all[one].Calls), cmp.Compare(one, other))
	})
	most := make(map[string]Use, maxUses)
	for _, name := range names[:maxUses] {
		most[name] = all[name]
	}
	return most
}

// Others returns how many calls a principal has on the other servers, and how many calls these take in all. While the store is away, what was known last counts.
func (n *Node) Others(principal string) (calls, most int) {
	return n.table.sum(time.Now(), func(r record) int { return r.Uses[principal].Calls })
}

// sum returns the sum of how many calls the other servers have of something, and how many they take.
func (t *table) sum(now time.Time, of func(record) int) (calls, most int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	away := now.Sub(t.read) >= t.silence
	for _, p := range t.peers {
		if away || now.Sub(p.heard) < t.silence {
			calls += max(of(p.record), 0)
			most += p.Most
		}
	}
	return calls, most
}

// maxShares is how many names a server publishes: those with most calls first.
const maxShares = 4096

// share returns the code of a name.
func (k sealKey) share(name string) string { return k.seal("share", name)[:2*sealLength] }

// shares returns how many calls each name has, by its code.
func (k sealKey) shares(all map[string]int) map[string]int {
	names := slices.SortedFunc(maps.Keys(all), func(one, other string) int {
		return cmp.Or(cmp.Compare(all[other], all[one]), cmp.Compare(one, other))
	})
	most := make(map[string]int, min(len(names), maxShares))
	for _, name := range names[:min(len(names), maxShares)] {
		most[k.share(name)] = all[name]
	}
	return most
}

// OthersOf returns how many calls a name (Load.Shares) has on the other servers, and how many calls these take in all. While the store is away, what was known last counts.
func (n *Node) OthersOf(name string) (calls, most int) {
	code := n.key.share(name)
	return n.table.sum(time.Now(), func(r record) int { return r.Shares[code] })
}

// uses returns what the principals use of each other server.
func (t *table) uses() map[string]map[string]Use {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make(map[string]map[string]Use, len(t.peers))
	for id, p := range t.peers {
		all[id] = p.Uses
	}
	return all
}

// spent is what was taken from a budget.
type spent struct{ requests, tokens uint64 }

// maxSeen is how many servers a ledger remembers, also those that have ended.
const maxSeen = 4 * maxNodes

// ledger finds out what the other servers take from budgets. It is safe for concurrent use.
type ledger struct {
	mu     sync.Mutex
	joined bool
	seen   map[string]map[string]spent // by server and principal
}

// read returns what the other servers have taken from the budget of each principal since the last read. The first read returns what is short of a full budget, because this server's budgets begin full.
func (l *ledger) read(servers map[string]map[string]Use) map[string]spent {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.seen == nil || len(l.seen) > maxSeen {
		l.seen, l.joined = map[string]map[string]spent{}, false
	}
	took := map[string]spent{}
	for id, uses := range servers {
		if l.seen[id] == nil {
			l.seen[id] = map[string]spent{}
		}
		for principal, u := range uses {
			was, t := l.seen[id][principal], took[principal]
			l.seen[id][principal] = spent{u.Requests, u.Tokens}
			if l.joined {
				t.requests += less(u.Requests, was.requests)
				t.tokens += less(u.Tokens, was.tokens)
			} else {
				t.requests, t.tokens = max(t.requests, u.RequestsShort), max(t.tokens, u.TokensShort)
			}
			took[principal] = t
		}
	}
	l.joined = true
	return took
}

// less returns a less b, and 0 for a server that counts backwards.
func less(a, b uint64) uint64 {
	if a < b {
		return 0
	}
	return a - b
}

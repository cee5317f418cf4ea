package httpapi

import (
	"net/http"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/internal/httpguard"
)

// The shares of a principal, a client secret and a client address: how many calls each has at a time, and how many it begins.

// shareKind says what a share belongs to.
type shareKind string

const (
	ofPrincipal shareKind = "principal"
	ofSecret    shareKind = "client secret"
	ofAddress   shareKind = "client address"
)

// shareOf names a principal, a client secret or a client address.
type shareOf struct {
	kind shareKind
	name string
}

// share limits the calls of a principal, a client secret or a client address.
type share struct {
	of       shareOf
	calls    int
	halfOpen int // how many of the calls have a client that has not connected yet
	others   int // how many calls there are on other servers
}

// Limits of calls whose client has not connected yet.
const (
	halfOpenPerSecret  = 4
	halfOpenPerAddress = 16
	// connectsWithin is how long a client may take to connect before its call may be ended to make room for another.
	connectsWithin = 2 * time.Second
)

// shares returns the shares that a call of the requester counts for.
func (h *Handler) shares(who requester) []share {
	limits := h.rules.Load()
	var all []share
	if limits.keys != nil {
		all = append(all, h.principalShare(limits, who.principal))
	}
	if who.secret != nil {
		of := shareOf{ofSecret, string(who.secret.ID[:])}
		others, _ := h.othersOf(of)
		all = append(all, share{of, limits.CallsPerSecret, halfOpenPerSecret, others})
	}
	if of, ok := who.addressShare(limits.keys != nil); ok {
		others, most := h.othersOf(of)
		if limits.addressShare == 0 {
			most = 0
		}
		all = append(all, share{of, limits.CallsPerAddress + most/max(limits.addressShare, 1), halfOpenPerAddress, others})
	}
	return all
}

// othersOf returns how many calls a client secret or a client address has on other servers, and how many calls these take in all.
func (h *Handler) othersOf(of shareOf) (calls, most int) {
	if h.cfg.Cluster == nil {
		return 0, 0
	}
	return h.cfg.Cluster.OthersOf(of.String())
}

// String returns a name that stands for the share on all servers.
func (of shareOf) String() string { return string(of.kind) + " " + of.name }

// principalShare returns the share of a principal, on all servers of the cluster together.
func (h *Handler) principalShare(limits *rules, principal string) share {
	s := share{shareOf{ofPrincipal, principal}, limits.CallsPerPrincipal, max(halfOpenPerAddress, limits.CallsPerPrincipal/4), 0}
	if h.cfg.Cluster == nil {
		return s
	}
	calls, most := h.cfg.Cluster.Others(principal)
	if s.others = calls; limits.share > 0 {
		s.calls += most / limits.share
	}
	return s
}

// addressShare returns the share of the requester's address. ok is false for a requester whose address does not count: one with an
// API key, which may call for many users, and one on this machine.
func (c requester) addressShare(keyed bool) (of shareOf, ok bool) {
	if c.secret == nil && keyed || c.address.IsLoopback() || !c.address.IsValid() {
		return shareOf{}, false
	}
	return shareOf{ofAddress, httpguard.Network(c.address).String()}, true
}

// admit makes room for a call of the requester, or returns an error response. goesOn says that another server has had the call, and may publish it still. The caller holds mu.
func (h *Handler) admit(who requester, goesOn bool) *problem {
	now := h.env.Now()
	var makesRoom *callEntry
	if h.active() >= h.rules.Load().MaxSessions {
		if makesRoom = h.greediest(); !makesRoom.stale(now) {
			return (&problem{Status: http.StatusTooManyRequests, Code: "too_many_sessions", Message: "the server has as many calls as it takes: try again later"}).After(fullRetry)
		}
	}
	if p := h.overloaded(len(h.calls)); p != nil {
		return p
	}
	for _, s := range h.shares(who) {
		calls, halfOpen, oldest := h.held(s.of)
		if !goesOn {
			calls += s.others
		}
		if calls >= s.calls {
			return tooManyCalls("this "+string(s.of.kind)+" has as many calls as it may: end one of them", fullRetry)
		}
		if halfOpen < s.halfOpen {
			continue
		}
		if makesRoom = oldest; !oldest.stale(now) {
			return tooManyCalls("this "+string(s.of.kind)+" has as many calls that are not connected as it may: connect them", connectsWithin)
		}
	}
	if makesRoom != nil {
		makesRoom.evicted = true
		go h.evict(makesRoom) // it may wait for the log, or for the queue of a busy session; h.joined waits until the session has ended
	}
	return nil
}

// evict ends a half-open call that makes room for another one.
func (h *Handler) evict(c *callEntry) {
	h.cfg.Logger.Info("a half-open call makes room for another one", "call", c.id, "session", c.session.ID())
	c.session.Close(conn.GraceOver)
}

// tooManyCalls returns the response to a requester whose share of the calls is used up.
func tooManyCalls(message string, retry time.Duration) *problem {
	return (&problem{Status: http.StatusTooManyRequests, Code: "too_many_calls", Message: message}).After(retry)
}

// active returns how many calls there are, without those that were ended to make room. The caller holds mu.
func (h *Handler) active() (n int) {
	for _, c := range h.calls {
		if !c.evicted {
			n++
		}
	}
	return n
}

// held returns how many calls a share has, how many of them are half open, and the oldest half-open one or nil. The caller holds mu.
func (h *Handler) held(of shareOf) (calls, halfOpen int, oldest *callEntry) {
	for _, c := range h.calls {
		if c.evicted || !c.counts(of) {
			continue
		}
		calls++
		if c.connected {
			continue
		}
		if halfOpen++; oldest == nil || c.since.Before(oldest.since) {
			oldest = c
		}
	}
	return calls, halfOpen, oldest
}

// counts reports whether the call counts for a share.
func (c *callEntry) counts(of shareOf) bool {
	for _, s := range c.shares {
		if s.of == of {
			return true
		}
	}
	return false
}

// greediest returns the oldest half-open call of those whose shares have most of them together, or nil. The caller holds mu.
func (h *Handler) greediest() (oldest *callEntry) {
	most := 0
	for _, c := range h.calls {
		if c.evicted || c.connected {
			continue
		}
		n := 1
		for _, s := range c.shares {
			_, halfOpen, _ := h.held(s.of)
			n += halfOpen
		}
		if n > most || n == most && c.since.Before(oldest.since) {
			most, oldest = n, c
		}
	}
	return oldest
}

// stale reports whether the client of a half-open call has had its time to connect. It reports false for nil.
func (c *callEntry) stale(now time.Time) bool { return c != nil && now.Sub(c.since) >= connectsWithin }

// connected notes that the client of a call has connected.
func (h *Handler) connected(c *callEntry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c.connected = true
}

// attempt counts a request that begins or reconnects a call. It returns an error response to a secret or an address that sends too many.
func (h *Handler) attempt(who requester) *problem {
	for _, s := range h.shares(who) {
		if s.of.kind == ofPrincipal {
			continue // it has a budget of requests
		}
		if wait := h.attempts.calls.Take(s.of, h.rules.Load().CallAttempts, h.env.Now()); wait > 0 {
			return rateLimited(wait)
		}
	}
	return nil
}

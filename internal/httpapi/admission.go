package httpapi

import (
	"net/http"
	"time"

	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/load"
)

// Admission by measured load: a server that is late with its audio, or has no processor time left, takes no further calls. Standing reports this load and more
// to the other servers of a cluster, and OthersUsed takes their report.

// overloadRetry is how long a client is told to wait.
const overloadRetry = 5 * time.Second

// overloaded returns an error response if the server is too busy for another call. calls is how many it has, with those that end to make room.
func (h *Handler) overloaded(calls int) *problem {
	late, cpu := h.measure()
	return h.tooBusy(calls, late, cpu)
}

// measure returns the share of late audio and of processor time, in percent.
func (h *Handler) measure() (late, cpu float64) {
	media := h.cfg.Engine.Stats()
	return h.load.Look(h.env.Now(), media.PacketsSent+media.SkippedFrames, media.LateFrames+media.SkippedFrames, load.ProcessorTime())
}

// OthersUsed takes from the budget of a principal what other servers have used, at most a minute's worth.
func (h *Handler) OthersUsed(principal string, requests, tokens uint64) {
	h.budgets.Others(principal, requests, tokens)
}

// uses returns what each principal uses. The caller holds mu.
func (h *Handler) uses() map[string]Use {
	all := h.budgets.Used()
	if h.rules.Load().keys == nil {
		return all
	}
	for _, c := range h.calls {
		u := all[c.owner.principal]
		if !c.evicted {
			u.Calls++
		}
		all[c.owner.principal] = u
	}
	return all
}

// Standing returns how many calls the Handler has, and whether it takes more.
func (h *Handler) Standing() Standing {
	late, cpu := h.measure()
	most := h.rules.Load().MaxSessions
	h.mu.Lock()
	defer h.mu.Unlock()
	calls := h.active()
	return Standing{
		Calls: calls, Most: most, Late: late, CPU: cpu,
		Uses: h.uses(), Shares: h.sharesOfCalls(), Adopted: h.adopted(),
		Full: calls >= most || h.tooBusy(len(h.calls), late, cpu) != nil, Draining: h.draining || h.closed,
	}
}

// tooBusy returns an error response if that many calls, that share of late audio and of processor time, in percent, are too much.
func (h *Handler) tooBusy(calls int, late, cpu float64) *problem {
	limits := h.rules.Load()
	why := load.TooMuch(calls, late, limits.MaxLate, cpu, limits.MaxCPU)
	if why == "" {
		return nil
	}
	return (&problem{
		Status: http.StatusServiceUnavailable, Code: "server_overloaded", Message: "the server is too busy for another call, because " + why + ": try again later",
	}).After(overloadRetry)
}

package signal

import (
	"fmt"
	"net/http"
	"time"

	"github.com/antiphon-rt/antiphon/server/signal/internal/load"
)

// Admission by measured load: a server that is late with its audio, or has no processor time left, takes no further calls.

const (
	// fewCalls are admitted in any case: they are not what makes the server busy.
	fewCalls = 10
	// overloadRetry is how long a client is told to wait.
	overloadRetry = 5 * time.Second
)

// overloaded returns an error response if the server is too busy for another call. calls is how many it has.
func (h *Handler) overloaded(calls int) *problem {
	late, cpu := h.measure()
	return h.tooBusy(calls, late, cpu)
}

// measure returns the share of late audio and of processor time, in percent.
func (h *Handler) measure() (late, cpu float64) {
	media := h.cfg.Engine.Stats()
	return h.load.Look(h.env.Now(), media.PacketsSent+media.SkippedFrames, media.LateFrames+media.SkippedFrames, load.ProcessorTime())
}

// Standing is how many calls a Handler has, and whether it takes more.
type Standing struct {
	Calls, Most int     // now, and at most
	Late, CPU   float64 // the share of late audio and of processor time, in percent
	// Full says that it refuses each new call at the moment, and Draining that it will not take calls any more.
	Full, Draining bool
	// Uses are what each principal uses, if the server asks for keys.
	Uses map[string]Use
}

// Use is what a principal uses of a Handler.
type Use struct {
	Calls int
	// Requests and Tokens were taken from its budget since the start. RequestsShort and TokensShort are how much less than a full minute the budget has.
	Requests, Tokens, RequestsShort, TokensShort uint64
}

// OthersUsed takes from the budget of a principal what other servers have used, at most a minute's worth.
func (h *Handler) OthersUsed(principal string, requests, tokens uint64) {
	h.budgets.Others(principal, requests, tokens)
}

// uses returns what each principal uses. The caller holds mu.
func (h *Handler) uses() map[string]Use {
	all := map[string]Use{}
	for principal, u := range h.budgets.Used() {
		all[principal] = Use{0, u.Requests, u.Tokens, u.RequestsShort, u.TokensShort}
	}
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
		Uses: h.uses(),
		Full: calls >= most || h.tooBusy(len(h.calls), late, cpu) != nil, Draining: h.draining || h.closed,
	}
}

// tooBusy returns an error response if that many calls, that share of late audio and of processor time, in percent, are too much.
func (h *Handler) tooBusy(calls int, late, cpu float64) *problem {
	limits := h.rules.Load()
	why := ""
	switch {
	case calls < fewCalls:
	case limits.MaxLate > 0 && late > limits.MaxLate:
		why = fmt.Sprintf("%.0f %% of the audio is late", late)
	case limits.MaxCPU > 0 && cpu > limits.MaxCPU:
		why = fmt.Sprintf("%.0f %% of the processor time is used", cpu)
	}
	if why == "" {
		return nil
	}
	return (&problem{
		status: http.StatusServiceUnavailable, code: "server_overloaded", message: "the server is too busy for another call, because " + why + ": try again later",
	}).after(overloadRetry)
}

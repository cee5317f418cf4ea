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

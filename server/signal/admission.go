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
	media := h.cfg.Engine.Stats()
	due, late := media.PacketsSent+media.SkippedFrames, media.LateFrames+media.SkippedFrames
	latePercent, cpu := h.load.Look(h.env.Now(), due, late, load.ProcessorTime())
	return h.tooBusy(calls, latePercent, cpu)
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

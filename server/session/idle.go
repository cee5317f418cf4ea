package session

import (
	"time"

	"github.com/antiphon-rt/antiphon/wire"
)

// idleDue is posted when idle_timeout_ms has passed since the count gen began.
type idleDue struct{ gen uint64 }

// armIdle starts the count of idle_timeout_ms, from the end of the playback or the last turn.
func (s *Session) armIdle() {
	td := s.settings.Audio.Input.TurnDetection
	s.stopIdle()
	if td == nil || td.Type != wire.ServerVAD || td.IdleTimeoutMS == nil || !s.vad || s.audible() {
		return
	}
	s.after("idle", time.Duration(*td.IdleTimeoutMS)*time.Millisecond, idleDue{s.idle})
}

// stopIdle ends the count: what of it is on its way already is late.
func (s *Session) stopIdle() {
	s.idle++
	s.stopTimer("idle")
}

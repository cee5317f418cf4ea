package trace

// The list of the machines, for the checker of traces.

import (
	"maps"

	"github.com/antiphon-rt/antiphon/coord/compaction"
	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/coord/draft"
	"github.com/antiphon-rt/antiphon/coord/playout"
	"github.com/antiphon-rt/antiphon/coord/response"
	"github.com/antiphon-rt/antiphon/coord/synthesis"
	"github.com/antiphon-rt/antiphon/coord/transcription"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/coord/continuation"
	"github.com/antiphon-rt/antiphon/internal/coord/remotecall"
	"github.com/antiphon-rt/antiphon/internal/coord/turnend"
	"github.com/antiphon-rt/antiphon/internal/coord/voicegate"
)

// kinds has all machines of a trace.
var kinds = func() map[string]kind {
	all := maps.Clone(ofSessions)
	maps.Copy(all, apart)
	return all
}()

// ofSessions has the machines of a session. "transcription" is also for transcription.final and transcription.older.
var ofSessions = map[string]kind{
	"conn":          of(conn.Table, conn.Monitor, conn.State(conn.Connecting{}), conn.Values),
	"turn":          of(turn.Table, turn.Monitor, turn.State(turn.Idle{}), turn.Values),
	"response":      of(response.Table, response.Monitor, response.State(response.Idle{}), response.Values),
	"playout":       of(playout.Table, playout.Monitor, playout.State(playout.Silent{}), playout.Values),
	"compaction":    of(compaction.Table, compaction.Monitor, compaction.State(compaction.Idle{}), compaction.Values),
	"continuation":  of(continuation.Table, continuation.Monitor, continuation.State(continuation.Quiet{}), continuation.Values),
	"remotecall":    of(remotecall.Table, remotecall.Monitor, remotecall.State(remotecall.Writing{}), remotecall.Values),
	"turnend":       of(turnend.Table, turnend.Monitor, turnend.State(turnend.Final{}), turnend.Values),
	"draft":         of(draft.Table, draft.Monitor, draft.State(draft.Idle{}), draft.Values),
	"voicegate":     of(voicegate.Table, voicegate.Monitor, voicegate.State(voicegate.Waiting{}), voicegate.Values),
	"synthesis":     of(synthesis.Table, synthesis.Monitor, synthesis.State(synthesis.Closed{}), synthesis.Values),
	"transcription": of(transcription.Table, transcription.Monitor, transcription.State(transcription.Closed{}), transcription.Values),
}

// kept are the reasons why the composition does not give an event to its machine.
var kept = map[string]bool{
	"it has begun already":                     true,
	"its response has ended":                   true,
	"it waits for the response before it":      true,
	"the session is not open":                  true,
	"the detector is off":                      true,
	"there is nothing to interrupt":            true,
	"its response is interrupted already":      true,
	"the agent still answers":                  true,
	"only the connection machine sends it":     true,
	"a committed turn is about to be answered": true,
	"only another machine sends it":            true,
}

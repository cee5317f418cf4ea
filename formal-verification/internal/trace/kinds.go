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
	"github.com/antiphon-rt/antiphon/coord/voicegate"
)

// kinds has all machines of a trace.
var kinds = func() map[string]kind {
	all := maps.Clone(ofSessions)
	maps.Copy(all, apart)
	return all
}()

// ofSessions has the machines of a session. "transcription" is also for transcription.final and transcription.older.
var ofSessions = map[string]kind{
	"conn": of(conn.Table, conn.Monitor, conn.State(conn.Connecting{}),
		[]conn.State{conn.Connecting{}, conn.Live{}, conn.Interrupted{}, conn.Closing{}, conn.Closed{}},
		[]conn.Event{
			conn.Opened{}, conn.SetVAD{}, conn.Lost{}, conn.Restored{}, conn.GraceExpired{}, conn.Close{}, conn.ChildrenDone{},
		},
		[]conn.Effect{
			conn.AnnounceSession{},
			conn.StartVAD{},
			conn.StopVAD{},
			conn.ArmGrace{},
			conn.StopChildren{},
			conn.ReleaseTransport{},
			conn.Forget{},
		}),
	"turn": of(turn.Table, turn.Monitor, turn.State(turn.Idle{}),
		[]turn.State{turn.Idle{}, turn.Candidate{}, turn.Speaking{}, turn.Confirming{}},
		[]turn.Event{
			turn.Onset{},
			turn.ClientCandidate{},
			turn.Sustained{},
			turn.Misfire{},
			turn.Silence{},
			turn.EndOfUtterance{},
			turn.VoiceResumed{},
			turn.FallbackExpired{},
			turn.GatePassed{},
			turn.GateRefused{},
			turn.Commit{},
			turn.Clear{},
			turn.NoSpeech{},
			turn.IdleTimeout{},
			turn.Shutdown{},
		},
		[]turn.Effect{
			turn.OpenCandidate{},
			turn.RejectCandidate{},
			turn.OpenTurn{},
			turn.BargeIn{},
			turn.EmitSpeechStarted{},
			turn.EmitSpeechStopped{},
			turn.EmitTimeout{},
			turn.ArmFallback{},
			turn.AskGate{},
			turn.CommitTurn{},
			turn.DiscardTurn{},
		}),
	"response": of(response.Table, response.Monitor, response.State(response.Idle{}),
		[]response.State{
			response.Idle{}, response.Active{}, response.Draining{}, response.Replacing{}, response.Terminating{}, response.Terminated{},
		},
		[]response.Event{
			response.Create{}, response.CreateByTurn{}, response.Cancel{}, response.BargeIn{}, response.BodyEnded{}, response.Shutdown{},
		},
		[]response.Effect{
			response.EmitCreated{},
			response.EmitTerminal{},
			response.StartBody{},
			response.CancelBody{},
			response.RejectActive{},
			response.RejectNotActive{},
		}),
	"playout": of(playout.Table, playout.Monitor, playout.State(playout.Silent{}),
		[]playout.State{playout.Silent{}, playout.Playing{}, playout.Held{}, playout.Cut{}, playout.Terminated{}},
		[]playout.Event{
			playout.Begin{},
			playout.Drained{},
			playout.Candidate{},
			playout.Ready{},
			playout.ReadyExpired{},
			playout.Confirm{},
			playout.Reject{},
			playout.Clear{},
			playout.Heard{},
			playout.HeardExpired{},
			playout.Missed{},
			playout.Shutdown{},
		},
		[]playout.Effect{
			playout.Play{},
			playout.Hold{},
			playout.AwaitReady{},
			playout.RewindAndResume{},
			playout.Drop{},
			playout.EmitStarted{},
			playout.EmitStopped{},
			playout.EmitCleared{},
			playout.EmitRejected{},
			playout.AwaitHeard{},
			playout.Truncate{},
		}),
	"compaction": of(compaction.Table, compaction.Monitor, compaction.State(compaction.Idle{}),
		[]compaction.State{compaction.Idle{}, compaction.Running{}, compaction.Terminated{}},
		[]compaction.Event{compaction.Trigger{}, compaction.Finished{}, compaction.Shutdown{}},
		[]compaction.Effect{compaction.Start{}, compaction.Apply{}, compaction.Cancel{}}),
	"draft": of(draft.Table, draft.Monitor, draft.State(draft.Idle{}),
		[]draft.State{draft.Idle{}, draft.Busy{}, draft.Writing{}, draft.Waiting{}, draft.Terminated{}},
		[]draft.Event{
			draft.Likely{}, draft.Resumed{}, draft.Committed{}, draft.Dropped{}, draft.Failed{}, draft.Began{}, draft.Over{}, draft.Shutdown{},
		},
		[]draft.Effect{draft.Start{}, draft.Stop{}, draft.Adopt{}}),
	"voicegate": of(voicegate.Table, voicegate.Monitor, voicegate.State(voicegate.Waiting{}),
		[]voicegate.State{voicegate.Waiting{}, voicegate.Resolving{}, voicegate.Admitted{}, voicegate.Refused{}},
		[]voicegate.Event{
			voicegate.Ask{}, voicegate.Matched{}, voicegate.Mismatched{}, voicegate.Failed{}, voicegate.Expired{}, voicegate.Shutdown{},
		},
		[]voicegate.Effect{voicegate.Verify{}, voicegate.Admit{}, voicegate.Refuse{}, voicegate.Trust{}}),
	"synthesis": of(synthesis.Table, synthesis.Monitor, synthesis.State(synthesis.Closed{}),
		[]synthesis.State{synthesis.Open{}, synthesis.Closing{}, synthesis.Closed{}},
		[]synthesis.Event{synthesis.Enqueue{}, synthesis.Finish{}, synthesis.Cancel{}, synthesis.WorkerExited{}},
		[]synthesis.Effect{synthesis.Say{}, synthesis.Refuse{}, synthesis.CloseQueue{}, synthesis.StopWorker{}, synthesis.Wake{}}),
	"transcription": of(transcription.Table, transcription.Monitor, transcription.State(transcription.Closed{}),
		[]transcription.State{
			transcription.Closed{},
			transcription.Opening{},
			transcription.Streaming{},
			transcription.Finalizing{},
			transcription.Unavailable{},
		},
		[]transcription.Event{
			transcription.Open{},
			transcription.Ready{},
			transcription.Refuse{},
			transcription.EOU{},
			transcription.Resumed{},
			transcription.Finish{},
			transcription.Decode{},
			transcription.Done{},
			transcription.Failed{},
			transcription.Abandon{},
			transcription.Shutdown{},
		},
		[]transcription.Effect{
			transcription.OpenStream{},
			transcription.CloseInput{},
			transcription.DecodeWhole{},
			transcription.CloseStream{},
			transcription.Degrade{},
			transcription.DeliverText{},
			transcription.DeliverFailure{},
		}),
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

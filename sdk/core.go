package sdk

// The state of a session that jobs alone read and write, how it begins, and what follows each job.

import (
	"github.com/antiphon-rt/antiphon/sdk/internal/bargein"
	"github.com/antiphon-rt/antiphon/sdk/internal/outgoing"
	"github.com/antiphon-rt/antiphon/sdk/internal/reconciliation"
	"github.com/antiphon-rt/antiphon/sdk/internal/runs"
	"github.com/antiphon-rt/antiphon/sdk/internal/tools"
	"github.com/antiphon-rt/antiphon/sdk/internal/transcript"
)

// phase is how far the present call has come.
type phase uint8

const (
	phaseNone    phase = iota // there is no call
	phaseDialing              // the call is being placed, until the server has created its session
	phaseLive                 // messages go both ways
	phaseLost                 // the connection is down, perhaps for a moment
	phaseFailed               // the call ended by itself
)

// core is the state that only jobs touch. Each field has one owner, which is the type of the field; the fields of core itself
// belong to the call's lifecycle.
type core struct {
	phase phase
	call  *call // Invariant: nil exactly in phaseNone and phaseFailed.
	calls callHistory

	server      serverInfo
	dialog      reconciliation.Dialog
	items       transcript.Transcript
	tools       tools.Calls[Tool]
	runs        runs.List
	measurement turnMeasurement
	intents     outgoing.Intents
	barge       bargein.Prediction
	sound       agentSound
	heard       heardWords
	manual      manualTurn
	audio       audio

	err   error // Snapshot.Err
	alarm alarm
	changes
}

// changes has the effects of the running job: whether a new snapshot is needed, and the functions to call after it.
type changes struct {
	dirty bool     // a new snapshot is needed
	after []func() // the functions to call after the snapshot was published
}

// serverInfo is what the server has said of itself.
type serverInfo struct {
	session  serverSession
	machines MachinesMatch
	pipeline Pipeline
	progress string // what the model does before its first word
}

func (s *Session) init() {
	s.calls = newCallHistory()
	s.audio.Muted = s.opts.Muted
	s.audio.Microphone, s.audio.Speaker = s.opts.Microphone, s.opts.Speaker
	s.audio.Volume = 1
	s.barge, s.sound = bargein.New(), soundOf(nil, peerKey{})
	s.resetCall()
	s.levels.Store(&Levels{})
	s.shown.Store(&Snapshot{})
	s.dirty = true
	s.publish()
}

// resetCall resets everything that belongs to one call.
func (s *Session) resetCall() {
	s.server.session, s.server.machines = serverSession{}, MachinesUnknown
	s.resetDialog()
	s.items = transcript.New(s.limits.Entries, s.limits.EntryBytes)
	s.tools, s.runs = tools.New(byName(s.opts.Tools)), runs.New(s.limits.EntryBytes)
	s.measurement = turnMeasurement{}
	s.heard = heardWords{due: Never}
	s.intents = outgoing.NewIntents()
	s.barge.NewCall()
	s.manual.committing, s.manual.pushed, s.manual.keyDown = false, false, false
	s.audio.reset(s.opts.NoMicrophone)
	s.err = nil
}

// resetDialog begins with a conversation of which the server has said nothing.
func (s *Session) resetDialog() {
	l := &s.limits
	s.dialog = reconciliation.New(reconciliation.Waits{
		TurnSilence: l.TurnSilence, Commit: l.Commit, AnswerStart: l.AnswerStart, AnswerSilence: l.AnswerSilence,
		SoundSilence: l.SoundSilence, Unmeasured: l.Unmeasured,
	})
}

// job wraps a function that changes the core. The wrapped job also draws the consequences of the change and publishes them.
func (s *Session) job(f func()) func() {
	return func() {
		f()
		s.settle()
	}
}

// settle draws the consequences of a change and publishes a snapshot.
func (s *Session) settle() {
	s.bindPeer()
	s.bargeIn(s.barge.Played(s.clock.Now()))
	if s.phase == phaseLive && s.dialog.Idle() && s.tools.AskNow() {
		s.askAnswer("")
	}
	s.dirty = s.dirty || s.runs.Changed
	s.setAlarm()
	s.inspectSteps()
	s.publish()
	for len(s.after) > 0 {
		f := s.after[0]
		s.after = s.after[1:]
		f()
	}
}

func (s *Session) setPipeline(p Pipeline, err error) {
	s.dirty = true
	if err != nil {
		s.server.pipeline.Err = err
		return
	}
	s.server.pipeline = Pipeline{Known: true, Name: p.Name, Components: p.Components}
}

func (s *Session) dismissError() {
	if s.err == nil {
		return
	}
	s.err, s.dirty = nil, true
	if s.phase == phaseFailed {
		s.phase = phaseNone
	}
}

func (s *Session) trace(line string) {
	if s.opts.Log != nil {
		s.opts.Log(line)
	}
}

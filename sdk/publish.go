package sdk

// Snapshots, and the one timer of a session with what happens when a deadline passes.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
	"github.com/antiphon-rt/antiphon/sdk/internal/reconciliation"
	"github.com/antiphon-rt/antiphon/sdk/internal/transcript"
)

// publish makes a snapshot and gives it to the subscribers, if something has changed.
func (s *Session) publish() {
	if !s.dirty {
		return
	}
	s.dirty = false
	before := s.shown.Load()
	predicted, confirmed := s.dialog.Predicted(), s.dialog.Confirmed()
	if s.opts.NoPrediction {
		predicted = confirmed
	}
	now := &Snapshot{
		Seq: before.Seq + 1, State: s.state(predicted), Confirmed: s.state(confirmed), Predicted: predicted != confirmed,
		Interrupting: s.barge.Waiting() && s.phase == phaseLive, Interruptions: Interruptions(s.barge.Figures()),
		SessionID: s.server.session.id, Model: s.server.session.model, Machines: s.server.machines,
		Transcript: before.Transcript, Trimmed: s.items.Trimmed, Runs: before.Runs,
		AudioState: s.audio.AudioState, Pipeline: s.server.pipeline,
		LastTurn: s.measurement.last, Err: s.err,
	}
	if s.items.Changed {
		s.items.Changed, now.Transcript = false, entriesOf(s.items.Items)
	}
	if s.runs.Changed {
		s.runs.Changed, now.Runs = false, shownRuns(s.runs.All)
	}
	if now.State == Thinking {
		now.Progress = s.server.progress
	}
	if now.State != before.State {
		s.trace("state: " + before.State.String() + " -> " + now.State.String())
	}
	s.inspect()
	s.shown.Store(now)
	s.subs.show(0, *now)
}

// entriesOf returns the entries that a snapshot shows. Nobody writes to them again.
func entriesOf(items []*transcript.Item) []Entry {
	entries := make([]Entry, 0, len(items))
	for _, it := range items {
		if !it.Hidden {
			entries = append(entries, Entry{
				ItemID: it.ID, Role: Role(it.Role), Text: it.Text, Spoken: it.Spoken, Live: it.Live, Interrupted: it.Interrupted,
				Heard: it.HeardBytes(), HeardMS: it.HeardMS, Image: it.Image, Failed: it.Failed, Note: it.Note, ToolCall: (*ToolCall)(it.Call),
			})
		}
	}
	return entries
}

// state returns the State to show for a predicted or confirmed state of the view.
func (s *Session) state(of view.Open) State {
	switch s.phase {
	case phaseNone:
		return Disconnected
	case phaseDialing:
		return Connecting
	case phaseLost:
		return Reconnecting
	case phaseFailed:
		return Failed
	case phaseLive:
		switch {
		case of.Speech != 0:
			return UserSpeaking
		case of.Sound != 0:
			return AgentSpeaking
		case s.dialog.Thinking(of) || s.tools.Busy():
			return Thinking
		}
		return Listening
	}
	return Disconnected
}

// alarm is the one timer of a session. It rings at the first of all deadlines, or earlier.
type alarm struct {
	at   time.Duration
	stop func() // nil when the alarm is not set
	n    uint64
}

// setAlarm makes the alarm ring no later than the next deadline.
func (s *Session) setAlarm() {
	at := s.nextDeadline()
	if at == Never || s.alarm.stop != nil && s.alarm.at <= at {
		if at == Never && s.alarm.stop != nil {
			s.alarm.stop()
			s.alarm.stop = nil
		}
		return
	}
	if s.alarm.stop != nil {
		s.alarm.stop()
	}
	s.alarm.n++
	n := s.alarm.n
	s.alarm.at = at
	s.alarm.stop = s.clock.AfterFunc(max(at-s.clock.Now(), 0), func() {
		s.queue.must(s.job(func() {
			if s.alarm.n == n {
				s.alarm.stop = nil
				s.ring(s.clock.Now())
			}
		}))
	})
}

// nextDeadline returns the first of all deadlines; Never when there is none.
func (s *Session) nextDeadline() time.Duration {
	switch s.phase {
	case phaseDialing:
		if s.audio.MicAsked {
			break // the user decides about the microphone, for as long as they want
		}
		return deadline.First(s.barge.Deadline, s.call.begun+s.limits.Connect)
	case phaseLost:
		return deadline.First(s.barge.Deadline, s.call.recovery.Lost+s.limits.Lost, s.call.recovery.Due)
	case phaseLive:
		return deadline.First(s.barge.Deadline, s.sound.stopBy, s.wordsDeadline(), s.dialog.Deadline(), s.items.Deadline(s.limits.Retrieve))
	case phaseNone, phaseFailed:
	}
	return s.barge.Deadline
}

// ring ends every wait whose deadline has passed, in the way that is the default for it.
func (s *Session) ring(now time.Duration) {
	if deadline.Passed(s.barge.Deadline, now) {
		s.bargeIn(s.barge.TimedOut(s.moment()))
	}
	switch s.phase {
	case phaseNone, phaseFailed:
	case phaseDialing:
		if !s.audio.MicAsked && now >= s.call.begun+s.limits.Connect {
			s.fail(s.connectTimeout())
		}
	case phaseLost:
		switch {
		case now >= s.call.recovery.Lost+s.limits.Lost:
			s.fail(s.lossError())
		case deadline.Passed(s.call.recovery.Due, now):
			s.recoverNow()
		}
	case phaseLive:
		if deadline.Passed(s.sound.stopBy, now) {
			s.sound.stopped()
		}
		if deadline.Passed(s.wordsDeadline(), now) {
			s.follow()
		}
		for _, t := range s.dialog.TimedOut(now) {
			s.timedOut(t)
		}
		s.dirty = s.items.TimedOut(now-s.limits.Retrieve) || s.dirty
	}
}

// timedOut shows what follows from a wait that has ended.
func (s *Session) timedOut(t reconciliation.Timeout) {
	s.dirty = true
	switch t.Kind {
	case reconciliation.TurnEndless:
		s.trace("a turn has no end: it is dropped")
		s.dropTurn()
	case reconciliation.TurnUnanswered, reconciliation.InputUnanswered:
		s.trace("a turn has no answer: it is not waited for any more")
		s.manual.committing = s.manual.committing && t.Kind == reconciliation.TurnUnanswered
		if it := s.items.Find(t.Name); it != nil {
			s.items.Settle(it)
		}
		s.err = ErrServerSilent
	case reconciliation.ResponseSilent:
		s.trace("a response gave no sign of life: it is not waited for any more")
		s.items.SettleResponse(t.Name)
		s.err = ErrServerSilent
	case reconciliation.PredictionFailed:
		s.trace("nothing came of a prediction: " + t.Name)
	case reconciliation.SoundOver:
		s.trace("the end of the playback was not told, but it is silent: it has ended")
		s.soundEnded("", false)
	}
}

// connectTimeout says how far a call came that did not stand in time.
func (s *Session) connectTimeout() error {
	switch {
	case s.call.peer == nil:
		return &Error{Kind: ErrServerSilent, Detail: "the call was not taken"}
	case !s.call.opened:
		return &Error{Kind: ErrServerSilent, Detail: "the call was taken, but no data come through: the network may block UDP"}
	}
	return &Error{Kind: ErrServerSilent, Detail: "it opened no session"}
}

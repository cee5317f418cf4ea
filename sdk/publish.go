package sdk

// Snapshots, and the one timer of a session with what happens when a deadline passes.

import (
	"time"

	"github.com/antiphon-rt/antiphon/coord/view"
	"github.com/antiphon-rt/antiphon/sdk/internal/transcript"
)

// publish makes a snapshot and gives it to the subscribers, if something has changed.
func (s *Session) publish() {
	if !s.dirty {
		return
	}
	s.dirty = false
	before := s.shown.Load()
	predicted, confirmed := s.dialog.predicted(), s.dialog.confirmed()
	if s.opts.NoPrediction {
		predicted = confirmed
	}
	now := &Snapshot{
		Seq: before.Seq + 1, State: s.state(predicted), Confirmed: s.state(confirmed), Predicted: predicted != confirmed,
		Interrupting: s.barge.pending() != 0 && s.phase == phaseLive, Interruptions: s.barge.stats.shown,
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
				HeardMS: it.HeardMS, Image: it.Image, Failed: it.Failed, Note: it.Note, ToolCall: (*ToolCall)(it.Call),
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
		return s.dialog.shown(of, s.tools.Busy())
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
	next := Never
	sooner := func(at time.Duration) {
		if at != Never && (next == Never || at < next) {
			next = at
		}
	}
	sooner(s.barge.due)
	switch s.phase {
	case phaseNone, phaseFailed:
	case phaseDialing:
		if s.audio.MicAsked {
			break // the user decides about the microphone, for as long as they want
		}
		sooner(s.call.begun + s.limits.Connect)
	case phaseLost:
		sooner(s.call.recovery.lost + s.limits.Lost)
		sooner(s.call.recovery.due)
	case phaseLive:
		sooner(s.dialog.turnDeadline(&s.limits))
		sooner(s.dialog.expectedDeadline())
		sooner(s.dialog.responseDeadline(&s.limits))
		sooner(s.dialog.soundDeadline(&s.limits))
		sooner(s.items.Deadline(s.limits.Retrieve))
	}
	return next
}

// ring ends every wait whose deadline has passed, in the way that is the default for it.
func (s *Session) ring(now time.Duration) {
	late := func(at time.Duration) bool { return at != Never && at <= now }
	if late(s.barge.due) {
		s.verdictTimedOut()
	}
	switch s.phase {
	case phaseNone, phaseFailed:
		return
	case phaseDialing:
		if !s.audio.MicAsked && late(s.call.begun+s.limits.Connect) {
			s.fail(s.connectTimeout())
		}
		return
	case phaseLost:
		switch {
		case late(s.call.recovery.lost + s.limits.Lost):
			s.fail(s.lossError())
		case late(s.call.recovery.due):
			s.recoverNow()
		}
		return
	case phaseLive:
	}
	if s.dialog.unmetered(now) {
		s.dialog.postponeSilence(now)
	}
	if late(s.dialog.turnDeadline(&s.limits)) {
		s.turnTimedOut()
	}
	if late(s.dialog.responseDeadline(&s.limits)) {
		s.trace("a response gave no sign of life: it is not waited for any more")
		live := s.dialog.live()
		s.items.SettleResponse(live)
		s.dialog.responseDone(live, now)
		s.err, s.dirty = ErrServerSilent, true
	}
	for late(s.dialog.expectedDeadline()) {
		s.expectationTimedOut(now)
	}
	if late(s.dialog.soundDeadline(&s.limits)) {
		s.trace("the end of the playback was not told, but it is silent: it has ended")
		s.soundEnded("")
	}
	s.dirty = s.items.TimedOut(now-s.limits.Retrieve) || s.dirty
}

// turnTimedOut ends a turn that has no end, or one whose answer does not come.
func (s *Session) turnTimedOut() {
	if s.dialog.speaking() || s.dialog.stopped != 0 {
		s.trace("a turn has no end: it is dropped")
		s.dropTurn()
		return
	}
	s.unanswered(s.dialog.item())
	s.dialog.endTurn()
}

// unanswered notes that a turn or message has waited too long for its answer.
func (s *Session) unanswered(item string) {
	s.trace("a turn has no answer: it is not waited for any more")
	if it := s.items.Find(item); it != nil {
		s.items.Settle(it)
	}
	s.err, s.dirty = ErrServerSilent, true
}

// expectationTimedOut takes back one prediction of which nothing came in time.
func (s *Session) expectationTimedOut(now time.Duration) {
	for _, e := range s.dialog.expected {
		if e.since+e.wait > now {
			continue
		}
		s.dialog.drop(e.seq)
		s.dirty = true
		if !asks(e.input) {
			s.trace("nothing came of a prediction: " + e.input.Name())
			return
		}
		s.manual.committing = false
		s.unanswered(e.item)
		return
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

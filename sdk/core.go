package sdk

import "context"

// phase is how far the present call has come.
type phase uint8

const (
	phaseNone    phase = iota // no call
	phaseDialing              // being placed, until the server has made its session
	phaseLive                 // messages go both ways
	phaseLost                 // the link is down, perhaps for a moment
	phaseFailed               // ended by itself
)

// core is the part of a session that jobs alone touch.
type core struct {
	phase phase
	call  *call // Invariant: nil exactly in phaseNone and phaseFailed.
	calls uint64
	// gone is closed when everything of all ended calls is freed.
	gone chan struct{}

	session     serverSession
	dialog      dialogState
	items       transcript
	tools       toolbox
	measurement turnMeasurement
	pending     pending

	barge  bargeInDriver
	key    pushToTalk
	pushed bool // the last commit was push-to-talk's
	volume float32

	machines MachinesMatch // whether the server's are ours, as it has told

	committing bool // the person's turn was ended by hand, and the server has not taken it yet

	muted      bool
	microphone string
	micErr     error
	micAsked   bool
	textOnly   bool
	blocked    bool
	devices    Devices
	speaker    string
	pipeline   Pipeline
	err        error

	dirty bool
	after []func() // run once the snapshot is out
	alarm alarm
}

func (s *Session) init() {
	s.gone = make(chan struct{})
	close(s.gone)
	s.muted = s.opts.Muted
	s.microphone, s.speaker = s.opts.Microphone, s.opts.Speaker
	s.textOnly = s.opts.NoMicrophone
	s.barge.due, s.volume = Never, 1
	s.resetCall()
	s.loud.Store(&Levels{})
	s.shown.Store(&Snapshot{})
	s.dirty = true
	s.publish()
}

// resetCall makes everything new that belongs to one call.
func (s *Session) resetCall() {
	s.session, s.machines = serverSession{}, MachinesUnknown
	s.dialog = newDialogState(s.viewStepped)
	s.dialog.maxUnmeasured = s.limits.Unmeasured
	s.items = newTranscript(s.limits)
	s.tools = newToolbox(s.opts.Tools)
	s.measurement = turnMeasurement{}
	s.pending = newPending()
	s.barge.stats, s.barge.candidate = predictionStats{}, 0
	s.committing, s.pushed, s.key.on = false, false, false
	s.micErr, s.micAsked, s.blocked, s.err = nil, false, false, nil
	s.textOnly = s.opts.NoMicrophone
}

// job wraps what changes the core, so that its consequences are drawn and shown.
func (s *Session) job(f func()) func() {
	return func() {
		f()
		s.settle()
	}
}

// settle draws the consequences of a change and shows them.
func (s *Session) settle() {
	s.bindPeer()
	s.reportPlayback()
	s.owedAnswer()
	s.setAlarm()
	s.publish()
	for len(s.after) > 0 {
		f := s.after[0]
		s.after = s.after[1:]
		f()
	}
}

func (s *Session) setMuted(muted bool) {
	if s.muted == muted {
		return
	}
	s.muted, s.dirty = muted, true
	if s.call != nil && s.call.peer != nil {
		s.call.peer.SetMuted(muted)
	}
}

func (s *Session) setMicrophone(ctx context.Context, id string, done chan error) {
	c := s.call
	if c == nil || c.peer == nil {
		s.microphone, s.dirty = id, true
		s.after = append(s.after, func() { done <- nil })
		return
	}
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		err := c.peer.SetMicrophone(ctx, id)
		s.queue.must(s.job(func() {
			if s.call == c && err != nil {
				s.micErr, s.dirty = err, true
			}
			s.after = append(s.after, func() { done <- err })
		}))
	}()
}

func (s *Session) setSpeaker(ctx context.Context, id string, done chan error) {
	c := s.call
	if c == nil || c.peer == nil {
		s.speaker, s.dirty = id, true
		s.after = append(s.after, func() { done <- nil })
		return
	}
	chooser, ok := c.peer.(SpeakerChooser)
	if !ok {
		s.after = append(s.after, func() { done <- &Error{Kind: ErrUnavailable, Detail: "no choice of loudspeakers"} })
		return
	}
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		err := chooser.SetSpeaker(ctx, id)
		s.queue.must(s.job(func() {
			if err == nil {
				s.speaker, s.dirty = id, true
			}
			s.after = append(s.after, func() { done <- err })
		}))
	}()
}

func (s *Session) resumeSound() {
	if s.call == nil {
		return
	}
	if r, ok := s.call.peer.(SoundResumer); ok {
		r.ResumeSound()
	}
}

func (s *Session) setPipeline(p Pipeline, err error) {
	s.dirty = true
	if err != nil {
		s.pipeline.Err = err
		return
	}
	s.pipeline = Pipeline{Known: true, Name: p.Name, Components: p.Components}
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

// measured takes the levels of both sides. They are signs of life for what waits for sound.
func (s *Session) measured(l Levels) {
	s.dialog.levels(l, s.clock.Now())
	s.showLevels(l)
}

func (s *Session) showLevels(l Levels) {
	s.loud.Store(&l)
	s.after = append(s.after, func() { s.subs.level(l) })
}

func (s *Session) trace(line string) {
	if s.opts.Log != nil {
		s.opts.Log(line)
	}
}

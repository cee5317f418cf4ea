package sdk

// The methods of a session. They put jobs into its queue and wait where their comments say so.

import "context"

// Session is one client, with at most one call at a time. Make it with New. All methods are safe for
// concurrent use.
type Session struct {
	opts   Options
	limits Limits
	environment
	queue jobQueue
	publisher

	// Only jobs in queue read and write the core and noise, the Patch.NoiseReduction of later calls.
	core
	noise string
}

// New makes a session without a call. Errors wrap ErrInvalid and name the option.
func New(o Options) (*Session, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := checkTools(o.Tools); err != nil {
		return nil, err
	}
	s := &Session{opts: o, limits: o.Limits.withDefaults(), environment: newEnvironment(&o)}
	s.opts.Tools = append([]Tool(nil), o.Tools...)
	s.queue.limit = s.limits.Queue
	s.init()
	return s, nil
}

// Snapshot returns the present state. It never blocks.
func (s *Session) Snapshot() Snapshot { return *s.shown.Load() }

// Levels returns the present loudness of both sides. It never blocks.
func (s *Session) Levels() Levels { return *s.levels.Load() }

// Subscribe calls f with the present snapshot and with every later one, one at a time and in order. Changes of levels alone make
// no snapshot: see SubscribeLevels. cancel ends the subscription; a call of f that has begun may end after cancel has returned.
func (s *Session) Subscribe(f func(Snapshot)) (cancel func()) {
	id := s.subs.add(f, nil)
	s.queue.must(func() { s.subs.show(id, s.Snapshot()) })
	return func() { s.subs.remove(id) }
}

// Await returns the first snapshot that fits, from the present one on. A subscriber calls fits, never after Await has returned. Errors: ctx's.
func (s *Session) Await(ctx context.Context, fits func(Snapshot) bool) (Snapshot, error) {
	found, turn := make(chan Snapshot, 1), make(chan bool, 1) // who gets true from turn may call fits; it is closed in the end
	turn <- true
	defer s.Subscribe(func(now Snapshot) {
		if may := <-turn; may && fits(now) {
			found <- now
			close(turn)
		} else if may {
			turn <- true
		}
	})()
	select {
	case now := <-found:
		return now, nil
	case <-ctx.Done():
		if !<-turn {
			return <-found, nil
		}
		close(turn)
		return Snapshot{}, ctx.Err()
	}
}

// SubscribeLevels calls f with the levels of both sides, some 20 times a second while there is a call.
func (s *Session) SubscribeLevels(f func(Levels)) (cancel func()) {
	id := s.subs.add(nil, f)
	return func() { s.subs.remove(id) }
}

// Connect places a call and waits until the server has created its session. It begins a new transcript. When ctx ends first, the
// call is given up. Errors: ErrConnected, ErrUnsupported, ErrServerGone, *RefusedError, ErrServerSilent after Limits.Connect,
// ErrClosed when Close was called meanwhile, ctx's. A missing microphone is no error: see Snapshot.TextOnly.
func (s *Session) Connect(ctx context.Context) error {
	done := make(chan error, 1)
	var call uint64
	s.queue.must(s.job(func() { call = s.dial(done) }))
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	s.queue.must(s.job(func() { s.abandon(call, ctx.Err()) }))
	return <-done
}

// Close ends the call, if there is one. It waits until everything that the call held is freed and no tool runs any more, or
// until ctx ends. The session may be connected again. The transcript stays until then.
func (s *Session) Close(ctx context.Context) error {
	ended := make(chan (<-chan struct{}), 1)
	s.queue.must(s.job(func() { ended <- s.hangUp() }))
	var gone <-chan struct{}
	for {
		select {
		case gone = <-ended:
		case <-gone: // nil until the call has ended, so this waits
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// SendText sends a message of the user and asks for an answer. It interrupts the agent. While the connection is lost, the message
// waits for it. Errors: ErrNotConnected; ErrInvalid for an empty message or one longer than Limits.EntryBytes. A refusal by the
// server, or a message that was not delivered, is a Note on the entry of the message.
func (s *Session) SendText(text string) error {
	if text == "" {
		return &Error{Kind: ErrInvalid, Detail: "the message is empty"}
	}
	if len(text) > s.limits.EntryBytes {
		return &Error{Kind: ErrInvalid, Detail: "the message is too long"}
	}
	return s.act(func() { s.sendMessage("", text) }, true)
}

// Interrupt stops the agent: its playback and the response that it is making. It does nothing when the agent does neither. While
// the connection is lost, the server learns of it when the connection is back. Errors: ErrNotConnected.
func (s *Session) Interrupt() error {
	return s.act(s.interrupt, true)
}

// Commit ends the turn of the user by hand and asks for an answer, for TurnDetection.Manual. Errors: ErrNotConnected,
// ErrReconnecting.
func (s *Session) Commit() error {
	return s.act(s.commit, false)
}

// SetMuted closes or opens the microphone, now and for later calls.
func (s *Session) SetMuted(muted bool) {
	s.queue.must(s.job(func() { s.setMuted(muted) }))
}

// SetMicrophone changes the device and waits until it is in use. Without a call the choice is kept for the next one. After an
// error the old device stays in use. Errors: ErrNoMicrophone, ErrPermission, ErrMicrophoneBusy, ctx's.
func (s *Session) SetMicrophone(ctx context.Context, id string) error {
	done := make(chan error, 1)
	s.queue.must(s.job(func() { s.setMicrophone(ctx, id, done) }))
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SetSpeaker changes the loudspeaker and waits until it is in use. Without a call the choice is kept for the next one. After an
// error the old device stays in use. Errors: ErrUnavailable where the platform cannot choose one, the platform's, ctx's.
func (s *Session) SetSpeaker(ctx context.Context, id string) error {
	done := make(chan error, 1)
	s.queue.must(s.job(func() { s.setSpeaker(ctx, id, done) }))
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// UseMicrophone says whether later calls open the microphone. Options.NoMicrophone is the first value. It does not change the
// present call.
func (s *Session) UseMicrophone(use bool) {
	s.queue.must(s.job(func() {
		s.opts.NoMicrophone = !use
		if s.call == nil {
			s.audio.TextOnly, s.dirty = !use, true
		}
	}))
}

// ResumeSound plays the agent where the browser waits for a gesture (Snapshot.SoundBlocked). Call it from the gesture's handler.
func (s *Session) ResumeSound() {
	s.queue.must(s.job(s.resumeSound))
}

// Update changes the settings of the present session and of later calls. Errors: ErrInvalid. A refusal by the server is in
// Snapshot.Err.
func (s *Session) Update(p Patch) error {
	if p.Tools != nil {
		if err := checkTools(*p.Tools); err != nil {
			return err
		}
		copied := append([]Tool(nil), (*p.Tools)...)
		p.Tools = &copied
	}
	if p.DuckBy != nil {
		if err := checkDuckBy(*p.DuckBy); err != nil {
			return err
		}
	}
	s.queue.must(s.job(func() { s.update(p) }))
	return nil
}

// DismissError clears Snapshot.Err. In Failed the state becomes Disconnected.
func (s *Session) DismissError() {
	s.queue.must(s.job(s.dismissError))
}

// RefreshDevices asks the platform for the devices. A snapshot soon after it returns shows them. Errors: ErrUnavailable when the dialer cannot list devices,
// the platform's.
func (s *Session) RefreshDevices(ctx context.Context) error {
	l, ok := s.opts.Dialer.(DeviceLister)
	if !ok {
		return &Error{Kind: ErrUnavailable, Detail: "no list of devices"}
	}
	devices, err := l.Devices(ctx)
	if err != nil {
		return err
	}
	s.queue.must(s.job(func() { s.audio.Devices = devices; s.dirty = true }))
	return nil
}

// RefreshPipeline asks the server for its pipeline. A snapshot soon after it returns shows the pipeline, or why there was no answer.
// Ask again while a component is loading. Errors: ErrUnavailable when the dialer cannot ask, the dialer's.
func (s *Session) RefreshPipeline(ctx context.Context) error {
	src, ok := s.opts.Dialer.(PipelineSource)
	if !ok {
		return &Error{Kind: ErrUnavailable, Detail: "no question for the pipeline"}
	}
	p, err := src.Pipeline(ctx)
	s.queue.must(s.job(func() { s.setPipeline(p, err) }))
	return err
}

// act runs f on the present call. waits says that the events of f may wait for a lost connection.
func (s *Session) act(f func(), waits bool) error {
	switch now := s.shown.Load().State; {
	case now == Reconnecting && !waits:
		return ErrReconnecting
	case now != Reconnecting && !now.OnCall():
		return ErrNotConnected
	}
	if !s.queue.put(s.job(func() {
		if s.phase == phaseLive || s.phase == phaseLost && waits {
			f()
		}
	})) {
		return ErrOverrun
	}
	return nil
}

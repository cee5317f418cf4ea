package sdk

import "context"

// Session is one client: at most one call at a time, and what is known of it. Make it with New. All methods are safe for
// concurrent use.
type Session struct {
	opts   Options
	limits Limits
	environment
	queue jobQueue
	publisher

	// Only jobs in queue read and write the core.
	core
}

// New makes a session without a call. Errors wrap ErrInvalid and name the option.
func New(o Options) (*Session, error) {
	if o.Dialer == nil {
		return nil, &Error{Kind: ErrInvalid, Detail: "Options.Dialer is nil"}
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

// Snapshot gives the present state. It never blocks.
func (s *Session) Snapshot() Snapshot { return *s.shown.Load() }

// Levels gives the present loudness of both sides. It never blocks.
func (s *Session) Levels() Levels { return *s.levels.Load() }

// Subscribe calls f with the present snapshot and with every later one, one at a time and in order. Levels alone make
// none: see SubscribeLevels. Snapshots that would look alike are left out. cancel ends it; a call of f that has begun may
// still end after cancel.
func (s *Session) Subscribe(f func(Snapshot)) (cancel func()) {
	id := s.subs.add(f, nil)
	s.queue.must(func() { s.subs.show(id, s.Snapshot()) })
	return func() { s.subs.remove(id) }
}

// SubscribeLevels calls f with the levels of both sides, some 20 times a second while there is a call.
func (s *Session) SubscribeLevels(f func(Levels)) (cancel func()) {
	id := s.subs.add(nil, f)
	return func() { s.subs.remove(id) }
}

// Connect places a call and waits until the server has made its session. It begins a new transcript. When ctx ends first,
// the call is given up. Errors: ErrConnected, ErrUnsupported, ErrServerGone, *RefusedError, ErrServerSilent after
// Limits.Connect, ErrClosed when Close came between, ctx's. A missing microphone is no error: see Snapshot.TextOnly.
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

// Close ends the call, if there is one, and waits until all that it held is freed and no tool runs any more, or ctx ends.
// The session may be connected again. The transcript stays until then.
func (s *Session) Close(ctx context.Context) error {
	ended := make(chan (<-chan struct{}), 1)
	s.queue.must(s.job(func() { ended <- s.hangUp() }))
	var gone <-chan struct{}
	for {
		select {
		case gone = <-ended:
		case <-gone: // nil, so never, before the call has ended
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// SendText sends a message of the person's and asks for an answer. It interrupts what the agent is saying. While the link is being
// brought back the message waits for it, and goes out in its turn. Errors: ErrNotConnected, ErrInvalid for an empty message or
// one beyond Limits.EntryBytes. What the server says against it, and that it was not delivered, comes as a Note on the message's
// entry.
func (s *Session) SendText(text string) error {
	if text == "" {
		return &Error{Kind: ErrInvalid, Detail: "the message is empty"}
	}
	if len(text) > s.limits.EntryBytes {
		return &Error{Kind: ErrInvalid, Detail: "the message is too long"}
	}
	return s.act(func() { s.sendText(text) }, true)
}

// Interrupt stops the agent: what it is saying and what it is making. Harmless when it does neither. The server hears of it when
// the link is back, if it is lost. Errors: ErrNotConnected.
func (s *Session) Interrupt() error {
	return s.act(s.interrupt, true)
}

// Commit ends the person's turn by hand and asks for an answer, for TurnDetection.Manual. Errors: ErrNotConnected,
// ErrReconnecting.
func (s *Session) Commit() error {
	return s.act(s.commit, false)
}

// SetMuted closes or opens the microphone, now or for the calls to come.
func (s *Session) SetMuted(muted bool) {
	s.queue.must(s.job(func() { s.setMuted(muted) }))
}

// SetMicrophone changes the device and waits until it is in use; without a call it is kept for the next. On an error the
// old one stays in use. Errors: ErrNoMicrophone, ErrPermission, ErrMicrophoneBusy, ctx's.
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

// SetSpeaker changes the loudspeaker and waits until it is in use; without a call it is kept for the next. On an error the
// old one stays in use. Errors: ErrUnavailable where it cannot be chosen, the platform's, ctx's.
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

// UseMicrophone says whether the calls to come open the microphone; Options.NoMicrophone is what it begins with. A call
// that is on stays as it is.
func (s *Session) UseMicrophone(use bool) {
	s.queue.must(s.job(func() {
		s.opts.NoMicrophone = !use
		if s.call == nil {
			s.audio.TextOnly, s.dirty = !use, true
		}
	}))
}

// ResumeSound lets the agent be heard where the browser waits for a gesture (Snapshot.SoundBlocked). Call it from the
// gesture's handler.
func (s *Session) ResumeSound() {
	s.queue.must(s.job(s.resumeSound))
}

// Update changes the session in the middle of a call, and what the calls to come begin with. Errors: ErrInvalid. What the
// server says against it comes as Snapshot.Err.
func (s *Session) Update(p Patch) error {
	if p.Tools != nil {
		if err := checkTools(*p.Tools); err != nil {
			return err
		}
		copied := append([]Tool(nil), (*p.Tools)...)
		p.Tools = &copied
	}
	s.queue.must(s.job(func() { s.update(p) }))
	return nil
}

// DismissError takes Snapshot.Err away; in Failed the state becomes Disconnected.
func (s *Session) DismissError() {
	s.queue.must(s.job(s.dismissError))
}

// RefreshDevices asks for the devices and shows them. Errors: ErrUnavailable when the dialer knows none, the platform's.
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

// RefreshPipeline asks the server for its pipeline and shows it, or why there is none. Ask again while a component is
// loading. Errors: ErrUnavailable when the dialer cannot ask, the dialer's.
func (s *Session) RefreshPipeline(ctx context.Context) error {
	src, ok := s.opts.Dialer.(PipelineSource)
	if !ok {
		return &Error{Kind: ErrUnavailable, Detail: "no question for the pipeline"}
	}
	p, err := src.Pipeline(ctx)
	s.queue.must(s.job(func() { s.setPipeline(p, err) }))
	return err
}

// act runs f on the present call. waits: what f sends may wait for a link that is lost.
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

package sdk

// The microphone, the loudspeaker and the volume of a session: what the application has chosen, and what the platform did.

import "context"

// audio is the state of the devices. It is shown as it is.
type audio struct{ AudioState }

// reset prepares the state for a new call. What the user has chosen stays.
func (a *audio) reset(noMicrophone bool) {
	a.MicErr, a.MicAsked, a.SoundBlocked, a.TextOnly = nil, false, false, noMicrophone
}

// opened notes that the platform has opened this microphone, or why it has none.
func (a *audio) opened(id string, err error) {
	a.Microphone, a.MicErr = id, err
	a.MicAsked, a.TextOnly = false, err != nil
}

func (s *Session) setMuted(muted bool) {
	if s.audio.Muted == muted {
		return
	}
	s.audio.Muted, s.dirty = muted, true
	if s.call != nil && s.call.peer != nil {
		s.call.peer.SetMuted(muted)
	}
}

// setMicrophone changes the device. done gets the result.
func (s *Session) setMicrophone(ctx context.Context, id string, done chan error) {
	c := s.call
	if c == nil || c.peer == nil {
		s.audio.Microphone, s.dirty = id, true
		s.after = append(s.after, func() { done <- nil })
		return
	}
	peer := c.peer
	s.background(c, func() {
		err := peer.SetMicrophone(ctx, id)
		s.queue.must(s.job(func() {
			if s.call == c && err != nil {
				s.audio.MicErr, s.dirty = err, true
			}
			s.after = append(s.after, func() { done <- err })
		}))
	})
}

// setSpeaker changes the device. done gets the result.
func (s *Session) setSpeaker(ctx context.Context, id string, done chan error) {
	c := s.call
	if c == nil || c.peer == nil {
		s.audio.Speaker, s.dirty = id, true
		s.after = append(s.after, func() { done <- nil })
		return
	}
	chooser, ok := c.peer.(SpeakerChooser)
	if !ok {
		s.after = append(s.after, func() { done <- &Error{Kind: ErrUnavailable, Detail: "no choice of loudspeakers"} })
		return
	}
	s.background(c, func() {
		err := chooser.SetSpeaker(ctx, id)
		s.queue.must(s.job(func() {
			if err == nil {
				s.audio.Speaker, s.dirty = id, true
			}
			s.after = append(s.after, func() { done <- err })
		}))
	})
}

func (s *Session) resumeSound() {
	if s.call == nil {
		return
	}
	if r, ok := s.call.peer.(SoundResumer); ok {
		r.ResumeSound()
	}
}

// SetVolume sets how loud the agent is, from 0 to 1, now and for the calls to come. Snapshot.Volume stays as it was where the
// platform cannot. Errors: ErrInvalid.
func (s *Session) SetVolume(volume float32) error {
	if !(volume >= 0 && volume <= 1) {
		return &Error{Kind: ErrInvalid, Detail: "a volume is between 0 and 1"}
	}
	s.queue.must(s.job(func() {
		s.audio.Volume = volume
		if s.call != nil {
			s.applyVolume(s.call.peer)
		}
		s.dirty = true
	}))
	return nil
}

// applyVolume sets the peer's volume. A peer that cannot set it plays at volume 1. A nil peer is being dialled: it gets the
// volume later.
func (s *Session) applyVolume(p Peer) {
	v, can := p.(VolumeSetter)
	switch {
	case p == nil:
	case !can:
		s.audio.Volume = 1
	default:
		if err := v.SetVolume(s.audio.Volume); err != nil {
			s.trace("the volume cannot be set: " + err.Error())
			s.audio.Volume = 1
		}
	}
}

// measured takes the levels of both sides. Sound shows that a turn or a response is still going on, so it moves their deadlines.
func (s *Session) measured(l Levels) {
	s.dialog.Measured(l.Mic, l.Agent, s.clock.Now())
	s.showLevels(l)
}

func (s *Session) showLevels(l Levels) {
	s.levels.Store(&l)
	s.after = append(s.after, func() { s.subs.level(l) })
}

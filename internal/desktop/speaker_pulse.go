//go:build linux && !(oto && cgo)

package desktop

// The loudspeaker of the sound server.

// Speaker is a native.Sink. Safe for concurrent use.
type Speaker struct{ device }

// OpenSpeaker opens a device by the server's name for it, empty for the default one. Errors: ErrNoLibrary, ErrNoServer.
func OpenSpeaker(name string) (*Speaker, error) {
	s, err := open(playback, name, "voice")
	if err != nil {
		return nil, err
	}
	p := &Speaker{device: newDevice()}
	go p.run(s, func(pcm []int16) error {
		p.queue.take(pcm)
		return s.write(pcm)
	})
	return p, nil
}

func (s *Speaker) Hear(pcm []int16) { s.queue.put(pcm) }

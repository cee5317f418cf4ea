package desktop

// The microphone of the sound server.

// Microphone is a native.Source. Safe for concurrent use.
type Microphone struct{ device }

// OpenMicrophone opens a device by the server's name for it, empty for the default one. Errors: ErrNoLibrary, ErrNoServer.
func OpenMicrophone(name string) (*Microphone, error) {
	s, err := open(recording, name, "microphone")
	if err != nil {
		return nil, err
	}
	m := &Microphone{newDevice()}
	go m.run(s, func(pcm []int16) error {
		err := s.read(pcm)
		if err == nil {
			m.queue.put(pcm)
		}
		return err
	})
	return m, nil
}

func (m *Microphone) Frame(pcm []int16) { m.queue.take(pcm) }

package sdk

// The detector beside the microphone, and the playback, as the peer tells of them.

func (s *Session) voiceBegan(VoiceBegan) { s.trace("a voice began") }

func (s *Session) voiceLasted() { s.trace("the voice has lasted") }

func (s *Session) voiceEnded() { s.trace("the voice has ended") }

func (s *Session) markPassed(uint32) { s.trace("a mark was passed") }

package wire

// This file merges a session.update into a session.

import "slices"

// Merge changes the fields of the session that patch names, as session.update does, at every depth: a partial turn_detection keeps its
// other fields. null clears tracing, prompt, include, transcription, noise_reduction, turn_detection and idle_timeout_ms and leaves any
// other field as it is; "" and [] clear the others. A turn_detection that was null begins with the defaults. Merge skips the fields that
// only the server sets (object, id, expires_at) and unknown fields.
//
// On an error the session stays as it is. The error is a *DecodeError whose Param is the path of the field, such as
// "session.audio.output.speed". The session does not refer to patch.
func (s *Session) Merge(patch Raw) error {
	next := s.Clone()
	if err := merge(&next, patch); err != nil {
		err.within("session")
		return err
	}
	*s = next
	return nil
}

func merge(s *Session, patch Raw) *DecodeError {
	c := codec{scanner: scanner{b: patch}, strict: strictly, merge: true}
	if err := c.document(); err != nil {
		return err
	}
	c.pos = 0
	c.space()
	c.at = c.pos
	c.takeObject("", s)
	return c.err
}

// Clone returns a deep copy: an immutable snapshot while the session goes on changing.
func (s *Session) Clone() Session {
	next := *s
	next.OutputModalities = slices.Clone(s.OutputModalities)
	next.Include = slices.Clone(s.Include)
	next.Tools = slices.Clone(s.Tools)
	for i := range next.Tools {
		next.Tools[i].Parameters = slices.Clone(next.Tools[i].Parameters)
		next.Tools[i].Config = slices.Clone(next.Tools[i].Config)
	}
	for _, r := range []*Raw{&next.ToolChoice, &next.Tracing, &next.Prompt, &next.Truncation} {
		*r = slices.Clone(*r)
	}
	in := &next.Audio.Input
	in.Transcription = clone(in.Transcription)
	in.NoiseReduction = clone(in.NoiseReduction)
	if in.TurnDetection = clone(in.TurnDetection); in.TurnDetection != nil {
		in.TurnDetection.IdleTimeoutMS = clone(in.TurnDetection.IdleTimeoutMS)
	}
	return next
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

package wire

// envelope is what every event has.
type envelope struct {
	typ, id string
	// idGiven is where the event_id stands, start where the object begins and typeAt where the type stands.
	start, typeAt int
}

// readEnvelope checks the whole text and reads the type and the event_id.
func readEnvelope(b []byte) (envelope, *DecodeError) {
	s := scanner{b: b}
	bad := s.document()
	env := envelope{typeAt: s.typ.start}
	if id := s.id; id.end > 0 && b[id.start] == '"' {
		env.id = spanText(b, id)
	}
	if bad == nil {
		bad = env.readType(&s)
	}
	if bad != nil {
		bad.EventID = env.id
		return envelope{}, bad
	}
	return env, nil
}

func (env *envelope) readType(s *scanner) *DecodeError {
	typ := s.typ
	s.pos = 0
	s.space()
	env.start = s.pos
	switch {
	case s.peek() != '{':
		return &DecodeError{Code: CodeInvalidType, Message: "an event is an object, got " + kindName(s.peek()), Pos: s.pos}
	case typ.end == 0:
		return &DecodeError{Code: CodeMissingField, Param: "type", Message: "the field type is required: it names the event", Pos: s.pos}
	case s.b[typ.start] != '"':
		return &DecodeError{
			Code: CodeInvalidType, Param: "type", Message: "want a string, got " + kindName(s.b[typ.start]), Pos: typ.start,
		}
	}
	env.typ = spanText(s.b, typ)
	return nil
}

// spanText is the text of the string that is the span.
func spanText(b []byte, at span) string {
	s := scanner{b: b, pos: at.start}
	raw, escaped, _ := s.str()
	return text(raw, escaped)
}

// unknown refuses the event's type.
func (env *envelope) unknown() *DecodeError {
	const most = 64 // of a name that can be of any length
	name := env.typ
	if len(name) > most {
		name = name[:most] + "…"
	}
	return &DecodeError{
		Code: CodeUnknownEvent, Param: "type", EventID: env.id, Pos: env.typeAt,
		Message: "no event is called " + string(AppendString(nil, name)) + " in this direction",
	}
}

// decodeEvent reads the fields of the event whose envelope was read.
func decodeEvent(b []byte, env envelope, e Event, strict bool) error {
	c := codec{scanner: scanner{b: b, pos: env.start}, strict: strict}
	c.readObject(e)
	if c.err != nil {
		c.err.EventID = env.id
		return c.err
	}
	return nil
}

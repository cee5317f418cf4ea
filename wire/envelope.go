package wire

// This file reads what all events have: type and event_id.

// envelope has the type and the event_id of an event.
type envelope struct {
	typ, id string
	start   int // position of the object
	typeAt  int // position of the value of type
}

// readEnvelope checks the whole text and reads type and event_id.
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
	c := codec{scanner: scanner{b: s.b}, at: env.start}
	switch {
	case s.peek() != '{':
		c.wrong("", "an object, which every event is")
	case typ.end == 0:
		c.missing("type")
	case s.b[typ.start] != '"':
		c.at = typ.start
		c.wrong("type", "a string")
	default:
		env.typ = spanText(s.b, typ)
	}
	return c.err
}

// spanText returns the value of the string at the span.
func spanText(b []byte, at span) string {
	s := scanner{b: b, pos: at.start}
	raw, escaped, _ := s.str()
	return text(raw, escaped)
}

// unknown returns the error for a type that is not known.
func (env *envelope) unknown() *DecodeError {
	const most = 64 // bytes of the name in the error text
	name := env.typ
	if len(name) > most {
		name = name[:most] + "…"
	}
	return &DecodeError{
		Code: CodeUnknownEvent, Param: "type", EventID: env.id, Pos: env.typeAt,
		Message: "no event is called " + string(AppendString(nil, name)) + " in this direction",
	}
}

// decodeEvent reads the fields of an event after its envelope.
func decodeEvent(b []byte, env envelope, e Event, strict func(*codec, fielder, string)) error {
	c := codec{scanner: scanner{b: b, pos: env.start}, event: true, strict: strict}
	c.readObject(e)
	if c.err != nil {
		c.err.EventID = env.id
		return c.err
	}
	return nil
}

package wire

// This file has the entry points of the package: encode and decode one event.

// Event is one message of the protocol. Pointers to the event types implement it.
type Event interface {
	// Type returns the name of the event in the protocol, such as "response.create".
	Type() string
	// ID returns the event_id, "" if there is none.
	ID() string
	// SetID sets the event_id.
	SetID(id string)

	fields(c *codec)
}

// ServerEvent is an event that the server sends. A client may ignore the events that it does not need.
type ServerEvent interface {
	Event
	server()
}

// ClientEvent is an event that the client sends. A server must handle each of them.
//
//sumtype:decl
type ClientEvent interface {
	Event
	client()
}

// AppendServer appends the event's JSON text to dst and returns the longer slice. The text is always valid JSON and holds every key
// that the protocol requires. e must not be nil. AppendServer only reads the event, so several goroutines may encode it at a time.
func AppendServer(dst []byte, e ServerEvent) []byte { return appendEvent(dst, e, true) }

// AppendClient appends the event's JSON text to dst, as AppendServer does.
func AppendClient(dst []byte, e ClientEvent) []byte { return appendEvent(dst, e, false) }

// AppendSession appends the JSON object that the server writes for a session to dst, as it stands in session.updated.
func AppendSession(dst []byte, s *Session) []byte {
	c := codec{mode: writing, server: true, out: Writer{b: dst}}
	c.put(s)
	return c.out.b
}

// DecodeServer reads one server event, which must be the whole of b. It skips fields that this package does not know. It does not check
// values against the ranges of the protocol. The event does not refer to b. The error is a *DecodeError.
func DecodeServer(b []byte) (ServerEvent, error) {
	env, err := readEnvelope(b)
	if err != nil {
		return nil, err
	}
	e := newServer(env.typ)
	if e == nil {
		return nil, env.unknown()
	}
	if err := decodeEvent(b, env, e, nil); err != nil {
		return nil, err
	}
	return e, nil
}

// DecodeClient reads one client event, which must be the whole of b. It skips fields that this package does not know. For a value outside
// the range of the protocol it returns an error with the code CodeInvalidValue. The event does not refer to b. The error is a *DecodeError.
func DecodeClient(b []byte) (ClientEvent, error) {
	env, err := readEnvelope(b)
	if err != nil {
		return nil, err
	}
	e := newClient(env.typ)
	if e == nil {
		return nil, env.unknown()
	}
	if err := decodeEvent(b, env, e, strictly); err != nil {
		return nil, err
	}
	return e, nil
}

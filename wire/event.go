package wire

// Event is one message of the protocol, in either direction. Pointers to the event types implement it.
type Event interface {
	// Type is the event's name on the wire, such as "response.create".
	Type() string
	// ID is the event_id, "" when there is none.
	ID() string
	// SetID sets the event_id.
	SetID(id string)

	fields(c *codec)
}

// ServerEvent is an event that the server sends. A client may pass over those that it has no use for.
type ServerEvent interface {
	Event
	server()
}

// ClientEvent is an event that the client sends. A server answers every one of them.
//
//sumtype:decl
type ClientEvent interface {
	Event
	client()
}

// AppendServer appends the event's JSON text to dst and returns the longer slice. The text is always valid JSON and holds every key
// that the protocol requires; e must not be nil. The event is only read, so that several goroutines may encode it at once.
func AppendServer(dst []byte, e ServerEvent) []byte { return appendEvent(dst, e, true) }

// AppendClient appends the event's JSON text to dst, as AppendServer does.
func AppendClient(dst []byte, e ClientEvent) []byte { return appendEvent(dst, e, false) }

// DecodeServer reads one server event, the whole of b. Fields that this package does not know are skipped, values are not checked
// against the protocol's ranges, since a server's word stands. The event keeps nothing of b. Its error is a *DecodeError.
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

// DecodeClient reads one client event, the whole of b. Fields that this package does not know are skipped; values outside the
// protocol's ranges are refused with the code CodeInvalidValue. The event keeps nothing of b. Its error is a *DecodeError.
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

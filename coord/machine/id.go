package machine

// The identifiers that several machines share. They are small numbers that count up from 1; 0 is never an identifier. A driver maps them to
// the protocol's strings and back.

type (
	// Turn names one turn of the user, from its onset to its end.
	Turn uint64
	// Response names one response of the agent.
	Response uint64
	// Item names one item of the conversation.
	Item uint64
)

// Request names what a response is for: a request of the client, or a turn of the user that is to be answered. Exactly
// one of its fields is set; the zero value names nothing.
type Request struct {
	// Client is the number that the driver gave to the client's request, counted up from 1.
	Client uint64
	// Turn is the turn that the response answers.
	Turn Turn
}

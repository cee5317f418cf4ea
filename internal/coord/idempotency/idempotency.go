package idempotency

// The states, events and effects of the machine, and the identifiers in them.

type (
	// Try names one try of a request, from 1 on.
	Try uint64
	// Lease is the number of a lock of the key: the time for which a try may hold it. 0 is none.
	Lease uint64
	// Payload stands for the content of a request. Requests with the same content have the same Payload.
	Payload uint64
	// Response names a stored response.
	Response uint64
)

// State is one of Free, Locked, Cached, Unknown: what is known of one key.
//
//machine:field payload Payload returns the content of the key's request, as x has it.
//sumtype:decl
type State interface {
	Name() string
	state()
}

type (
	// Free: no try holds the lock, and there is no response. Lease is the newest lease, and Payload is the content of the key's request.
	// Both are 0 if no try has used the key yet.
	Free struct {
		Lease   Lease
		Payload Payload
	}
	// Locked: Try holds the lock until its lease runs out. Sent: its request may have
	// reached the server. Safe: the operation may be repeated.
	Locked struct {
		Try     Try
		Lease   Lease
		Payload Payload
		Sent    bool
		Safe    bool
	}
	// Cached: the request was processed, and its response is stored. The key stays in this state.
	Cached struct {
		Response Response
		Payload  Payload
	}
	// Unknown: the request of Try was sent, and no response came. It must not be sent again, because the server may have processed it.
	Unknown struct {
		Try     Try
		Payload Payload
	}
)

// Event is one of Check, Sending, Processed, GaveUp, LeaseExpired.
//
//machine:field asks Try returns the try that an event belongs to, or 0.
//sumtype:decl
type Event interface {
	Name() string
	event()
}

type (
	// Check: Try arrives, or was woken. Safe: its operation may be repeated.
	Check struct {
		Try     Try
		Payload Payload
		Safe    bool
	}
	// Sending: Try, which was granted the lock, is about to send its request.
	Sending struct{ Try Try }
	// Processed: the server has answered Try; Response is stored already.
	Processed struct {
		Try      Try
		Response Response
	}
	// GaveUp: Try will get no answer from the server.
	GaveUp struct{ Try Try }
	// LeaseExpired: Lease has run out.
	LeaseExpired struct{ Lease Lease }
)

// Effect is one of Grant, ArmLease, Wait, Forward, Reply, Refuse, SayUnknown,
// SayRetry, CheckAgain, Wake. All but ArmLease and Wake answer one try.
//
//sumtype:decl
type Effect interface {
	Name() string
	effect()
}

type (
	// Grant gives the lock to Try: it sends its request next.
	Grant struct{ Try Try }
	// ArmLease starts Lease: if the holder does not renew it, LeaseExpired comes.
	ArmLease struct{ Lease Lease }
	// Wait tells Try that another try holds the lock. Try checks again when it is woken.
	Wait struct{ Try Try }
	// Forward sends the request of Try to the server.
	Forward struct{ Try Try }
	// Reply answers Try with the response. Replayed: it is that of another try.
	Reply struct {
		Try      Try
		Response Response
		Replayed bool
	}
	// Refuse answers Try with an error: its key belongs to another request.
	Refuse struct{ Try Try }
	// SayUnknown answers Try with an error: its request may have been processed or not.
	SayUnknown struct{ Try Try }
	// SayRetry answers Try with an error: no response came, and it is safe to try again.
	SayRetry struct{ Try Try }
	// CheckAgain tells Try that it does not hold the lock: it checks again at once.
	CheckAgain struct{ Try Try }
	// Wake wakes all tries that wait for the lock. They check again.
	Wake struct{}
)

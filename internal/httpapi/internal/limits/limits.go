// Package limits has the limits of a server and its clients.
package limits

import (
	"cmp"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/session"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/secrets"
)

// The limits, and their defaults.

// Load is how busy a httpapi.Handler is at one moment.
type Load struct {
	// HalfOpen are the calls whose client has not connected yet.
	HalfOpen int
	// FullestQueue is how many events wait for the session for which most wait. QueueSize is the size of such a queue.
	FullestQueue, QueueSize int
	// FreeMemory is what is left of the memory that conversations borrow from, in bytes.
	FreeMemory int
	// FreeMessages is what is left of the memory for what waits of all clients, in bytes.
	FreeMessages int64
	// MostTurns is how many turns are open or wait for their text in the session that has most.
	MostTurns int
	// Kept is the size of the events that all calls keep for clients that reconnect, in bytes.
	Kept int
	// Abandoned are the abandoned calls into each stage.
	Abandoned map[string]int
	// Secrets is how many client secrets there are.
	Secrets int
}

// Rates limit what one principal uses in a minute; without keys, what all clients use together. 0 is no limit.
type Rates struct {
	// RequestsPerMinute counts requests that begin something (a call, a WebSocket, a client secret) and responses.
	RequestsPerMinute int
	// TokensPerMinute counts the tokens of responses, input and output. A response counts when it has ended, so it may go beyond
	// the limit. The next response waits until there are tokens again.
	TokensPerMinute int
}

// Limits limit what a server and its clients take. 0 takes the default of each.
type Limits struct {
	// MaxSessions is how many calls there are at most at a time; 0 takes 200.
	MaxSessions int
	// MaxMessage is the largest event of a client over a WebSocket, in bytes; 0 takes 16 MiB, because the protocol's clients send up to 15 MiB of audio in one event.
	// MessageMemory is how many bytes may wait of all clients: events above 256 KiB, audio, and events that they do not read; 0 takes 256 MiB.
	MaxMessage, MessageMemory int64
	// EventsPerSecond limits the events of one connection; each 16 KiB of an event count as one. Four times as many may come at
	// once. Events that come faster wait, and the server tells the client. 0 takes 500.
	EventsPerSecond int
	// Longest is how long a session may be; 0 takes the protocol's 60 minutes.
	Longest time.Duration
	// Grace is how long a client that has lost its network may take to come back before the call ends; 0 takes 20 s. Keep is the
	// same for a client that knows our extensions and can reconnect; 0 takes 60 s.
	Grace, Keep time.Duration
	// LongestCall is how long a call may be whose sessions follow each other; 0 takes 12 h.
	LongestCall time.Duration
	// Memory is how many bytes the items of all conversations may take together; 0 takes 1 GiB.
	Memory int

	// MaxLate and MaxCPU refuse new calls while more of the audio of calls over WebRTC is late, or more of the processor time is used, in percent; 0 is no limit.
	MaxLate, MaxCPU float64

	// CallsPerPrincipal is how many calls the keys and client secrets of one principal may have at a time; 0 takes half of
	// MaxSessions if the keys name more than one principal, and all otherwise.
	CallsPerPrincipal int
	// CallsPerSecret is how many calls one client secret may have at a time; 0 takes 8.
	CallsPerSecret int
	// CallsPerAddress is how many calls one client address may have at a time that show no API key; 0 takes a quarter of MaxSessions. Loopback addresses have no such limit.
	CallsPerAddress int
	// CallAttempts is how many calls one client secret, and one client address without an API key, may begin in a minute; 0 takes 60. Loopback addresses have no such limit.
	CallAttempts int
	// SecretsPerPrincipal is how many client secrets of one principal there may be at a time; 0 takes half of all if the keys name more than one principal, and all otherwise.
	SecretsPerPrincipal int
}

// AddressShare says that a client address may have the part 1 / AddressShare of all calls, unless CallsPerAddress says how many.
const AddressShare = 4

// WithDefaults returns the limits with defaults for zero fields, for a server where a principal may have a share-th part of all.
func (l Limits) WithDefaults(share int) Limits {
	l.MaxSessions = cmp.Or(l.MaxSessions, 200)
	l.MaxMessage = cmp.Or(l.MaxMessage, 16<<20)
	l.MessageMemory = cmp.Or(l.MessageMemory, 256<<20) // 16 events of the largest size
	l.EventsPerSecond = cmp.Or(l.EventsPerSecond, 500)
	l.LongestCall = cmp.Or(l.LongestCall, session.LongestCall)
	l.Memory = cmp.Or(l.Memory, 1<<30)
	l.CallsPerPrincipal = cmp.Or(l.CallsPerPrincipal, max(1, l.MaxSessions/share))
	l.CallsPerSecret = cmp.Or(l.CallsPerSecret, 8)
	l.CallsPerAddress = cmp.Or(l.CallsPerAddress, max(1, l.MaxSessions/AddressShare))
	l.CallAttempts = cmp.Or(l.CallAttempts, 60)
	l.SecretsPerPrincipal = cmp.Or(l.SecretsPerPrincipal, secrets.Max/share)
	return l
}

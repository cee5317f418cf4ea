// Package lifetime decides how long a session lives. It has the timers of the session's longest time and of the wait for a client that is away,
// judges what the failure of a transport means, and tells the client of an end that is not the client's doing.
//
// A Lifetime belongs to the session's goroutine. Its timers post Events, which the actor gives to Handle.
package lifetime

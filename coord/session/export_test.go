package session

// What tests of packages that import this one need of its own: they are in package session_test, which may import those.

// Watcher watches a call of the simulator from outside. What it returns is what does not hold, or "".
type Watcher interface {
	// Stepped sees every event of the session's queue, with what it led to, before any of it arrives.
	Stepped(e Edge) string
	// Delivered sees every effect that the client is told of, when it arrives.
	Delivered(f Effect) string
	// Rests sees the end.
	Rests() string
}

// NewWatcher makes one for every call that the simulator plays. It is set before the tests begin.
var NewWatcher func(Config) Watcher

// ExploreEdges shows see every edge of the exploration of next, and returns the shortest way to where see says that
// something does not hold, or "".
func ExploreEdges(next nextFunc, see func(Edge) string) string {
	for _, d := range domains() {
		_, _, broken := explore(d, 200_000, next, func(before Seen, e Edge) (Seen, string) { return See(before, e), see(e) })
		if broken != nil {
			return broken.story(d)
		}
	}
	return ""
}

// Speechless is the composition without the effects that drop says.
func Speechless(drop func(Effect) bool) nextFunc { return speechless(drop) }

// PlayCalls plays the first n calls of the simulator and returns what does not hold in the first that fails, or "".
func PlayCalls(n uint64, next nextFunc) string {
	_, broken, _ := calls(n, next)
	return broken
}

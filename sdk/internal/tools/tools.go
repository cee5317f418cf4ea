// Package tools decides which of the agent's tool calls run and when the agent is asked for an answer to their results. It runs no
// tool itself. One goroutine at a time may use it.
package tools

// Calls are the tool calls of one call. Each runs once. The results of calls that run together get one answer. T is a tool.
type Calls[T any] struct {
	byName map[string]T
	known  map[string]bool // the call ids of all calls so far
	order  []string        // the ids in known, oldest first. Invariant: len <= maxCalls.
	queue  []Call[T]       // calls that wait until fewer tools run. Invariant: len <= maxCalls.
	active int             // how many tools run now
	// interruptions counts how often the user did not want the present results any more. Their calls get no answer of their own.
	interruptions int
	// lostBefore is the first value of interruptions whose results the server can take: earlier calls belong to a lost conversation.
	lostBefore int
	wants      bool // a response is to be asked for as soon as nobody speaks
	refusals   int  // how often in a row the server has refused to answer because of another response
	// untaken counts the results that the server has not taken into the conversation yet. A response that begins before does not
	// know them.
	untaken int
}

// Call is one tool call that runs or waits.
type Call[T any] struct {
	ID, Arguments string
	Tool          T

	interruptions int
}

const (
	// maxCalls bounds how many call ids are remembered so that none runs twice, and how many calls wait.
	maxCalls = 4096
	// maxRefusals bounds how often the session asks again when the server refuses because another response is going on.
	maxRefusals = 3
)

// Outcome says what is to be done about a call of the agent.
type Outcome uint8

// The outcomes.
const (
	Queued  Outcome = iota // the call waits: see Next
	Foreign                // nothing: another client of the call has the tools
	Twice                  // nothing: the call came before
	Unknown                // the result says that there is no such tool
	TooMany                // the result says that too many calls wait
)

// New returns the calls of a new call. tools are the tools by name.
func New[T any](tools map[string]T) Calls[T] {
	return Calls[T]{byName: tools, known: map[string]bool{}}
}

// Use replaces the tools. Calls that wait keep the tool that they had.
func (t *Calls[T]) Use(tools map[string]T) { t.byName = tools }

// Take takes a call that the agent has finished making.
func (t *Calls[T]) Take(id, name, arguments string) (Call[T], Outcome) {
	call := Call[T]{ID: id, Arguments: arguments, interruptions: t.interruptions}
	if len(t.byName) == 0 {
		return call, Foreign
	}
	if t.known[id] {
		return call, Twice
	}
	t.known[id] = true
	t.order = append(t.order, id)
	if len(t.order) > maxCalls {
		delete(t.known, t.order[0])
		t.order = t.order[1:]
	}
	tool, ok := t.byName[name]
	switch {
	case !ok:
		return call, Unknown
	case len(t.queue) >= maxCalls:
		return call, TooMany
	}
	call.Tool = tool
	t.queue = append(t.queue, call)
	return call, Queued
}

// Next returns the next call to run, if fewer than limit run now.
func (t *Calls[T]) Next(limit int) (call Call[T], ok bool) {
	if t.active >= limit || len(t.queue) == 0 {
		return call, false
	}
	call = t.queue[0]
	t.queue = t.queue[1:]
	t.active++
	return call, true
}

// Ran takes the end of a call that Next returned. It returns false if the conversation of the call is lost, so that nobody gets the
// result.
func (t *Calls[T]) Ran(call Call[T]) bool {
	t.active--
	return call.interruptions >= t.lostBefore
}

// Sent notes that the result of a call is sent.
func (t *Calls[T]) Sent(call Call[T]) {
	t.untaken++
	t.wants = t.wants || call.interruptions == t.interruptions
}

// Taken notes that the server has the result of the call with this id.
func (t *Calls[T]) Taken(id string) {
	if t.known[id] {
		t.ResultRefused()
	}
}

// ResultRefused notes that the server does not take a result.
func (t *Calls[T]) ResultRefused() { t.untaken = max(t.untaken-1, 0) }

// Busy reports whether the agent waits for results.
func (t *Calls[T]) Busy() bool { return t.active > 0 || len(t.queue) > 0 || t.wants }

// AskNow reports, once, that the caller must ask for an answer to the results. It is to be called when nobody speaks.
func (t *Calls[T]) AskNow() bool {
	if !t.wants || t.active > 0 || len(t.queue) > 0 {
		return false
	}
	t.wants = false
	return true
}

// AnswerRefused notes that the server has refused to answer because of another response. It returns true if the session asks again.
func (t *Calls[T]) AnswerRefused() bool {
	if t.refusals >= maxRefusals {
		return false
	}
	t.refusals++
	t.wants = true
	return true
}

// Answered notes that a response begins. It answers the results that the server had by then.
func (t *Calls[T]) Answered() {
	t.wants = t.wants && t.untaken != 0
	t.refusals = 0
}

// Interrupted notes that the user does not want an answer to the present calls any more.
func (t *Calls[T]) Interrupted() {
	t.interruptions++
	t.wants = false
}

// ConversationLost drops the calls of a lost conversation. The server could not take their results.
func (t *Calls[T]) ConversationLost() {
	t.interruptions++
	t.lostBefore = t.interruptions
	t.queue, t.wants, t.refusals, t.untaken = nil, false, 0, 0
}

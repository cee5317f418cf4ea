// Package tool has the session that calls a tool of the server, as the tool sees it.
package tool

// The session that calls a tool: work that outlives the call tells it what becomes of it.

import (
	"context"
	"encoding/json"
	"sync"
)

// Stage is the name of the tools where the stages of a pipeline are named: in limits and in logs.
const Stage = "tool"

// News is what background work tells the session in which it was begun.
type News struct {
	Run, Tool string
	Seq       uint64          // the number of the message in the run
	Message   json.RawMessage // the message as the client gets it: a JSON object; nil for one that the client has
	Text      string          // what the model reads, and answers if nobody speaks; "" for nothing
	Read      bool            // the model has read the text already
	Asks      *Question       // the run waits for the user from now on; nil for all other news
	Settled   bool            // the run waits for the user no more
}

// Question is what a run asks the user.
type Question struct {
	Interaction string // names the question in the answer
	Approval    bool   // the user has to approve a call of the tool
	// Arguments are those of the call that the user has to approve, a JSON object; nil if they are not known.
	Arguments json.RawMessage
	// Prompt is what any other question asks, and Choices are what the reply may be; empty for any words.
	Prompt  string
	Choices []string
}

// Caller is the session that calls a tool. Its exported fields do not change. It is safe for concurrent use, and not copied.
type Caller struct {
	// Principal is whose call it is; "" if the server has no keys.
	Principal string
	// Tell gives the session news. It does not wait for the session to handle them. It reports false when the session has ended.
	Tell func(News) bool
	// Ended is closed when the session ends.
	Ended <-chan struct{}
	// Following is told of a run of which the session gets news from now on, and of one of which there are no more news. It does not wait. nil: nobody is told.
	Following func(run string, follows bool)
	// Knew says how far the call knew its runs before this session went on with it.
	Knew map[string]Progress

	follows sync.Map // the runs of which it gets news
}

// Progress is how far a call knows a run: the numbers of the newest message that the client has, and of the newest that the model knows.
type Progress struct{ Told, Read uint64 }

// Follow notes that the session gets news of a run from now on. It reports false if it does so already.
func (c *Caller) Follow(run string) bool {
	_, follows := c.follows.LoadOrStore(run, true)
	if !follows && c.Following != nil {
		c.Following(run, true)
	}
	return !follows
}

// Unfollow notes that the session gets no more news of a run. over: there are none any more.
func (c *Caller) Unfollow(run string, over bool) {
	c.follows.Delete(run)
	if over && c.Following != nil {
		c.Following(run, false)
	}
}

// callerKey is the key of the Caller in a call's context.
type callerKey struct{}

// WithCaller returns a context for a call by that session.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the session that calls a tool; nil if the context is of no such call.
func CallerOf(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

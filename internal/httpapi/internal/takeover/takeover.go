// Package takeover makes this process the owner of a call that another process has served, if its client may have it.
package takeover

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/journal"
)

// Taking over a call: who may have it, and one request at a time.

// timeout limits what the journal does while a client waits, and ownsWithin the question whether this process still has a call: a client whose server has it waits no longer for a store that
// hangs.
const (
	timeout    = 5 * time.Second
	ownsWithin = time.Second
)

// The errors of Take. It also returns link.ErrReconnecting and link.ErrReplayLost.
var (
	// ErrUnknown: the client has no such call.
	ErrUnknown = errors.New("there is no such call")
	// ErrTransport: the call was begun over the other transport.
	ErrTransport = errors.New("the call was begun over another transport")
	// ErrUnavailable: the journal cannot be read or written now.
	ErrUnavailable = errors.New("the journal is not available")
)

// Request is the request of a client that reconnects.
type Request struct {
	Token, After      string // the call's, and the id of the last event that the client has seen
	Principal, Secret string // who asks: Secret is the client secret as the journal names it, "" for an API key. An expired secret comes without its principal
	WebRTC            bool
	Longest           time.Duration // how long a call may be, with all its sessions
	Logger            *slog.Logger
}

// Taken is a call that this process owns now. The caller closes the Journal.
type Taken struct {
	State   *journal.State
	Journal *journal.Writer
	Former  link.Former
}

// Taking takes calls over. It is safe for concurrent use.
type Taking struct {
	book *journal.Book // nil: there is no journal
	env  env.Env

	mu  sync.Mutex
	now map[attempt]bool // those who take calls over at present
}

// attempt is a token and who asks. So somebody else who has the token does not hold up the client of the call.
type attempt struct{ token, who string }

// attempt returns the attempt of a request.
func (r Request) attempt() attempt {
	if r.Secret != "" {
		return attempt{r.Token, "secret " + r.Secret}
	}
	return attempt{r.Token, "key " + r.Principal}
}

// New returns a Taking from this journal. book may be nil.
func New(book *journal.Book, e env.Env) *Taking {
	return &Taking{book: book, env: e, now: map[attempt]bool{}}
}

// Take makes this process the owner of a call.
func (t *Taking) Take(ctx context.Context, r Request) (Taken, error) {
	if !t.begin(r.attempt()) {
		return Taken{}, link.ErrReconnecting
	}
	defer t.end(r.attempt())
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var former link.Former
	refused := ErrUnknown
	state, writer, err := t.book.TakeOver(ctx, r.Token, r.Logger, func(s *journal.State) bool {
		former, refused = t.may(s, r)
		return refused == nil
	})
	switch {
	case errors.Is(err, journal.ErrUnknown) && refused != nil:
		return Taken{}, refused
	case errors.Is(err, journal.ErrDamaged):
		r.Logger.Warn("a call cannot be taken over: its client begins a new one", "err", err)
		return Taken{}, link.ErrReplayLost
	case err != nil:
		return Taken{}, errors.Join(ErrUnavailable, err)
	}
	return Taken{state, writer, former}, nil
}

// may returns what the hub must know of a call, or the error that says why the client may not have it.
func (t *Taking) may(s *journal.State, r Request) (f link.Former, refused error) {
	switch {
	case s.Call.Secret != r.Secret || r.Secret == "" && s.Call.Principal != r.Principal || max(s.Settings.ExpiresAt, s.Call.End(r.Longest)) <= t.env.Now().Unix():
		return f, ErrUnknown
	case s.Call.WebRTC != r.WebRTC:
		return f, ErrTransport
	}
	f.Base, f.Session = s.Base, &s.Settings
	for _, e := range s.Events {
		f.Events = append(f.Events, link.Event{Type: e.Type, ID: e.ID, Text: e.Text, Number: e.Number})
	}
	_, refused = link.EventsAfter(f.Events, f.Base, r.After)
	return f, refused
}

// ownerTimeout limits the question who owns a call.
const ownerTimeout = 2 * time.Second

// Owner returns the name of the process that owns the call with that token. It is "" if the journal does not know the call or does not answer.
func (t *Taking) Owner(ctx context.Context, token string) string {
	if t.book == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, ownerTimeout)
	defer cancel()
	node, err := t.book.Owner(ctx, token)
	if err != nil {
		return ""
	}
	return node
}

func (t *Taking) begin(a attempt) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.book == nil || t.now[a] {
		return false
	}
	t.now[a] = true
	return true
}

func (t *Taking) end(a attempt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.now, a)
}

// Owns reports whether this process is still the owner of the call with that journal. It is without a journal. If the store cannot say
// so, it is too, and the error wraps ErrUnavailable.
func Owns(ctx context.Context, w *journal.Writer) (owns bool, err error) {
	if w == nil {
		return true, nil
	}
	ctx, cancel := context.WithTimeout(ctx, ownsWithin)
	defer cancel()
	if owns, err = w.Owner(ctx); err != nil {
		err = errors.Join(ErrUnavailable, err)
	}
	return owns, err
}

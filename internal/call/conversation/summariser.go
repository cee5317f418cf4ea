package conversation

// The Summariser: when a summary begins, and what becomes of it.

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/antiphon-rt/antiphon/coord/compaction"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/ratelimit"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// The defaults of Limits.
const (
	DefaultAt   = 0.7
	DefaultKeep = 0.35
)

// pause is how long no summary begins after one that has failed.
const pause = 30 * time.Second

// summaries is the machine of a Summariser.
var summaries = room.Machine[compaction.State, compaction.Event, compaction.Effect, compaction.Seen]{
	Name: "compaction", Table: compaction.Table, Monitor: compaction.Monitor,
}

// SummaryLimits say when the oldest items are summarised. The zero value takes the defaults.
type SummaryLimits struct {
	// At is the share of the model's context above which the oldest items are summarised, until the rest is below Keep. It is also the share of
	// the bytes and of the number of items that a conversation may have. 0 takes 0.7 and 0.35.
	At, Keep float64
	// Off: no summaries are written. The session's `truncation` alone shortens the conversation.
	Off bool
}

// Bounds returns the limits with the defaults. Keep is at most half of At.
func (l SummaryLimits) Bounds() Bounds {
	at := cmp.Or(l.At, DefaultAt)
	return Bounds{At: at, Keep: min(cmp.Or(l.Keep, DefaultKeep), at/2)}
}

// SummaryParts are the other parts of the session that a Summariser uses.
type SummaryParts struct {
	Env          env.Env
	Log          *slog.Logger
	Model        pipeline.Model
	Guard        *watchdog.Guard // bounds the calls into the Model
	Budget       ratelimit.Limiter
	Settings     *Settings
	Conversation *Conversation
	Limits       SummaryLimits
	// Context ends with the session; Workers are its goroutines.
	Context context.Context //nolint:containedctx // the life of the session's goroutines, not of a call
	Workers *env.Group
	// Post takes the result of a summary, from any goroutine. It reports false when the session has ended.
	Post func(Written) bool
	// Trace sees every step of the machine; nil for none.
	Trace func(name string, step coord.Step)
	// Broken is called with an invariant that does not hold, where they are checked; nil where they are not.
	Broken func(invariant, event string)
}

// Summariser is the driver of coord/compaction in one session.
type Summariser struct {
	SummaryParts
	state  compaction.State
	seen   compaction.Seen // when invariants are checked
	newest uint64          // the newest item that the machine knows of
	resume time.Time       // no summary begins before
	head   Head
	text   string // the summary of head; "" for none
	cancel context.CancelFunc
}

// NewSummariser returns a Summariser that has not seen the conversation.
func NewSummariser(p SummaryParts) *Summariser {
	return &Summariser{SummaryParts: p, state: compaction.Idle{}, cancel: func() {}}
}

// Settle triggers the machine if items were added to the conversation. The actor calls it after every event.
func (s *Summariser) Settle() room.List {
	if s.Limits.Off || s.newest == s.Conversation.Newest() || s.Settings.current.Type == typeTranscription {
		return nil
	}
	s.newest = s.Conversation.Newest()
	return s.step(compaction.Trigger{})
}

// Handle takes the result of a summary.
func (s *Summariser) Handle(e Written) room.List {
	s.Budget.Spend(e.Usage.InputTokens + e.Usage.OutputTokens)
	if run, is := s.state.(compaction.Running); !is || run.Gen != e.Gen {
		return s.step(compaction.Finished{Gen: e.Gen}) // the machine ignores it
	}
	s.text = e.Text
	if e.Err == nil && s.Conversation.Tokens(e.Text) >= s.head.Tokens {
		e.Err = errNotShorter
	}
	if e.Err != nil {
		s.text = ""
		s.resume = s.Env.Now().Add(pause)
		room.LogFailure(s.Log, "the conversation cannot be summarised", e.Err)
	}
	return s.step(compaction.Finished{Gen: e.Gen})
}

// Close ends the machine, and the summary that is written. The session waits for the goroutine.
func (s *Summariser) Close() { s.step(compaction.Shutdown{}) }

// step runs an event through the machine and performs its effects.
func (s *Summariser) step(e compaction.Event) room.List {
	effects, st := summaries.Step(&s.state, &s.seen, e, s.Broken)
	room.LogStep(s.Log, st)
	if s.Trace != nil {
		s.Trace(st.Machine, st)
	}
	var out room.List
	for _, f := range effects {
		switch f := f.(type) {
		case compaction.Start:
			out = append(out, s.start(f.Gen)...)
		case compaction.Apply:
			out = append(out, s.apply()...)
		case compaction.Cancel:
			s.cancel()
		}
	}
	return out
}

// start begins the summary of run gen. Where there is nothing to summarise the run ends at once.
func (s *Summariser) start(gen uint32) room.List {
	q := s.Settings.ModelRequest(nil)
	head, long := s.Conversation.Head(&q, s.Limits.Bounds())
	if !long || s.Env.Now().Before(s.resume) || ratelimit.Admit(s.Budget) != nil {
		s.text = ""
		return s.step(compaction.Finished{Gen: gen})
	}
	s.head = head
	ctx, cancel := context.WithCancel(s.Context)
	s.cancel = cancel
	s.Workers.Go(func() {
		defer cancel()
		w := Written{Gen: gen}
		w.Text, w.Usage, w.Err = s.write(ctx, q.Model, head)
		s.Post(w)
	})
	return nil
}

// apply puts the summary into the conversation, if there is one.
func (s *Summariser) apply() (out room.List) {
	text, head := s.text, s.head
	s.text, s.head = "", Head{}
	if text == "" {
		return nil
	}
	done, ok := s.Conversation.Summarise(head, text)
	if !ok {
		s.Log.Info("a summary is thrown away, because the beginning of the conversation has changed")
		return nil
	}
	s.Log.Info("the beginning of the conversation is summarised", "items", done.Items, "tokens_before", done.Before, "tokens_after", done.After)
	if s.Settings.Client.Extended {
		out.Send(&wire.AntiphonConversationCompacted{
			Items: done.Items, LastItemID: done.Last, TokensBefore: done.Before, TokensAfter: done.After, Summary: text,
		})
	}
	return out
}

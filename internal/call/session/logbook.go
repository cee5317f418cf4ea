package session

// The logbook of a session: its events and its configuration, and how it is played again.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/call/conversation"
	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/call/logbook"
	"github.com/antiphon-rt/antiphon/internal/call/remote"
	"github.com/antiphon-rt/antiphon/internal/call/runs"
	"github.com/antiphon-rt/antiphon/internal/call/speaking"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/mcp"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// codec is that of logbooks.
var codec = logbook.NewCodec([]any{
	logbook.Message{},
	logbook.Audio{},
	logbook.Missing{},
	logbook.Warm{},
	logbook.FirstFrame{},
	logbook.Leaving{},
	logbook.Settled{},
	logbook.Handled{},
	logbook.Greeting{},
	logbook.Digit{},
	logbook.DigitsDue{},
	logbook.Progress{},
	logbook.NotBooked{},
	coord.OfConn{},
	conn.Close{},
	conn.Lost{},
	conn.Restored{},
	listening.Report{},
	listening.VerdictDue{},
	listening.AudioDue{},
	listening.FallbackDue{},
	listening.GateDue{},
	listening.IdleDue{},
	listening.EndDue{},
	listening.SoundsFound{},
	listening.VoiceKnown{},
	listening.VoiceDue{},
	listening.Ready{},
	listening.Refused{},
	listening.Partial{},
	listening.Ending{},
	listening.Final{},
	listening.Failed{},
	listening.Recorded{},
	listening.Retranscribed{},
	speaking.Drained{},
	speaking.ReadyDue{},
	speaking.HeardDue{},
	speaking.TailOver{},
	speaking.Delta{},
	speaking.TextEnded{},
	speaking.Audio{},
	speaking.ClauseSaid{},
	speaking.SynthesisEnded{},
	speaking.DraftFailed{},
	speaking.BodyOver{},
	speaking.StepEnded{},
	speaking.ToolSlow{},
	speaking.ToolEnded{},
	pipeline.Thinking{},
	pipeline.TextDelta{},
	pipeline.ToolCallDelta{},
	pipeline.ToolCallDone{},
	runs.News{},
	runs.Followed{},
	runs.FollowedAgain{},
	runs.FollowAgainDue{},
	runs.Acted{},
	runs.SpokenActed{},
	conversation.Written{},
	remote.Listed{},
	TimeUp{},
	ExpiryNear{},
	MoveDue{},
	GraceOver{},
	Failed{},
	Drain{},
	PauseDue{},
	DrainOver{},
}, []error{
	context.Canceled, context.DeadlineExceeded, pipeline.ErrMaxTokens, pipeline.ErrNoLive, pipeline.ErrUnavailable, pipeline.ErrBusy, pipeline.ErrUnknownVoice,
	link.ErrUnreachable, link.ErrHungUp, link.ErrTooLarge, conversation.ErrTooLong,
}, []error{&pipeline.StageError{}, &wire.DecodeError{}, &mcp.Error{}})

// booked returns an event of the queue as it is in a logbook.
func (s *Session) booked(e event) any {
	switch e := e.(type) {
	case machineEvent:
		return e.Event
	case clientMessage:
		m := s.deck.Message(e.From, mcp.Redacted(e.Text))
		m.Refused = e.Refused
		return m
	case audioReceived:
		return logbook.Audio{PCM: *e.pcm}
	case audioMissing:
		return logbook.Missing{Samples: e.samples}
	case warmedUp:
		return logbook.Warm{Err: e.err}
	case firstFrameSent:
		return logbook.FirstFrame{}
	case inputEvent:
		return e.Event
	case playerEvent:
		return e.PlayerEvent
	case bodyEvent:
		return e.Event
	case summaryWritten:
		return e.Written
	case runsEvent:
		return e.Event
	case remoteEvent:
		return e.Event
	case fromLifetime:
		return e.of
	case leaving:
		return logbook.Leaving{}
	case clientSettled:
		return logbook.Settled{}
	case greeting:
		return logbook.Greeting{Words: e.words}
	case digitPressed:
		return logbook.Digit{Key: e.key, ToModel: e.toModel}
	case digitsDue:
		return logbook.DigitsDue{}
	case progressed:
		return logbook.Progress{State: e.state, Status: e.status}
	case handled:
		return logbook.Handled{}
	}
	return nil
}

// fromLogbook is the inverse of booked; nil for a value that is no event.
func (s *Session) fromLogbook(v any) event {
	switch v := v.(type) {
	case coord.Event:
		return machineEvent{v}
	case logbook.Message:
		return clientMessage{Message{From: s.deck.Side(v), Text: v.Text, Refused: v.Refused}}
	case logbook.Audio:
		return audioReceived{&v.PCM}
	case logbook.Missing:
		return audioMissing{v.Samples}
	case logbook.Warm:
		return warmedUp{v.Err}
	case logbook.FirstFrame:
		return firstFrameSent{}
	case listening.Event:
		return inputEvent{v}
	case speaking.PlayerEvent:
		return playerEvent{v}
	case speaking.Event:
		return bodyEvent{v}
	case conversation.Written:
		return summaryWritten{v}
	case runs.Event:
		return runsEvent{v}
	case remote.Event:
		return remoteEvent{v}
	case lifetimeEvent:
		return fromLifetime{v}
	case logbook.Leaving:
		return leaving{make(chan left, 1)}
	case logbook.Settled:
		return clientSettled{}
	case logbook.Greeting:
		return greeting{v.Words}
	case logbook.Digit:
		return digitPressed{v.Key, v.ToModel}
	case logbook.DigitsDue:
		return digitsDue{}
	case logbook.Progress:
		return progressed{v.State, v.Status}
	case logbook.Handled:
		return handled{make(chan struct{})}
	}
	return nil
}

// booked is the configuration of a session in a logbook.
type booked struct {
	Settings                          wire.Session
	AnswerAhead, TakeBack             bool
	Grace, Keep, Longest, LongestCall time.Duration
	Locks                             []string
	Principal, Token                  string
	Acts, Keyed, Journalled           bool
	MCP                               bookedServers
	Summaries                         conversation.SummaryLimits
	Call                              journal.Call
	Restore                           *journal.State
	Epoch                             uint32
	Stages                            logbook.Stages
	Link                              logbook.Link
}

// bookedServers are the MCP servers of a session in a logbook.
type bookedServers struct {
	Names                          []string // of the operator's servers
	NoURLs, Answer, SpokenApproval bool
}

// pass has all that a session gets from cfg pass a deck, and returns the deck; nil if the session is neither recorded nor played.
func (cfg *Config) pass() *logbook.Deck {
	d := cfg.deck
	if d == nil && cfg.Logbook != nil {
		d = cfg.Logbook.Deck(cfg.Env, codec)
	}
	if d != nil {
		cfg.Env, cfg.Limits, cfg.Pipeline = d, d.Limits(cfg.Limits), d.Pipeline(cfg.Pipeline)
	}
	return d
}

// connect has the link pass the deck, and opens the logbook.
func (s *Session) connect(to link.Link) (link.Link, link.Capabilities) {
	can := link.Resolve(to)
	if s.deck == nil {
		return to, can
	}
	if !s.deck.Plays() {
		o, k := s.cfg.Options, s.cfg.Kept
		b := booked{
			Settings: s.cfg.Settings, AnswerAhead: s.cfg.AnswerAhead, TakeBack: o.TakeBack, Grace: s.cfg.Grace, Keep: s.cfg.Keep, Longest: s.cfg.Longest, LongestCall: k.Longest,
			Locks: s.cfg.Locks, Principal: o.Principal, Token: k.Token, Acts: o.Runs.Act != nil, Keyed: o.Runs.Keyed, Summaries: o.Summaries,
			Call: k.Call, Restore: k.Restore, Stages: logbook.StagesOf(s.cfg.Pipeline, o.Tools), Link: logbook.LinkOf(to, can),
		}
		b.Settings.Tools = mcp.Hide(b.Settings.Tools)
		b.MCP.NoURLs, b.MCP.Answer, b.MCP.SpokenApproval = o.MCP.NoURLs, o.MCP.Answer, o.MCP.SpokenApproval
		for _, n := range o.MCP.Servers {
			b.MCP.Names = append(b.MCP.Names, n.Name)
		}
		if k.Journal != nil {
			b.Journalled, b.Epoch = true, k.Journal.Epoch()
		}
		if err := s.deck.Open(s.cfg.Logbook, s.id, &b); err != nil {
			s.log.Error("the session has no logbook", "err", err)
		}
	}
	return s.deck.Link(to, can)
}

// config returns the configuration of the session that plays the logbook.
func (b *booked) config(d *logbook.Deck) Config {
	cfg := Config{
		Settings: b.Settings, AnswerAhead: b.AnswerAhead, Grace: b.Grace, Keep: b.Keep, Longest: b.Longest, Locks: b.Locks, Logger: slog.New(slog.DiscardHandler),
		Options: Options{Principal: b.Principal, Summaries: b.Summaries, TakeBack: b.TakeBack}, Env: d, deck: d,
		Kept: Kept{Token: b.Token, Call: b.Call, Restore: b.Restore, Longest: b.LongestCall},
	}
	cfg.Pipeline, cfg.Options.Tools = b.Stages.Stand()
	cfg.Options.Runs.Keyed = b.Keyed
	servers := mcp.Config{Idle: true, NoURLs: b.MCP.NoURLs, Answer: b.MCP.Answer, SpokenApproval: b.MCP.SpokenApproval}
	for _, name := range b.MCP.Names {
		servers.Servers = append(servers.Servers, mcp.Named{Name: name})
	}
	cfg.Options.MCP = mcp.New(servers)
	if b.Acts {
		cfg.Options.Runs.Act = func(context.Context, wire.ClientEvent) *wire.Error { return nil }
	}
	if b.Journalled {
		cfg.Kept.Journal = logbook.Epoch(b.Epoch)
	}
	return cfg
}

// Replay plays a logbook, perhaps of a stranger. each sees every entry once it is played; logbook.ErrStop ends the play. The error is a *logbook.Difference where the session does
// something else than the logbook has.
func Replay(in io.Reader, each func(logbook.Moment) error) (played logbook.Played, err error) {
	var b booked
	d, err := logbook.Play(in, codec, &b)
	if err != nil {
		return played, err
	}
	played = d.Begun()
	if b.Stages.OwnLanguages {
		played.Notes = append(played.Notes, "the server had languages of its own, which are not in the logbook: verdicts by their words may differ")
	}
	var s *Session
	play := func(n int, in any) {
		if s, err = s.replay(n, in, b.config(d), b.Link); err != nil {
			panic(err)
		}
	}
	for played.End == "" {
		m, end, err := d.Next(play)
		if err == nil && end == "" {
			if err = each(m); err == nil {
				played.Entries, played.Lasted = m.Number, m.At
			}
		}
		if played.End = end; errors.Is(err, logbook.ErrStop) {
			break
		}
		if err != nil {
			d.Leave(s.leave)
			return played, err
		}
	}
	d.Leave(s.leave)
	return played, nil
}

// replay plays one entry of a logbook: the first makes the session, the second starts it, and each other one is an event.
func (s *Session) replay(n int, in any, cfg Config, l logbook.Link) (*Session, error) {
	switch n {
	case 1:
		made, err := New(cfg)
		if err == nil {
			made.shared.queue.deaf = true
		}
		return made, err
	case 2:
		s.shared.started.Do(func() {
			s.attach(l.Stand())
			s.begin()
		})
		return s, nil
	}
	e := s.fromLogbook(in)
	if e == nil || s.end.forgotten {
		return s, fmt.Errorf("a %T is no event of this session", in)
	}
	defer s.recoverActor() // as in run
	s.take(e)
	return s, nil
}

// leave ends what a session has left when its logbook is over.
func (s *Session) leave() {
	switch {
	case s == nil || s.end.released:
	case s.link == nil:
		s.Abandon()
	default:
		s.release()
	}
}

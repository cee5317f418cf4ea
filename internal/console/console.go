package console

// The Console: its queue of notes, and what the sessions tell it.

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/apikey"
	"github.com/antiphon-rt/antiphon/wire"
)

// Config configures a Console. Keys are required.
type Config struct {
	Keys     apikey.Keys // of operators
	Words    bool        // keep and show the words of both sides
	Node     string      // the name of this server
	Version  string
	Logbooks string // the folder of the logbooks; "" for none
}

// Limits of the queue.
const (
	maxNotes   = 4096
	maxWaiting = 4 << 20  // bytes of the events in it
	maxEvent   = 64 << 10 // bytes of one event
	tidyEvery  = time.Second
)

// Console is safe for concurrent use. The methods that get notes never wait for a reader.
type Console struct {
	cfg     Config
	keys    atomic.Pointer[apikey.Keys]
	notes   chan func(*book)
	waiting atomic.Int64
	dropped atomic.Uint64
	quit    chan struct{}
	once    sync.Once
	done    chan struct{}
	reading sync.Mutex // a logbook

	mu      sync.Mutex
	book    book
	readers map[string]int // streams of events, by the name of the operator's key
}

// New returns a Console. The caller closes it.
func New(cfg Config) *Console {
	c := &Console{
		cfg: cfg, notes: make(chan func(*book), maxNotes), quit: make(chan struct{}), done: make(chan struct{}),
		book: book{calls: map[string]*call{}}, readers: map[string]int{},
	}
	c.SetKeys(cfg.Keys)
	go c.run()
	return c
}

// SetKeys replaces the operators' keys. The streams of a key that is gone end.
func (c *Console) SetKeys(keys apikey.Keys) { c.keys.Store(&keys) }

// EndStreams ends the streams of events, and those that begin later at once. The Console takes no further notes.
func (c *Console) EndStreams() { c.once.Do(func() { close(c.quit) }) }

// Close ends the streams of events, and returns when the Console's goroutine has ended, or with the error of ctx.
func (c *Console) Close(ctx context.Context) error {
	c.EndStreams()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("console: %w", ctx.Err())
	}
}

// run takes the notes.
func (c *Console) run() {
	defer close(c.done)
	tidy := time.NewTicker(tidyEvery)
	defer tidy.Stop()
	for {
		note := (*book).shrink
		select {
		case <-c.quit:
			return
		case <-tidy.C:
		case note = <-c.notes:
		}
		c.mu.Lock()
		note(&c.book)
		c.mu.Unlock()
	}
}

// tell queues a note of a session's goroutine, or drops it.
func (c *Console) tell(note func(*book)) bool {
	select {
	case c.notes <- note:
		return true
	default:
		c.dropped.Add(1)
		return false
	}
}

// must queues a note that the book needs: that a call begins or ends. The Console takes it soon, because it waits for nobody.
func (c *Console) must(note func(*book)) {
	select {
	case c.notes <- note:
	case <-c.quit:
	}
}

// Begins notes that a call has begun.
func (c *Console) Begins(id, session, principal, transport string, since time.Time) {
	c.must(func(b *book) {
		b.begin(Call{Session: session, Call: id, Key: principal, Transport: transport, Since: since})
	})
}

// Ends notes that a session is over.
func (c *Console) Ends(session string) {
	now := time.Now()
	c.must(func(b *book) { b.end(session, now) })
}

// Step notes a transition. The name of a machine of one turn or response follows the session's id and a point.
func (c *Console) Step(session string, st coord.Step) {
	if st.Why != "" { // the machine ignores the event
		return
	}
	now := time.Now()
	c.tell(func(b *book) {
		session, _, _ := strings.Cut(session, ".")
		s, reason := Step{At: now, Machine: st.Machine, From: st.From.Name(), Event: st.Event.Name(), Action: st.Action, To: st.To.Name()}, ""
		for _, f := range st.Effects {
			s.Effects = append(s.Effects, f.Name())
			if stop, is := f.(conn.StopChildren); is {
				reason = stop.Reason.String()
			}
		}
		b.step(session, s, reason)
	})
}

// Timed notes the times of a turn that was answered. spoke is the end of the user's speech.
func (c *Console) Timed(session string, t *wire.AntiphonTurnMetrics, spoke time.Time) {
	one := Turn{spoke, t.CommitMS, t.TranscriptMS, t.FirstTokenMS, t.FirstAudioMS, t.FirstPacketMS, t.PlaybackEndMS, t.AheadMS}
	c.tell(func(b *book) { b.turn(session, one) })
}

// How the events begin that the Console reads, as wire writes them.
var (
	failures = begins("error", "response.done", "conversation.item.input_audio_transcription.failed")
	words    = begins("conversation.item.added", "conversation.item.input_audio_transcription.completed", "response.output_audio_transcript.done",
		"response.output_text.done", "conversation.item.truncated", "conversation.item.deleted", "antiphon.response.piece")
)

func begins(types ...string) (all [][]byte) {
	for _, t := range types {
		all = append(all, []byte(`{"type":"`+t+`"`))
	}
	return all
}

// Event notes an event of the server: errors, and with Config.Words what is said. It does not keep text.
func (c *Console) Event(session, dir string, text []byte) {
	is := func(begin []byte) bool { return bytes.HasPrefix(text, begin) }
	if dir != "server" || len(text) > maxEvent || !slices.ContainsFunc(failures, is) && (!c.cfg.Words || !slices.ContainsFunc(words, is)) {
		return
	}
	now, size := time.Now(), int64(len(text))
	if c.waiting.Add(size) > maxWaiting {
		c.waiting.Add(-size)
		c.dropped.Add(1)
		return
	}
	text = bytes.Clone(text)
	if !c.tell(func(b *book) {
		c.waiting.Add(-size)
		if e, err := wire.DecodeServer(text); err == nil {
			c.event(b, session, e, now)
		}
	}) {
		c.waiting.Add(-size)
	}
}

// event notes an event in the book.
func (c *Console) event(b *book, session string, e wire.ServerEvent, now time.Time) {
	fault := func(code, message string) {
		if !c.cfg.Words {
			message = ""
		}
		b.fault(session, Fault{now, code, message})
	}
	switch e := e.(type) {
	case *wire.ErrorEvent:
		fault(e.Error.Code, e.Error.Message)
	case *wire.ConversationItemInputAudioTranscriptionFailed:
		fault(e.Error.Code, e.Error.Message)
	case *wire.ResponseDone:
		if d := e.Response.StatusDetails; d != nil && d.Error != nil {
			fault(d.Error.Code, "")
		}
	case *wire.ConversationItemDeleted:
		b.forget(session, e.ItemID)
	}
	if item, who := itemOf(e); c.cfg.Words && item != "" {
		if l := b.line(session, item, who); l != nil {
			l.take(e)
		}
	}
}

// itemOf returns the item of an event that has words, and who says it if the event may begin its line.
func itemOf(e wire.ServerEvent) (item, who string) {
	switch e := e.(type) {
	case *wire.ConversationItemAdded:
		if e.Item.Type == wire.ItemMessage && e.Item.Role == "user" {
			return e.Item.ID, "user"
		}
	case *wire.ConversationItemInputAudioTranscriptionCompleted:
		return e.ItemID, "user"
	case *wire.ResponseOutputAudioTranscriptDone:
		return e.ItemID, "agent"
	case *wire.ResponseOutputTextDone:
		return e.ItemID, "agent"
	case *wire.AntiphonResponsePiece:
		return e.ItemID, "agent"
	case *wire.ConversationItemTruncated:
		return e.ItemID, ""
	}
	return "", ""
}

// take changes a line by an event of its item.
func (l *Line) take(e wire.ServerEvent) {
	said := func(text string) { l.Text = short(cmp.Or(text, l.Text)) }
	switch e := e.(type) {
	case *wire.ConversationItemAdded:
		for _, part := range e.Item.Content {
			said(part.Text)
		}
	case *wire.ConversationItemInputAudioTranscriptionCompleted:
		said(e.Transcript)
	case *wire.ResponseOutputAudioTranscriptDone:
		said(e.Transcript)
	case *wire.ResponseOutputTextDone:
		said(e.Text)
	case *wire.AntiphonResponsePiece:
		l.piece(piece{e.AudioStartMS, e.AudioEndMS, e.FirstCharacter, e.Characters})
	case *wire.ConversationItemTruncated:
		l.cut(e.AudioEndMS)
	}
}

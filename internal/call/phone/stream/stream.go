package stream

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/antiphon-rt/antiphon/internal/call/link"
	"github.com/antiphon-rt/antiphon/internal/call/phone"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

// A Stream: reads and writes the messages of one telephone, and ends the call in time.

// Limits of one telephone.
const (
	// maxMessage is above the largest message that Asterisk sends or takes, which has 65,500 bytes.
	maxMessage = 72 << 10
	// maxWaiting is how many bytes may wait to be written: half a minute of G.711.
	maxWaiting = 256 << 10
	// startsWithin is how long a telephone may take to say who it is.
	startsWithin = 10 * time.Second
	// idle is how long a telephone may send nothing.
	idle = 30 * time.Second
	// writeTimeout is how long a telephone may take to read one message.
	writeTimeout = 5 * time.Second
	// closesWithin is how long the end of a connection may take, twice: to write what waits, and to close.
	closesWithin = 900 * time.Millisecond
)

// Start is what a telephone says of its call.
type Start struct {
	// Call is the telephone's own name for the call.
	Call string
	// Format is the format of the audio, in the words of the telephone.
	Format string
}

// message is a message in one of the two forms of a WebSocket. media says that it is audio, or belongs to the audio before it: a flush drops it.
type message struct {
	data  []byte
	text  bool
	media bool
}

// event is what a message of the telephone says.
type event struct {
	start  *Start
	audio  []byte
	digit  byte
	mark   uint64
	xoff   bool // stop to send audio
	xon    bool // go on with it
	hungUp bool
}

// dialect is how a kind of telephone spells its messages. A nil message has no spelling.
type dialect interface {
	read(data []byte, text bool) (event, error)
	media(audio []byte) message
	mark(n uint64) *message
	command(c command) *message
}

// command is what a server tells a telephone.
type command uint8

const (
	answer command = iota
	hangUp
	flush
	pause
	goOn
)

// Stream is one telephone on a WebSocket.
type Stream struct {
	conn    *websocket.Conn
	dialect dialect
	limiter *link.EventLimiter
	codec   codec
	start   Start
	ctx     context.Context //nolint:containedctx // the life of the stream's goroutines, not of a call
	cancel  context.CancelFunc
	gone    chan struct{} // closed when Run has returned
	writer  sync.WaitGroup
	coded   []byte

	mu      sync.Mutex
	queue   []message
	waiting int
	xoff    bool
	closed  bool
	failed  error
	wake    chan struct{}
}

// Open reads from conn until the telephone of that kind says who it is. Its messages pass the limiter. After an error it has closed the connection.
func Open(ctx context.Context, conn *websocket.Conn, kind Kind, limiter *link.EventLimiter) (*Stream, error) {
	s := &Stream{conn: conn, dialect: kind.dialect(), limiter: limiter, gone: make(chan struct{}), wake: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	conn.SetReadLimit(maxMessage)
	if err := s.open(); err != nil {
		s.cancel()
		s.Refuse(err.Error())
		return nil, err
	}
	s.writer.Go(s.write)
	return s, nil
}

func (s *Stream) open() error {
	late := time.AfterFunc(startsWithin, s.cancel)
	defer late.Stop()
	for {
		e, err := s.next()
		switch {
		case s.ctx.Err() != nil:
			return fmt.Errorf("the telephone did not begin within %v", startsWithin)
		case err != nil:
			return err
		case e.start == nil && (e.audio != nil || e.hungUp):
			return errors.New("the telephone sends audio, or ends, before it begins")
		case e.start != nil:
			s.start = *e.start
			s.codec, err = codecOf(s.start.Format)
			return err
		}
	}
}

// Start returns what the telephone has said of its call.
func (s *Stream) Start() Start { return s.start }

// Refuse closes the connection of a telephone that gets no call. The telephone gets the reason.
func (s *Stream) Refuse(why string) {
	s.end(func() {
		_ = s.conn.Close(websocket.StatusPolicyViolation, strings.ToValidUTF8(why[:min(len(why), 120)], ""))
	})
}

// Transport returns s with what its telephone can do.
func (s *Stream) Transport() phone.Transport {
	switch {
	case s.dialect.command(pause) == nil:
		return flushing{s}
	case s.dialect.mark(1) == nil:
		return pausing{s}
	}
	return marking{pausing{s}}
}

// Run gives l what the telephone sends, and returns when the connection has ended. The call is answered first.
func (s *Stream) Run(l *phone.Link) {
	defer close(s.gone)
	_ = s.tell(answer) // an error ends the connection
	quiet := time.AfterFunc(idle, s.cancel)
	defer quiet.Stop()
	var pcm []int16
	for {
		e, err := s.next()
		if err != nil {
			l.Ended(s.why(err))
			return
		}
		quiet.Reset(idle)
		switch {
		case e.hungUp:
			l.Ended(link.ErrHungUp)
			return
		case e.audio != nil:
			pcm = s.codec.decode(pcm[:0], e.audio)
			l.Audio(pcm)
		case e.digit != 0:
			l.Digit(e.digit)
		case e.mark != 0:
			l.Marked(e.mark)
		case e.xoff || e.xon:
			s.hold(e.xoff)
		}
	}
}

// why returns the error for the end of the connection: a telephone that closed it has hung up.
func (s *Stream) why(err error) error {
	if status := websocket.CloseStatus(err); status == websocket.StatusNormalClosure || status == websocket.StatusGoingAway {
		return fmt.Errorf("%w: %w", link.ErrHungUp, err)
	}
	return fmt.Errorf("%w: %w", link.ErrUnreachable, err)
}

// next reads one message. Its data is the stream's until the next call.
func (s *Stream) next() (event, error) {
	kind, data, err := s.conn.Read(s.ctx)
	if err != nil {
		return event{}, err
	}
	s.limiter.Wait(len(data), s.ctx.Done())
	return s.dialect.read(data, kind == websocket.MessageText)
}

// Traits implements phone.Transport.
func (s *Stream) Traits() phone.Traits {
	return phone.Traits{Rate: s.codec.rate, Ahead: phone.MaxAhead}
}

// Send implements phone.Transport.
func (s *Stream) Send(pcm []int16, _ bool) error {
	s.coded = s.codec.encode(s.coded[:0], pcm)
	return s.push(s.dialect.media(s.coded))
}

// HangUp implements phone.Transport.
func (s *Stream) HangUp() {
	_ = s.tell(hangUp) // the connection ends in any case
	s.finish()
	s.end(func() {
		s.writer.Wait()
		_ = s.conn.Close(websocket.StatusNormalClosure, "")
	})
	<-s.gone
}

// end runs f, which closes the connection, and breaks the connection when f takes too long.
func (s *Stream) end(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	late := time.AfterFunc(closesWithin, func() {
		s.cancel()
		_ = s.conn.CloseNow()
	})
	<-done
	late.Stop()
	s.cancel()
	s.writer.Wait()
	_ = s.conn.CloseNow()
}

// finish lets nothing more be queued.
func (s *Stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.wakeWriter()
}

func (s *Stream) wakeWriter() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

func (s *Stream) tell(c command) error {
	if m := s.dialect.command(c); m != nil {
		return s.push(*m)
	}
	return nil
}

func (s *Stream) push(m message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.failed != nil:
		return s.failed
	case s.closed:
		return link.ErrClosed
	case s.waiting+len(m.data) > maxWaiting:
		return link.ErrBackpressure
	}
	s.queue = append(s.queue, m)
	s.waiting += len(m.data)
	s.wakeWriter()
	return nil
}

// drop removes the audio that waits to be written.
func (s *Stream) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.queue[:0]
	s.waiting = 0
	for _, m := range s.queue {
		if !m.media {
			kept = append(kept, m)
			s.waiting += len(m.data)
		}
	}
	clear(s.queue[len(kept):])
	s.queue = kept
}

// hold stops or continues the writing of audio.
func (s *Stream) hold(xoff bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.xoff = xoff
	s.wakeWriter()
}

// pop removes and returns the first message that may be written. more is false if none will follow.
func (s *Stream) pop() (m message, ok, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range s.queue {
		if m.media && s.xoff && !s.closed {
			continue
		}
		s.queue = append(s.queue[:i], s.queue[i+1:]...)
		s.waiting -= len(m.data)
		return m, true, true
	}
	return message{}, false, !s.closed
}

// write writes what waits until nothing will follow, or until the telephone is gone: then the reader's error says why.
func (s *Stream) write() {
	for {
		m, ok, more := s.pop()
		switch {
		case ok:
			if err := s.writeOne(m); err != nil {
				s.mu.Lock()
				s.failed, s.queue = err, nil
				s.mu.Unlock()
				_ = s.conn.CloseNow() // the reader reports the end
				return
			}
			continue
		case !more:
			return
		}
		select {
		case <-s.wake:
		case <-s.ctx.Done():
			return
		}
	}
}

func (s *Stream) writeOne(m message) error {
	ctx, cancel := context.WithTimeout(s.ctx, writeTimeout)
	defer cancel()
	kind := websocket.MessageBinary
	if m.text {
		kind = websocket.MessageText
	}
	return s.conn.Write(ctx, kind, m.data)
}

// flushing is a Stream whose telephone can drop what it has, and sends marks back.
type flushing struct{ *Stream }

// Flush implements phone.Flusher.
func (s flushing) Flush() error {
	s.drop()
	return s.tell(flush)
}

// Mark implements phone.Marker.
func (s flushing) Mark(n uint64) error { return s.push(*s.dialect.mark(n)) }

// pausing is a Stream whose telephone can stop, continue, and drop what it has.
type pausing struct{ *Stream }

// Flush implements phone.Flusher.
func (s pausing) Flush() error { return flushing(s).Flush() }

// Pause implements phone.Queue.
func (s pausing) Pause() error { return s.tell(pause) }

// Continue implements phone.Queue.
func (s pausing) Continue() error { return s.tell(goOn) }

// marking is a pausing Stream that sends marks back.
type marking struct{ pausing }

// Mark implements phone.Marker.
func (s marking) Mark(n uint64) error { return flushing(s.pausing).Mark(n) }

var (
	_ phone.Marker = flushing{}
	_ phone.Queue  = pausing{}
	_ phone.Queue  = marking{}
)

// codec is one format of telephone audio.
type codec struct {
	rate   int
	encode func(dst []byte, pcm []int16) []byte
	decode func(dst []int16, audio []byte) []int16
}

// codecOf returns the codec of a format in the words of any telephone.
func codecOf(format string) (codec, error) {
	switch format {
	case "ulaw", "audio/x-mulaw", "PCMU":
		return codec{8000, voice.AppendMuLaw, voice.MuLawToPCM16}, nil
	case "alaw", "audio/x-alaw", "PCMA":
		return codec{8000, voice.AppendALaw, voice.ALawToPCM16}, nil
	}
	rate := map[string]int{"slin": 8000, "slin16": 16000, "slin24": 24000, "slin48": 48000}[format]
	if rate == 0 {
		return codec{}, fmt.Errorf("the telephone speaks %.40q: let it speak ulaw, alaw, slin or slin16", format)
	}
	return codec{rate, voice.PCM16ToBytes, voice.BytesToPCM16}, nil
}

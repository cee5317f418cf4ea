package stt

// Recognition over a Realtime transcription WebSocket: the audio goes out as it comes, one connection for each utterance.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/backend/growing"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// RealtimeOptions configure a Realtime transcriber. Server is required.
type RealtimeOptions struct {
	Server   remote.Config // the addresses, the key and the deadlines; Stage is set by NewRealtime
	Form     SocketForm    // the zero value is SocketOpenAI
	Model    string        // it replaces the model that a session names; empty: the session's
	Language string        // ISO 639-1, for sessions that name none
	Prompt   string        // words to expect, for sessions that name none
}

// Realtime is a pipeline.Transcriber whose engine is a server with a Realtime transcription WebSocket. Its methods may be called by several
// goroutines at a time. The caller closes it. When a connection breaks, the utterance goes on over a second one.
type Realtime struct {
	pipeline.Transcriber
	endpoint *endpoint
}

// endpoint is the backend.Engine of a server.
type endpoint struct {
	*engine
	form   SocketForm
	answer time.Duration // longest wait for the text
	pause  time.Duration // longest write
}

// NewRealtime returns a Realtime transcriber, or an error that says which setting is wrong. It does not call the server.
func NewRealtime(o RealtimeOptions) (*Realtime, error) {
	if o.Form.update == nil {
		o.Form = SocketOpenAI
	}
	if o.Form.name != SocketOpenAI.name && o.Model == "" {
		return nil, fmt.Errorf("model: servers of the form %s want the name of a model", o.Form.name)
	}
	o.Server.Stage = pipeline.StageTranscriber
	client, err := remote.New(o.Server)
	if err != nil {
		return nil, err
	}
	e := &endpoint{form: o.Form, answer: remote.DefaultFirstByte, pause: remote.DefaultIdle}
	e.engine = &engine{client: client, o: Options{Model: o.Model, Language: o.Language, Prompt: o.Prompt, Server: o.Server}}
	if o.Server.FirstByte > 0 {
		e.answer = o.Server.FirstByte
	}
	if o.Server.Idle > 0 {
		e.pause = o.Server.Idle
	}
	return &Realtime{backend.InProcess(backend.Reconnecting(e)), e}, nil
}

// NegotiateConfig implements pipeline.ConfigNegotiator. A configured model replaces the session's.
func (r *Realtime) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	if r.endpoint.o.Model != "" {
		c.Model = ""
	}
	c.Words = false // the protocol has no times of words
	if r.endpoint.form.name != SocketOpenAI.name {
		c.Prompt = ""
	}
	if r.endpoint.form.name == SocketVLLM.name {
		c.Language = ""
	}
	return c, nil
}

// Warm has a second of silence transcribed, so that the server loads its model.
func (r *Realtime) Warm(ctx context.Context) error {
	s, err := r.Open(ctx, pipeline.TranscribeConfig{})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := errors.Join(s.Write(make([]float32, pipeline.InputRate)), s.CloseInput()); err != nil {
		return err
	}
	for result := range s.Results() {
		err = result.Err
	}
	return err
}

// Component returns the present state: it has failed if the last utterance has.
func (r *Realtime) Component() pipeline.Component {
	return r.endpoint.component("realtime " + r.endpoint.form.name)
}

// Close ends the connections that no utterance uses.
func (r *Realtime) Close() error {
	r.endpoint.client.Close()
	return nil
}

func (e *endpoint) Info() backend.Info {
	return backend.Info{Name: e.form.name, Detail: e.detail(), Live: true}
}

func (e *endpoint) Open(ctx context.Context, c backend.Config) (backend.Stream, error) {
	model, language, prompt := e.settings(c)
	conn, at, err := e.client.Socket(ctx, e.form.path(model, language))
	if err != nil {
		return nil, e.last.Note(ctx, err)
	}
	conn.SetReadLimit(maxEvent)
	ctx, cancel := context.WithCancel(ctx)
	s := &socket{
		endpoint: e, conn: conn, at: at, ctx: ctx, cancel: cancel, show: func(backend.Update) {},
		ended: make(chan struct{}), heard: make(chan struct{}, 1), text: newTexts(),
	}
	if e.form.rate != pipeline.InputRate {
		if s.up, err = voice.NewResampler(pipeline.InputRate, e.form.rate); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	err = s.send(ctx, e.form.update(model, language, prompt))
	if err == nil && e.form.opening != nil {
		err = s.send(ctx, e.form.opening)
	}
	if err != nil {
		_ = s.Close() // the connection is broken
		return nil, e.last.Note(ctx, err)
	}
	return s, nil
}

// socket is one utterance: a backend.Stream and backend.Announcer.
type socket struct {
	*endpoint
	conn   *websocket.Conn
	at     string          // the address, for errors
	ctx    context.Context //nolint:containedctx // the connection ends with it
	cancel context.CancelFunc
	up     *voice.Resampler // nil at the rate of the pipeline
	show   func(backend.Update)
	size   int // samples so far

	reading sync.WaitGroup
	once    sync.Once
	heard   chan struct{} // gets a value for each event
	ended   chan struct{} // closed when the text is whole or the connection has failed
	err     error         // valid after that
	mu      sync.Mutex    // guards text
	text    *texts
}

func (s *socket) Announce(show func(backend.Update)) { s.show = show }

func (s *socket) Feed(ctx context.Context, pcm []float32) (backend.Update, error) {
	s.once.Do(func() { s.reading.Go(s.read) })
	if s.size += len(pcm); s.size > int(growing.MaxAudio.Seconds())*pipeline.InputRate {
		return backend.Update{}, fmt.Errorf("%w: an utterance may last %v", pipeline.ErrTooLong, growing.MaxAudio)
	}
	if s.up != nil {
		pcm = s.up.Append(nil, pcm)
	}
	if err := s.append(ctx, pcm); err != nil {
		return backend.Update{}, s.last.Note(ctx, err)
	}
	return backend.Update{}, nil
}

// append sends audio at the server's rate.
func (s *socket) append(ctx context.Context, pcm []float32) error {
	select {
	case <-s.ended:
		if s.err != nil {
			return s.err
		}
		return s.wrong(errors.New("ended the utterance before its audio has ended"))
	default:
	}
	if len(pcm) == 0 {
		return nil
	}
	return s.send(ctx, object{"type": "input_audio_buffer.append", "audio": voice.PCM16ToBytes(nil, voice.FloatToPCM16(nil, pcm))})
}

func (s *socket) send(ctx context.Context, event any) error {
	b, err := json.Marshal(event)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.pause)
	defer cancel()
	err = s.conn.Write(ctx, websocket.MessageText, b)
	switch {
	case err == nil:
		return nil
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case ctx.Err() != nil:
		return s.wrong(fmt.Errorf("took no data for %v", s.pause))
	}
	select {
	case <-s.ended: // the reader knows why the connection broke
		if s.err != nil {
			return s.err
		}
	case <-time.After(100 * time.Millisecond):
	}
	return s.lost(err)
}

func (s *socket) Finish(ctx context.Context) (backend.Result, error) {
	s.once.Do(func() { s.reading.Go(s.read) })
	if s.size == 0 {
		return backend.Result{}, nil
	}
	var err error
	if s.up != nil {
		err = s.append(ctx, s.up.Flush(nil))
	}
	if err == nil {
		s.mu.Lock()
		s.text.commit()
		s.mu.Unlock()
		err = s.send(ctx, s.form.closing)
	}
	if err == nil {
		err = s.wait(ctx)
	}
	return backend.Result{Text: s.text.whole()}, s.last.Note(ctx, err)
}

// wait waits for the whole text. Each event of the server gives it more time.
func (s *socket) wait(ctx context.Context) error {
	late := time.NewTimer(s.answer)
	defer late.Stop()
	for {
		select {
		case <-s.ended:
			return s.err
		case <-s.heard:
			late.Reset(s.answer)
		case <-late.C:
			return s.wrong(fmt.Errorf("sent nothing for %v after the end of the audio", s.answer))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Close implements backend.Stream. It does not wait for the server.
func (s *socket) Close() error {
	s.cancel()
	_ = s.conn.CloseNow() // it may be broken already
	s.reading.Wait()
	return nil
}

// read follows the events of the server.
func (s *socket) read() {
	defer close(s.ended)
	for {
		kind, b, err := s.conn.Read(s.ctx)
		switch {
		case s.ctx.Err() != nil:
			s.err = s.ctx.Err()
		case errors.Is(err, websocket.ErrMessageTooBig):
			s.err = s.wrong(fmt.Errorf("sent an event of more than %d bytes", maxEvent))
		case err != nil:
			s.err = s.lost(err)
		case kind != websocket.MessageText:
			s.err = s.wrong(errors.New("sent a binary event"))
		default:
			var whole bool
			if whole, s.err = s.take(b); !whole && s.err == nil {
				select {
				case s.heard <- struct{}{}:
				default:
				}
				continue
			}
		}
		return
	}
}

// take takes an event. whole: the text is whole.
func (s *socket) take(b []byte) (whole bool, err error) {
	var e said
	if json.Unmarshal(b, &e) != nil {
		return false, s.wrong(fmt.Errorf("sent an event that cannot be read: %s", remote.FirstLine(b, s.o.Server.Key)))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Type == "error" || e.Type == "conversation.item.input_audio_transcription.failed" {
		message, code := e.complaint()
		if code == "input_audio_buffer_commit_empty" || contains(message, "buffer too small") || contains(message, "buffer is empty") {
			s.text.nothing()
			return s.text.complete(), nil
		}
		if s.form.pass != nil && s.form.pass(message) {
			return false, nil
		}
		return false, s.wrong(fmt.Errorf("answered with an error: %s", remote.FirstLine([]byte(message), s.o.Server.Key)))
	}
	changed := s.text.take(&e)
	if s.text.size() > maxText {
		return false, s.wrong(fmt.Errorf("sent more than %d bytes of text for one utterance", maxText))
	}
	if so := s.text.whole(); changed && so != "" {
		s.show(backend.Update{Partial: so})
	}
	return s.text.complete(), nil
}

// wrong returns the error for something that the server did.
func (s *socket) wrong(cause error) error {
	return &pipeline.StageError{Stage: pipeline.StageTranscriber, Err: fmt.Errorf("%s %w", s.at, cause)}
}

// lost returns the error for a connection that broke.
func (s *socket) lost(err error) error {
	cause := strings.TrimPrefix(err.Error(), "failed to get reader: ")
	var closed websocket.CloseError
	if errors.As(err, &closed) {
		cause = remote.FirstLine(fmt.Appendf(nil, "closed with %d %s", closed.Code, closed.Reason), s.o.Server.Key)
	}
	return s.wrong(fmt.Errorf("%w: %s", backend.ErrLost, cause))
}

// contains reports whether a text has a part, in any case of letters.
func contains(text, part string) bool { return strings.Contains(strings.ToLower(text), part) }

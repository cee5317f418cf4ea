package backend

// This file has the engine's side of a connection between the server and a back-end process.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// ServeStdio serves the engine on the standard input and output until the input ends. Nothing else may write to the standard
// output.
func ServeStdio(ctx context.Context, e Engine) error {
	return Serve(ctx, struct {
		io.Reader
		io.Writer
	}{os.Stdin, os.Stdout}, e)
}

// Serve speaks the engine's side of the protocol in the package comment on rw until rw ends. It returns nil if rw ends between
// frames. It does not close the engine.
func Serve(ctx context.Context, rw io.ReadWriter, e Engine) error {
	s := &serving{ctx: ctx, rw: rw, engine: e}
	if err := writeJSON(rw, kindHello, e.Info()); err != nil {
		return err
	}
	for {
		k, body, err := readFrame(rw)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := s.take(k, body); err != nil {
			return err
		}
	}
}

// serving is the engine's side of one connection.
type serving struct {
	ctx    context.Context
	rw     io.ReadWriter
	engine Engine
	stream Stream // the open utterance; nil between utterances and after one has failed
	live   bool
	shown  Update
}

func (s *serving) take(k kind, body []byte) error {
	switch k {
	case kindConfig:
		return s.open(body)
	case kindAudio:
		return s.feed(body)
	case kindEnd:
		return s.finish()
	case kindAbandon:
		s.drop()
		return writeFrame(s.rw, kindDropped, nil)
	case kindHello, kindReady, kindUnimplemented, kindUpdate, kindFinal, kindDropped, kindError,
		kindSpeech, kindSound, kindSpoken:
	}
	return fmt.Errorf("%w: frame %q from the client", ErrProtocol, byte(k))
}

func (s *serving) open(body []byte) error {
	var c Config
	if err := json.Unmarshal(body, &c); err != nil {
		return fmt.Errorf("%w: configuration: %w", ErrProtocol, err)
	}
	s.drop()
	stream, err := s.engine.Open(s.ctx, c)
	switch {
	case errors.Is(err, ErrUnimplemented):
		return writeFrame(s.rw, kindUnimplemented, []byte(err.Error()))
	case err != nil:
		return s.fail(err)
	}
	s.stream, s.live, s.shown = stream, c.Live, Update{}
	return writeFrame(s.rw, kindReady, nil)
}

func (s *serving) feed(body []byte) error {
	pcm, err := samplesOf(body)
	if err != nil || s.stream == nil { // after a failure the rest of the utterance's audio may still arrive
		return err
	}
	u, err := s.stream.Feed(s.ctx, pcm)
	if err != nil {
		return s.fail(err)
	}
	if !s.live || u == s.shown {
		return nil
	}
	s.shown = Update{Partial: u.Partial, Through: u.Through}
	return writeJSON(s.rw, kindUpdate, message{
		Text: u.Partial, EOU: u.Boundary == EndOfUtterance, Backchannel: u.Boundary == EndOfBackchannel, ThroughMS: u.Through.Milliseconds(),
	})
}

func (s *serving) finish() error {
	if s.stream == nil {
		return nil
	}
	r, err := s.stream.Finish(s.ctx)
	if err != nil {
		return s.fail(err)
	}
	s.drop()
	return writeJSON(s.rw, kindFinal, message{
		Text: r.Text, EOU: r.Boundary == EndOfUtterance, Backchannel: r.Boundary == EndOfBackchannel, Words: r.Words,
	})
}

// fail closes the utterance and sends the error to the server.
func (s *serving) fail(err error) error {
	s.drop()
	text := err.Error()
	return writeFrame(s.rw, kindError, []byte(text[:min(len(text), 4096)]))
}

// drop closes the open utterance, if there is one. It ignores the error of Close.
func (s *serving) drop() {
	if s.stream != nil {
		_ = s.stream.Close()
		s.stream = nil
	}
}

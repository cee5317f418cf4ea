package backend

// This file speaks clauses in back-end processes: the engine's side.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Speaker turns text into speech. It runs in a back-end process.
type Speaker interface {
	// Speak speaks one clause. It calls emit with one mono chunk after another, at Info().Rate, as soon as it has them. emit may use the
	// slice only during the call. When emit returns an error, Speak returns soon.
	Speak(ctx context.Context, s Speech, emit func(pcm []float32) error) error
	// Info describes the engine. Its Rate is set.
	Info() Info
	// Close ends the engine.
	Close() error
}

// Speech is one clause to speak.
type Speech struct {
	Text  string  `json:"text"`
	Voice string  `json:"voice,omitempty"` // empty: the default of the engine
	Speed float64 `json:"speed,omitempty"` // 1 is normal, 2 is twice as fast, 0 means 1
}

// ServeSpeakerStdio serves the speaker on the standard input and output until the input ends. Nothing else may write to the standard
// output.
func ServeSpeakerStdio(ctx context.Context, s Speaker) error {
	return ServeSpeaker(ctx, os.Stdin, os.Stdout, s)
}

var errAbandoned = errors.New("the server has abandoned the clause")

// ServeSpeaker speaks the engine's side of the protocol in the package comment until r ends. It returns nil if r ends between frames. It does
// not close the speaker. It reads ahead, so that the server can abandon a clause while it is being spoken: so r must end, or be closed, soon
// after ServeSpeaker has returned an error.
func ServeSpeaker(ctx context.Context, r io.Reader, w io.Writer, s Speaker) error {
	if err := writeJSON(w, kindHello, s.Info()); err != nil {
		return err
	}
	frames, quit := make(chan frame), make(chan struct{})
	ended := make(chan error, 1)
	defer close(quit)
	go func() {
		defer close(frames)
		for {
			k, body, err := readFrame(r)
			if err != nil {
				ended <- err
				return
			}
			select {
			case frames <- frame{k, body}:
			case <-quit:
				return
			}
		}
	}()
	v := &speaking{ctx: ctx, w: w, speaker: s, frames: frames}
	for f := range frames {
		if err := v.take(f); err != nil {
			return err
		}
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// speaking is the engine's side of one connection.
type speaking struct {
	ctx     context.Context //nolint:containedctx // it is the context of the connection
	w       io.Writer
	speaker Speaker
	frames  <-chan frame
}

func (v *speaking) take(f frame) error {
	switch f.kind { //nolint:exhaustive // each other kind is an error
	case kindSpeech:
		return v.speak(f.body)
	case kindAbandon: // the clause was over when the server abandoned it
		return writeFrame(v.w, kindDropped, nil)
	}
	return fmt.Errorf("%w: frame %q between clauses", ErrProtocol, byte(f.kind))
}

// speak speaks one clause. Before each piece of audio it looks whether the server has abandoned the clause.
func (v *speaking) speak(body []byte) error {
	var s Speech
	if err := json.Unmarshal(body, &s); err != nil {
		return fmt.Errorf("%w: clause: %w", ErrProtocol, err)
	}
	var broken error // of the connection
	err := v.speaker.Speak(v.ctx, s, func(pcm []float32) error {
		select {
		case f, ok := <-v.frames:
			if !ok || f.kind != kindAbandon {
				broken = fmt.Errorf("%w: frame %q in a clause", ErrProtocol, byte(f.kind))
				return broken
			}
			return errAbandoned
		default:
		}
		broken = writeAudio(v.w, kindSound, pcm)
		return broken
	})
	switch {
	case broken != nil:
		return broken
	case errors.Is(err, errAbandoned):
		return writeFrame(v.w, kindDropped, nil)
	case err != nil:
		text := err.Error()
		return writeFrame(v.w, kindError, []byte(text[:min(len(text), 4096)]))
	}
	return writeFrame(v.w, kindSpoken, nil)
}

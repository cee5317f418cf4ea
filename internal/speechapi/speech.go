package speechapi

// POST /v1/audio/speech: speaks a text.

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/jsonbody"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// speechRequest is the body of a request for speech. A format that is absent is WAV, since the server has no encoder for MP3.
type speechRequest struct {
	Model        string          `json:"model"`
	Input        string          `json:"input"`
	Voice        json.RawMessage `json:"voice"` // a name, or {"id": name}
	Speed        *float64        `json:"speed"`
	Format       string          `json:"response_format"`
	StreamFormat string          `json:"stream_format"`
}

// Speech answers a request for speech.
func (h *Handler) Speech(w http.ResponseWriter, r *http.Request, principal string) *answer.Problem {
	var q speechRequest
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return answer.BadBody(err)
	}
	if bad, is := errors.AsType[*jsonbody.Error](jsonbody.Decode(text, &q)); is {
		return &answer.Problem{Status: http.StatusBadRequest, Code: "invalid_body", Param: bad.Param, Message: bad.Error()}
	}
	u, p := h.utterance(q)
	if p != nil {
		return p
	}
	done, p := h.enter(principal)
	if p != nil {
		return p
	}
	defer done()
	out := newSpeaker(w, q)
	err = h.speak(r.Context(), q.Input, u, out.write)
	switch {
	case r.Context().Err() != nil:
		return nil // the client is gone
	case err != nil && !out.begun:
		return stageProblem(err)
	case err != nil:
		h.cfg.Logger.Info("speech ends early", "error", err)
		out.fail(stageProblem(err))
	default:
		out.end()
	}
	return nil
}

// utterance checks a request, and returns what each of its clauses has in common.
func (h *Handler) utterance(q speechRequest) (u pipeline.Utterance, p *answer.Problem) {
	if n := utf8.RuneCountInString(q.Input); n == 0 || n > maxInput {
		return u, bad("input", "a text of %d characters; 1 to %d are possible", n, maxInput)
	}
	u.Voice = h.cfg.Voice
	if len(q.Voice) > 0 && string(q.Voice) != "null" {
		var object struct{ ID string }
		if json.Unmarshal(q.Voice, &u.Voice) != nil && (json.Unmarshal(q.Voice, &object) != nil || object.ID == "") {
			return u, bad("voice", "want the name of a voice")
		} else if object.ID != "" {
			u.Voice = object.ID
		}
	}
	if c, is := h.cfg.Pipeline.Synthesizer.(pipeline.VoiceChecker); is {
		if err := c.CheckVoice(u.Voice); err != nil {
			return u, bad("voice", "%v", err)
		}
	}
	if q.Speed != nil {
		if u.Speed = *q.Speed; !(u.Speed >= 0.25 && u.Speed <= 4) {
			return u, bad("speed", "%g; from 0.25 to 4 is possible", u.Speed)
		}
	}
	switch q.Format {
	case "", "wav", "pcm":
	default:
		return u, bad("response_format", "%q; this server makes wav and pcm", q.Format)
	}
	switch q.StreamFormat {
	case "", "audio", "sse":
	default:
		return u, bad("stream_format", "%q; want audio or sse", q.StreamFormat)
	}
	return u, nil
}

// speak synthesizes a text clause by clause.
func (h *Handler) speak(ctx context.Context, text string, u pipeline.Utterance, write func(pcm []int16) error) error {
	speakable := h.cfg.Pipeline.Reader()
	clauses := pipeline.NewClauses()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pieces, wrote := make(chan []int16), make(chan error)
	over := make(chan error, 1)
	go func() {
		over <- h.cfg.Guard.Run(ctx, pipeline.StageSynthesizer, func(w *watchdog.Watch) error {
			for _, clause := range append(clauses.Push(text), clauses.Flush()...) {
				if u.Text = speakable(clause); u.Text == "" {
					continue
				}
				err := h.cfg.Guard.Synthesize(ctx, w, h.cfg.Pipeline.Synthesizer, u, func(pcm []int16) error {
					return hand(ctx, pieces, pcm, wrote) // the client may read slowly
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}()
	for {
		select {
		case pcm := <-pieces:
			err := write(pcm)
			if err != nil {
				cancel()
			}
			select {
			case wrote <- err:
			case err := <-over:
				return err
			}
		case err := <-over:
			return err
		}
	}
}

// hand gives a piece of sound to the goroutine of the request, and waits until it is written: the synthesizer owns the slice.
func hand(ctx context.Context, pieces chan<- []int16, pcm []int16, wrote <-chan error) error {
	select {
	case pieces <- pcm:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-wrote:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// speaker writes sound in the format of a request.
type speaker struct {
	w      http.ResponseWriter
	events *events // nil for plain sound
	wav    bool
	begun  bool
	bytes  []byte
}

func newSpeaker(w http.ResponseWriter, q speechRequest) *speaker {
	s := &speaker{w: w, wav: q.Format != "pcm"}
	if q.StreamFormat == "sse" {
		s.events, s.wav = &events{}, q.Format == "wav"
	}
	return s
}

// begin writes the header of the response, and that of the sound.
func (s *speaker) begin() []byte {
	s.begun = true
	kind := "audio/pcm"
	var header []byte
	if s.wav {
		kind, header = "audio/wav", wav.Header(pipeline.OutputRate, wav.Unknown)
	}
	if s.events != nil {
		*s.events = stream(s.w)
		return header
	}
	s.w.Header().Set("Content-Type", kind)
	s.w.Header().Set("Cache-Control", "no-store")
	return header
}

// write writes a piece of sound. The error says that the client is gone.
func (s *speaker) write(pcm []int16) error {
	s.bytes = s.bytes[:0]
	if !s.begun {
		s.bytes = append(s.bytes, s.begin()...)
	}
	s.bytes = voice.PCM16ToBytes(s.bytes, pcm)
	if s.events != nil {
		return s.events.send(map[string]any{"type": "speech.audio.delta", "audio": s.bytes})
	}
	if _, err := s.w.Write(s.bytes); err != nil {
		return err
	}
	return http.NewResponseController(s.w).Flush()
}

// end ends the response. A text without anything to say gives a sound without samples.
func (s *speaker) end() {
	if !s.begun {
		_ = s.write(nil)
	}
	if s.events != nil {
		_ = s.events.send(map[string]any{"type": "speech.audio.done"})
	}
}

// fail ends a response that has begun: with an error event, or by cutting the connection, so that the client does not take the sound for whole.
func (s *speaker) fail(p *answer.Problem) {
	if s.events != nil {
		s.events.fail(p)
		return
	}
	panic(http.ErrAbortHandler)
}

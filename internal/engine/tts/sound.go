package tts

// The sound of an answer: finds out what it is, reads it while it arrives, and resamples it.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Limits of an answer.
const (
	maxAudio = 3 * time.Minute // of one clause
	maxEvent = 8 << 20         // bytes of one event: some servers send a whole clause in one
)

// sound gives mono samples at a rate while they arrive.
type sound interface {
	// Read reads what has arrived into dst, at least one sample. It returns io.EOF at the end.
	Read(dst []int16) (int, error)
}

// play reads the sound of an answer and gives it to emit.
func (s *Synthesizer) play(ctx context.Context, got *http.Response, emit func(pcm []int16) error) error {
	in, rate, end, err := s.open(got)
	defer end()
	if err != nil {
		return s.explain(got, err)
	}
	up, err := voice.NewResampler(rate, pipeline.OutputRate)
	if err != nil {
		return s.client.Error(got, fmt.Errorf("sends sound at %d Hz: %w", rate, err), "choose another rate or voice at the server")
	}
	return s.copy(ctx, got, up, in, int(maxAudio.Seconds())*rate, emit)
}

// copy resamples the sound and emits it in chunks, up to most samples.
func (s *Synthesizer) copy(ctx context.Context, got *http.Response, up *voice.Resampler, in sound, most int, emit func([]int16) error) error {
	raw := make([]int16, pipeline.MaxChunk)
	var out []int16
	give := func() error {
		for part := range slices.Chunk(out, pipeline.MaxChunk) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := emit(part); err != nil {
				return err
			}
		}
		return nil
	}
	for total := 0; ; {
		n, err := in.Read(raw)
		total += n
		out = up.AppendPCM16(out[:0], raw[:n])
		if errors.Is(err, io.EOF) {
			if out = up.FlushPCM16(out); total == 0 {
				return s.client.Error(got, errors.New("sent no sound"), "check model and voice in the configuration")
			}
			return give()
		}
		if e := give(); e != nil {
			return e
		}
		if err != nil {
			return s.explain(got, err)
		}
		if total > most {
			return s.client.Error(got, fmt.Errorf("sent more than %v of sound for one clause", maxAudio), "")
		}
	}
}

// explain makes the error of a stage of one that has none.
func (s *Synthesizer) explain(got *http.Response, err error) error {
	var stage *pipeline.StageError
	if errors.As(err, &stage) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.client.Error(got, err, "")
}

// open finds out what an answer is. The caller must call end.
func (s *Synthesizer) open(got *http.Response) (in sound, rate int, end func(), err error) {
	end = func() {}
	var source io.Reader = got.Body
	kind, parameters, _ := mime.ParseMediaType(got.Header.Get("Content-Type"))
	if kind == mimeSSE {
		next, stop := iter.Pull2(s.client.Events(got, maxEvent))
		source, end = &eventReader{next: next, key: s.config.Server.Key}, stop
	}
	buffered := bufio.NewReaderSize(source, 16<<10)
	first, err := buffered.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, end, err
	}
	if kind != mimeSSE && string(first) != "RIFF" { // Piper says that its WAV file is text/html
		got.Body = readCloser{buffered, got.Body}
		if err := s.client.Expect(got, soundTypes()...); err != nil {
			return nil, 0, end, err
		}
	}
	if string(first) == "RIFF" {
		file, err := wav.NewReader(buffered)
		if err != nil {
			return nil, 0, end, err
		}
		return file, file.Rate, end, nil
	}
	if err := foreign(buffered, first); err != nil {
		return nil, 0, end, err
	}
	if s.form == (piper{}) || s.config.Format == FormatWAV {
		if len(first) == 0 {
			return nil, 0, end, errors.New("sent no sound")
		}
		return nil, 0, end, errors.New("sent sound that is no WAV file")
	}
	rate = s.config.Rate
	if n, err := strconv.Atoi(parameters["rate"]); err == nil {
		rate = n
	}
	return &pcmReader{in: buffered}, rate, end, nil
}

// readCloser is a body of which something was read already.
type readCloser struct {
	io.Reader
	io.Closer
}

// foreign returns an error for sound that has another format, or is a text. Raw PCM begins with nearly anything, but not with these bytes.
func foreign(in *bufio.Reader, first []byte) error {
	for begin, name := range map[string]string{"ID3": "MP3", "OggS": "Ogg", "fLaC": "FLAC", "\x1aE\xdf\xa3": "WebM"} {
		if bytes.HasPrefix(first, []byte(begin)) {
			return fmt.Errorf("sent %s; want PCM or WAV", name)
		}
	}
	for _, begin := range []string{"<!DO", "<htm", "{\"er", "{\"de", "{\"me"} {
		if string(first) == begin {
			text, _ := in.Peek(in.Buffered())
			return fmt.Errorf("sent a text in place of sound: %s", remote.FirstLine(text, ""))
		}
	}
	return nil
}

// pcmReader reads raw PCM: 16 bit, little endian, mono. A piece may end inside a sample.
type pcmReader struct {
	in   io.Reader
	buf  [2 * pipeline.MaxChunk]byte
	held int // bytes at the begin of buf: 1 for half a sample
}

// errHalf: the sound ends inside a sample.
var errHalf = errors.New("sent sound that ends with half a sample: is it PCM with 16 bits?")

func (r *pcmReader) Read(dst []int16) (int, error) {
	most := min(len(r.buf), 2*len(dst))
	for {
		n, err := r.in.Read(r.buf[r.held:most])
		n += r.held
		whole := n &^ 1
		count := len(voice.BytesToPCM16(dst[:0], r.buf[:whole]))
		if r.held = n - whole; r.held > 0 {
			r.buf[0] = r.buf[whole]
		}
		if errors.Is(err, io.EOF) && r.held > 0 {
			err = errHalf
		}
		if count > 0 || err != nil {
			return count, err
		}
	}
}

// eventReader reads the sound in server-sent events.
type eventReader struct {
	next func() (remote.Event, error, bool)
	key  string
	rest []byte
	done bool
}

// soundEvent is one event of /audio/speech.
type soundEvent struct {
	Type  string
	Audio string // base64
	Delta string // the same, as some servers name it
	Error json.RawMessage
}

func (r *eventReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if err := r.event(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *eventReader) event() error {
	e, err, ok := r.next()
	switch {
	case err != nil:
		return err
	case !ok && r.done, ok && e.Data == "[DONE]":
		return io.EOF
	case !ok:
		return errors.New("ended before the event speech.audio.done")
	}
	var s soundEvent
	if json.Unmarshal([]byte(e.Data), &s) != nil {
		return fmt.Errorf("sent what cannot be read: %s", remote.FirstLine([]byte(e.Data), r.key))
	}
	switch {
	case s.Type == "error" || len(s.Error) > 0 && string(s.Error) != "null":
		return fmt.Errorf("reports: %s", remote.FirstLine([]byte(e.Data), r.key))
	case s.Type == "speech.audio.done":
		r.done = true
		return io.EOF
	case s.Audio == "":
		s.Audio = s.Delta
	}
	if r.rest, err = base64.StdEncoding.DecodeString(s.Audio); err != nil {
		return fmt.Errorf("sent sound that is no base64: %w", err)
	}
	return nil
}

package speechapi

// POST /v1/audio/transcriptions: writes down a recording.

import (
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/watchdog"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// transcriptionRequest is a request for a transcript.
type transcriptionRequest struct {
	config   pipeline.TranscribeConfig
	language string // as the request names it
	format   string
	words    bool // the request asks for the times of words
	segments bool // the request asks for the times of segments
	stream   bool
	pcm      []int16 // the recording at pipeline.InputRate; nil until the file was read
}

// Transcription answers a request for a transcript.
func (h *Handler) Transcription(w http.ResponseWriter, r *http.Request, principal string) *answer.Problem {
	done, p := h.enter(principal)
	if p != nil {
		return p
	}
	defer done()
	q, p := readTranscription(w, r)
	if p != nil {
		return p
	}
	if n, is := h.cfg.Pipeline.Transcriber.(pipeline.ConfigNegotiator); is {
		supported, err := n.NegotiateConfig(q.config)
		if err != nil {
			return bad("language", "%v", err)
		}
		q.config = supported
		if param := q.needsTimes(); param != "" && !supported.Words {
			return noTimes(param)
		}
	}
	if q.stream {
		return h.streamTranscript(w, r, q)
	}
	var last pipeline.TranscriptResult
	err := h.transcribe(r.Context(), q.config, q.pcm, func(t pipeline.TranscriptResult) { last = t })
	if r.Context().Err() != nil {
		return nil // the client is gone
	}
	if err != nil {
		return stageProblem(err)
	}
	return writeTranscript(w, q, last)
}

// readTranscription reads the form of a request.
func readTranscription(w http.ResponseWriter, r *http.Request) (q transcriptionRequest, p *answer.Problem) {
	r.Body = http.MaxBytesReader(w, r.Body, maxRecording+1<<20)
	form, err := r.MultipartReader()
	if err != nil {
		return q, &answer.Problem{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type", Message: "want a form with a file (multipart/form-data)"}
	}
	q.format = formatJSON
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return q, answer.BadBody(err)
		}
		if p := q.take(part); p != nil {
			return q, p
		}
	}
	return q, q.check()
}

// take reads one part of the form. Fields that change nothing here, such as temperature, are read over.
func (q *transcriptionRequest) take(part *multipart.Part) *answer.Problem {
	name := part.FormName()
	if name == "file" {
		return q.recording(part)
	}
	value, err := io.ReadAll(io.LimitReader(part, maxField+1))
	if err != nil {
		return answer.BadBody(err)
	}
	if len(value) > maxField {
		return bad(name, "longer than %d kB", maxField>>10)
	}
	text := string(value)
	switch name {
	case "model":
		q.config.Model = text
	case "language":
		q.config.Language, q.language = text, text
	case "prompt":
		q.config.Prompt = text
	case "stream":
		if q.stream, err = strconv.ParseBool(text); err != nil {
			return bad(name, "%q; want true or false", text)
		}
	case fieldFormat:
		return q.takeFormat(text)
	case fieldTimes, fieldTimes + "[]":
		return q.takeTimes(text)
	}
	return nil
}

// recording reads the file, and resamples it while it arrives: what is too long is refused before it takes more memory than a recording may.
func (q *transcriptionRequest) recording(file io.Reader) *answer.Problem {
	sound, err := wav.NewReader(file)
	if err != nil {
		return badFile(err)
	}
	resampler, err := voice.NewResampler(sound.Rate, pipeline.InputRate)
	if err != nil {
		return bad("file", "%v", err)
	}
	q.pcm = []int16{}
	var read [4096]int16
	for most := int(maxLength.Seconds()) * pipeline.InputRate; !errors.Is(err, io.EOF); {
		var n int
		if n, err = sound.Read(read[:]); err != nil && !errors.Is(err, io.EOF) {
			return answer.BadBody(err)
		}
		if q.pcm = resampler.AppendPCM16(q.pcm, read[:n]); len(q.pcm) > most {
			return bad("file", "longer than %v: send it in pieces", maxLength)
		}
	}
	q.pcm = resampler.FlushPCM16(q.pcm)
	return nil
}

// badFile is the response to a file that is no WAV file, or that cannot be read.
func badFile(err error) *answer.Problem {
	if errors.Is(err, wav.ErrFormat) {
		return bad("file", "%v; this server reads WAV files: ffmpeg -i FILE -ar 16000 -ac 1 recording.wav makes one", err)
	}
	return answer.BadBody(err)
}

// piece is how much sound is written to the recogniser at a time, in samples.
const piece = pipeline.InputRate / 10

// transcribe writes a sound to the recogniser, and gives all results to take. The last result is final.
func (h *Handler) transcribe(ctx context.Context, c pipeline.TranscribeConfig, pcm []int16, take func(pipeline.TranscriptResult)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	limits := h.cfg.Guard.Limits
	return h.cfg.Guard.Run(ctx, pipeline.StageTranscriber, func(w *watchdog.Watch) error {
		w.Expect("open", limits.Open)
		t, err := h.cfg.Pipeline.Transcriber.Open(ctx, c)
		if w.Rest(); err != nil {
			return err
		}
		err = h.feed(w, t, pcm, take)
		w.Expect("close", limits.Close)
		return errors.Join(err, t.Close())
	})
}

func (h *Handler) feed(w *watchdog.Watch, t pipeline.Transcription, pcm []int16, take func(pipeline.TranscriptResult)) error {
	limits := h.cfg.Guard.Limits
	samples := make([]float32, 0, piece)
	length := time.Duration(len(pcm)) * time.Second / pipeline.InputRate
	for len(pcm) > 0 {
		n := min(piece, len(pcm))
		w.Expect("write", limits.Write)
		if err := t.Write(voice.PCM16ToFloat(samples[:0], pcm[:n])); err != nil {
			return &pipeline.StageError{Stage: pipeline.StageTranscriber, Err: err}
		}
		pcm = pcm[n:]
	}
	w.Expect("the end of the input", limits.Write)
	if err := t.CloseInput(); err != nil {
		return err
	}
	// An engine may need as long as the recording, and a moment; each result shows that it works.
	within := textWithin + 2*length
	w.Expect("the text", within)
	for r := range t.Results() {
		if r.Err != nil {
			return r.Err
		}
		if err := w.Deliver(func() error { take(r); return nil }); err != nil {
			return err
		}
		if r.Final {
			w.Rest()
			return nil
		}
		w.Expect("the text", within)
	}
	return &pipeline.StageError{Stage: pipeline.StageTranscriber, Err: errNoText}
}

// textWithin is the longest wait for the text of a recording, besides twice its length.
const textWithin = 15 * time.Second

var errNoText = errors.New("it ended without a text")

// writeTranscript answers with the whole transcript.
func writeTranscript(w http.ResponseWriter, q transcriptionRequest, last pipeline.TranscriptResult) *answer.Problem {
	switch q.format {
	case formatText:
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, last.Text+"\n")
	case formatJSON:
		answer.JSON(w, http.StatusOK, map[string]any{"text": last.Text, "usage": usage(float64(len(q.pcm)) / pipeline.InputRate)})
	default:
		return writeTimed(w, q, last)
	}
	return nil
}

// usage is how much was transcribed, as the protocol writes it.
func usage(seconds float64) map[string]any {
	return map[string]any{"type": "duration", "seconds": seconds}
}

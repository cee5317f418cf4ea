package stt

// One request: the form with the recording, and the reading of the answer.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/backend"
	"github.com/antiphon-rt/antiphon/internal/engine/backend/growing"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/internal/wav"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxAnswer is the longest answer, in bytes: six minutes of speech with every word and token are below 500 kB.
const maxAnswer = 4 << 20

// patience limits one request in addition to the length of the recording. A session waits less for a final result.
const patience = time.Minute

// ask has a recording transcribed. If show is not nil and the answer is a stream, show gets the text so far with each piece. Errors are
// those of remote.Client.Do.
func (e *engine) ask(ctx context.Context, c backend.Config, pcm []byte, show func(backend.Update)) (backend.Result, error) {
	whole, cancel := context.WithTimeout(ctx, patience+growing.Length(pcm))
	defer cancel()
	r, err := e.send(whole, c, pcm, show)
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err() // the server is not to blame
	case errors.Is(err, context.DeadlineExceeded):
		err = &pipeline.StageError{Stage: pipeline.StageTranscriber, Err: fmt.Errorf("%s did not finish within %v", e.detail(), patience+growing.Length(pcm))}
	}
	return r, e.last.Note(ctx, err)
}

func (e *engine) send(ctx context.Context, c backend.Config, pcm []byte, show func(backend.Update)) (backend.Result, error) {
	stream := e.o.Stream && show != nil
	body, contentType, err := e.form(c, pcm, stream)
	if err != nil {
		return backend.Result{}, err
	}
	accept := "application/json"
	if stream {
		accept = "text/event-stream"
	}
	answer, err := e.client.Post(ctx, e.o.Form.path, contentType, accept, body)
	if err != nil {
		return backend.Result{}, err
	}
	defer answer.Body.Close()
	if stream {
		if err := e.client.Expect(answer, "text/event-stream"); err != nil {
			return backend.Result{}, e.noStream(err)
		}
		return e.readStream(answer, show)
	}
	if err := e.client.Expect(answer, "application/json"); err != nil {
		return backend.Result{}, err
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	if err != nil {
		return backend.Result{}, err
	}
	if len(text) > maxAnswer {
		return backend.Result{}, e.client.Error(answer, fmt.Errorf("sent an answer of more than %d bytes", maxAnswer), "")
	}
	return e.read(answer, text)
}

// noStream says what to do about a server that answers a request for a stream with a whole transcript.
func (e *engine) noStream(err error) error {
	var stage *pipeline.StageError
	if errors.As(err, &stage) {
		return &pipeline.StageError{Stage: stage.Stage, Err: stage.Err, Hint: "this server does not stream: leave out stream in the configuration"}
	}
	return err
}

// form returns the body of a request and its content type.
func (e *engine) form(c backend.Config, pcm []byte, stream bool) (body []byte, contentType string, err error) {
	model, language, prompt := e.settings(c)
	fields := [][2]string{{"model", model}, {"language", language}, {"prompt", prompt}, {"response_format", e.o.Format}, {"temperature", "0"}}
	if stream {
		fields = append(fields, [2]string{"stream", "true"})
	}
	if e.o.Format == FormatVerbose && e.o.Form == OpenAI {
		fields = append(fields, [2]string{"timestamp_granularities[]", "segment"}, [2]string{"timestamp_granularities[]", "word"})
	}
	var b bytes.Buffer
	b.Grow(len(pcm) + 2048)
	w := multipart.NewWriter(&b)
	for _, field := range fields {
		if field[1] == "" {
			continue
		}
		if err := w.WriteField(field[0], field[1]); err != nil {
			return nil, "", err
		}
	}
	file, err := w.CreateFormFile("file", "speech.wav")
	if err != nil {
		return nil, "", err
	}
	if _, err = file.Write(wav.Header(pipeline.InputRate, len(pcm))); err == nil {
		_, err = file.Write(pcm)
	}
	err = errors.Join(err, w.Close())
	return b.Bytes(), w.FormDataContentType(), err
}

// wrong returns the error for an answer that is no transcript.
func (e *engine) wrong(answer *http.Response, text []byte, cause string) error {
	err := errors.New(cause)
	if line := remote.FirstLine(text, e.o.Server.Key); line != "" {
		err = fmt.Errorf("%w: %s", err, line)
	}
	return e.client.Error(answer, err, "check url and kind in the configuration")
}

package remote

// The answer of a server: its body with a limit of pauses, its content type, and its text in an error.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxLine is the longest text of a server in an error, in characters.
const maxLine = 200

// StatusError is why a server refused a request, as the cause in a pipeline.StageError.
type StatusError struct {
	Code int    // the HTTP status, not 2xx
	Line string // what the answer says, as FirstLine returns it
	Text string // the begin of the answer, up to 16 KiB, as the server sent it; not for users, because it may have secrets
}

// Error returns the status and the line.
func (e *StatusError) Error() string {
	s := fmt.Sprintf("answered %d %s", e.Code, http.StatusText(e.Code))
	if e.Line != "" {
		s += ": " + e.Line
	}
	return s
}

// body is the body of an answer. A read fails when the server sends nothing for longer than the limit.
type body struct {
	io.ReadCloser
	caller context.Context // the caller's; ctx is derived from it
	ctx    context.Context
	cancel context.CancelCauseFunc
	first  time.Duration           // longest pause before the first byte
	limit  time.Duration           // longest pause after it
	begun  bool                    // the first byte is there
	fail   func(cause error) error // makes the error of a stage
}

func (b *body) Read(p []byte) (int, error) {
	limit, place := b.limit, "in the middle"
	if !b.begun {
		limit, place = max(b.first, b.limit), "at the begin"
	}
	idle := time.AfterFunc(limit, func() { b.cancel(fmt.Errorf("sent nothing for %v %s of its answer", limit, place)) })
	n, err := b.ReadCloser.Read(p)
	idle.Stop()
	b.begun = b.begun || n > 0
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	if done := b.caller.Err(); done != nil {
		return n, done
	}
	cause := context.Cause(b.ctx)
	if cause == nil {
		// The error is not wrapped: a reader of a file format takes io.ErrUnexpectedEOF for the end of its file.
		cause = errors.New("ended in the middle of its answer: " + err.Error())
	}
	return n, b.fail(cause)
}

// Close ends the request. It does not wait for the server.
func (b *body) Close() error {
	b.cancel(context.Canceled)
	return b.ReadCloser.Close()
}

// Error returns the error of a stage for an answer that the adapter cannot use. It names the address of the answer.
func (c *Client) Error(answer *http.Response, cause error, hint string) error {
	return &pipeline.StageError{Stage: c.config.Stage, Err: fmt.Errorf("%s %w", address(answer.Request.URL), cause), Hint: hint}
}

// Expect returns an error if the media type of an answer is none of those that the adapter reads. An answer without a type passes.
// The error has the first line of the answer; the adapter cannot read the body then.
func (c *Client) Expect(answer *http.Response, types ...string) error {
	header := answer.Header.Get("Content-Type")
	got, _, err := mime.ParseMediaType(header)
	if header == "" {
		return nil
	}
	for _, want := range types {
		if err == nil && got == want {
			return nil
		}
	}
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 16<<10))
	cause := fmt.Errorf("answered with %q instead of %q", clean(header), strings.Join(types, " or "))
	if line := FirstLine(text, c.config.Key); line != "" && utf8.Valid(text) {
		cause = fmt.Errorf("%w: %s", cause, line)
	}
	return c.Error(answer, cause, "check the url in the configuration")
}

// FirstLine returns what an answer says about a failure, in one line of at most 200 characters: the message of an error in JSON, and
// otherwise the first line of the text. It shows no control character, and "***" in place of the key.
func FirstLine(text []byte, key string) string {
	var object struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	text = bytes.TrimPrefix(bytes.TrimSpace(text), []byte("data: ")) // some servers send an error as an event
	line := string(text)
	if json.Unmarshal(text, &object) == nil {
		for _, candidate := range []string{message(object.Error), object.Message, message(object.Detail)} {
			if candidate != "" {
				line = candidate
				break
			}
		}
	}
	if key != "" {
		line = strings.ReplaceAll(line, key, "***")
	}
	return Line(line)
}

// Line returns the first line of a text that a server sent, without control characters and at most 200 characters long.
func Line(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return clean(text)
}

// message returns the text of an "error" or "detail" field, which is a string or an object with a message.
func message(field json.RawMessage) string {
	var text string
	if json.Unmarshal(field, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(field, &object) == nil && object.Message != "" {
		return object.Message
	}
	return string(field)
}

// clean returns a text without control characters, cut at maxLine characters.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, strings.TrimSpace(text))
	if runes := []rune(text); len(runes) > maxLine {
		return string(runes[:maxLine]) + "…"
	}
	return text
}

//go:build !js

package native

// HTTP requests to the server, and their errors.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/antiphon-rt/antiphon/sdk"
)

const (
	// maxAnswer bounds how much of an answer is read, in bytes.
	maxAnswer = 1 << 20
	// maxRefusal bounds how much of a refusal is shown, in bytes.
	maxRefusal = 500
	// versionHeader is how an Antiphon names itself.
	versionHeader = "Antiphon-Version"
)

// endpoint is the server's HTTP interface.
type endpoint struct {
	url    string
	key    string
	client *http.Client
}

func newEndpoint(url, key string, client *http.Client) endpoint {
	if client == nil {
		client = http.DefaultClient
	}
	return endpoint{url: strings.TrimSuffix(url, "/"), key: key, client: client}
}

func (s endpoint) header() http.Header {
	h := http.Header{}
	if s.key != "" {
		h.Set("Authorization", "Bearer "+s.key)
	}
	return h
}

// request sends one request with additional headers, and returns the body of an answer with a status of 2xx. Errors:
// *sdk.RefusedError for other answers, sdk.ErrServerGone, sdk.ErrInvalid, ctx's.
func (s endpoint) request(ctx context.Context, method, path, contentType string, more http.Header, body []byte) ([]byte, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, nil, &sdk.Error{Kind: sdk.ErrInvalid, Detail: "the server's address", Cause: err}
	}
	r.Header = s.header()
	maps.Copy(r.Header, more)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, nil, unreachable(ctx, err)
	}
	defer func() { _ = answer.Body.Close() }() // everything that is needed has been read
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, nil, unreachable(ctx, err)
	}
	if answer.StatusCode/100 != 2 {
		return nil, nil, &sdk.RefusedError{Status: answer.StatusCode, Message: refusal(text)}
	}
	return text, answer.Header, nil
}

// unreachable returns ctx's error if ctx has ended, otherwise err as sdk.ErrServerGone.
func unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &sdk.Error{Kind: sdk.ErrServerGone, Cause: err}
}

// refusal returns the message in the body of a refusal, that of {"error":{"message":…}}; otherwise the body itself.
func refusal(body []byte) string {
	var told struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	said := string(body)
	if json.Unmarshal(body, &told) == nil && told.Error.Message != "" {
		said = told.Error.Message
	}
	said = strings.TrimSpace(said)
	if len(said) > maxRefusal {
		said = strings.ToValidUTF8(said[:maxRefusal], "")
	}
	return said
}

// pipeline asks an Antiphon for its pipeline.
func (s endpoint) pipeline(ctx context.Context) (sdk.Pipeline, error) {
	body, _, err := s.request(ctx, http.MethodGet, "/v1/antiphon/pipeline", "", nil, nil)
	if err != nil {
		return sdk.Pipeline{}, err
	}
	var told struct {
		Pipeline   string `json:"pipeline"`
		Components []struct {
			Stage, Name, State, Detail, Install string
		} `json:"components"`
	}
	if err := json.Unmarshal(body, &told); err != nil {
		return sdk.Pipeline{}, fmt.Errorf("native: the server's pipeline: %w", err)
	}
	p := sdk.Pipeline{Name: told.Pipeline}
	for _, c := range told.Components {
		p.Components = append(p.Components, sdk.Component(c))
	}
	return p, nil
}

// withModel adds the model to a path.
func withModel(path, model string) string {
	if model == "" {
		return path
	}
	return path + "?model=" + url.QueryEscape(model)
}

// connectionError returns the end of a connection as sdk.ErrServerGone.
func connectionError(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return sdk.ErrServerGone
	}
	return &sdk.Error{Kind: sdk.ErrServerGone, Cause: err}
}

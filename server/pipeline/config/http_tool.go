package config

// A tool that asks an HTTP server.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/internal/tool"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Endpoint is the HTTP server of a tool.
type Endpoint struct {
	URL     string            // the address, such as http://127.0.0.1:9000/weather
	Key     string            // the secret of `Authorization: Bearer`; empty for none
	Headers map[string]string // further header fields of each request
	Timeout time.Duration     // how long a call may take; 0 takes pipeline.DefaultToolTimeout
}

// HTTPTool returns a Run of a pipeline.ServerTool that sends the arguments to e by POST, as JSON, and returns the body of the answer. A status other than 2xx is an error. It
// sends each call once: the tool may have an effect. The error says what is wrong in e.
func HTTPTool(e Endpoint) (func(ctx context.Context, arguments string) (string, error), error) {
	limit := (&pipeline.ServerTool{Timeout: e.Timeout}).Limit()
	client, err := remote.New(remote.Config{
		Stage: tool.Stage, URLs: []string{e.URL}, Key: e.Key, Headers: e.Headers, FirstByte: limit, Idle: limit, Rounds: 1,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: remote.DefaultConnect}).DialContext,
			TLSHandshakeTimeout: remote.DefaultConnect, MaxResponseHeaderBytes: 64 << 10,
			DisableKeepAlives: true, // nothing is left when a call has ended
		},
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, arguments string) (string, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader([]byte(arguments)))
		if err != nil {
			return "", err
		}
		request.Header.Set("Content-Type", "application/json")
		if key := pipeline.IdempotencyKey(ctx); key != "" {
			request.Header.Set("Idempotency-Key", key)
		}
		answer, err := client.Do(request)
		if err != nil {
			return "", err
		}
		defer func() { _ = answer.Body.Close() }() // the answer was only read
		text, err := io.ReadAll(io.LimitReader(answer.Body, pipeline.MaxToolOutput+1))
		if err != nil {
			return "", fmt.Errorf("the answer of the tool's server ends early: %w", err)
		}
		return string(text), nil
	}, nil
}

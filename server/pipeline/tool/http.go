package tool

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
)

// Endpoint is the HTTP server of a tool.
type Endpoint struct {
	URL     string            // the address, such as http://127.0.0.1:9000/weather
	Key     string            // the secret of `Authorization: Bearer`; empty for none
	Headers map[string]string // further header fields of each request
	Timeout time.Duration     // how long a call may take; 0 takes DefaultTimeout
}

// keyOfCall is the key of a call's idempotency key in its context.
type keyOfCall struct{}

// WithKey returns a context for a call that may be sent again: each time the request has this header Idempotency-Key.
func WithKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, keyOfCall{}, key)
}

// KeyOf returns the key of WithKey; "" for none.
func KeyOf(ctx context.Context) string {
	key, _ := ctx.Value(keyOfCall{}).(string)
	return key
}

// HTTP returns a Tool.Run that sends the arguments to e by POST, as JSON, and returns the body of the answer. A status other than 2xx is an error. It
// sends each call once: the tool may have an effect. The error says what is wrong in e.
func HTTP(e Endpoint) (func(ctx context.Context, arguments string) (string, error), error) {
	limit := (&Tool{Timeout: e.Timeout}).Limit()
	client, err := remote.New(remote.Config{
		Stage: Stage, URLs: []string{e.URL}, Key: e.Key, Headers: e.Headers, FirstByte: limit, Idle: limit, Rounds: 1,
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
		if key := KeyOf(ctx); key != "" {
			request.Header.Set("Idempotency-Key", key)
		}
		answer, err := client.Do(request)
		if err != nil {
			return "", err
		}
		defer func() { _ = answer.Body.Close() }() // the answer was only read
		text, err := io.ReadAll(io.LimitReader(answer.Body, MaxOutput+1))
		if err != nil {
			return "", fmt.Errorf("the answer of the tool's server ends early: %w", err)
		}
		return string(text), nil
	}, nil
}

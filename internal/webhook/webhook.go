// Package webhook tells a program of the operator what happens, by HTTP, signed as Standard Webhooks says (https://www.standardwebhooks.com).
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Hook is where events go. The operator names it, and nobody else.
type Hook struct {
	url    string
	key    []byte
	within time.Duration
	client *http.Client
	now    func() time.Time
	wait   func(ctx context.Context, d time.Duration) error
}

// Limits of a delivery.
const (
	tries       = 3
	firstWait   = 500 * time.Millisecond // before the second try; each later one waits four times as long
	tryWithin   = 5 * time.Second
	maxResponse = 64 << 10
	// shortestKey and longestKey are the lengths that Standard Webhooks allows, in bytes.
	shortestKey, longestKey = 24, 64
)

// secretPrefix begins a secret.
const secretPrefix = "whsec_"

// New returns a hook. secret is whsec_ and the key in base64. within is how long one try may take; 0 takes 5 s.
func New(address, secret string, within time.Duration) (*Hook, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, errors.New("url: want an address of http or https, without a name and a password")
	}
	text, ok := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !ok || err != nil || len(key) < shortestKey || len(key) > longestKey {
		return nil, fmt.Errorf("secret: want whsec_ and %d to %d bytes in base64; openssl rand -base64 32 makes the second part", shortestKey, longestKey)
	}
	return &Hook{
		url: address, key: key, within: cmp.Or(within, tryWithin), now: time.Now, wait: wait,
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// Sign returns the headers of an event, by name.
func (h *Hook) Sign(id string, body []byte) map[string]string {
	stamp := strconv.FormatInt(h.now().Unix(), 10)
	mac := hmac.New(sha256.New, h.key)
	fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
	return map[string]string{
		"webhook-id": id, "webhook-timestamp": stamp, "webhook-signature": "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)),
	}
}

// refusal is an answer that another try would not change.
type refusal struct{ status int }

func (r refusal) Error() string { return fmt.Sprintf("the webhook answers %d", r.status) }

// Send delivers an event: it tries some times, until the receiver answers with a status of 2xx or ctx is done. All tries have the same id.
func (h *Hook) Send(ctx context.Context, id string, body []byte) (err error) {
	pause := firstWait
	for i := range tries {
		if i > 0 {
			if stopped := h.wait(ctx, pause); stopped != nil {
				return errors.Join(err, stopped)
			}
			pause *= 4
		}
		if err = h.try(ctx, id, body); err == nil {
			return nil
		}
		if r, is := errors.AsType[refusal](err); is && r.status < 500 && r.status != http.StatusRequestTimeout && r.status != http.StatusTooManyRequests {
			return err
		}
	}
	return err
}

func (h *Hook) try(ctx context.Context, id string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, h.within)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "antiphon")
	for name, value := range h.Sign(id, body) {
		r.Header.Set(name, value)
	}
	res, err := h.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // it was read
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxResponse))
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return refusal{res.StatusCode}
	}
	return nil
}

// wait waits, unless ctx is done before.
func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

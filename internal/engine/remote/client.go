package remote

// The client: sends one request to the servers of a stage until one answers.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Pauses before a call tries all servers again: the first one, doubled with each round, and the longest, which also limits Retry-After.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Second
)

// Client calls the servers of one stage. Its methods may be called by several goroutines at a time.
type Client struct {
	config  Config
	bases   []*url.URL
	http    *http.Client
	close   func()
	current atomic.Int32 // index of the server that answered last
}

// New returns a client, or an error that says which setting is wrong. It does not call a server.
func New(c Config) (*Client, error) {
	bases, err := c.parse()
	if err != nil {
		return nil, err
	}
	c.Connect = orDefault(c.Connect, DefaultConnect)
	c.FirstByte = orDefault(c.FirstByte, DefaultFirstByte)
	c.Idle = orDefault(c.Idle, DefaultIdle)
	c.Rounds = max(orDefault(c.Rounds, DefaultRounds), 1)
	client := &Client{config: c, bases: bases, close: func() {}}
	transport := c.Transport
	if transport == nil {
		own := &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: c.Connect, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:    c.Connect,
			ForceAttemptHTTP2:      true,
			MaxIdleConnsPerHost:    32,
			IdleConnTimeout:        5 * time.Minute,
			MaxResponseHeaderBytes: 64 << 10,
		}
		transport, client.close = own, own.CloseIdleConnections
	}
	client.http = &http.Client{Transport: transport, CheckRedirect: sameHost}
	return client, nil
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

// errRedirect: a server sends its clients to another host. The key must not follow.
var errRedirect = errors.New("redirects to another host")

func sameHost(r *http.Request, via []*http.Request) error {
	if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
		return fmt.Errorf("%w: %s", errRedirect, address(r.URL))
	}
	if len(via) > 3 {
		return errors.New("redirects more than three times")
	}
	return nil
}

// Close ends the connections that no call uses.
func (c *Client) Close() { c.close() }

// Servers returns the addresses of the servers without secrets.
func (c *Client) Servers() []string {
	var all []string
	for _, base := range c.bases {
		all = append(all, address(base))
	}
	return all
}

// Do sends a request and returns the answer of the first server that has one with a 2xx status. Only the path and the query of the
// request's URL count: the client puts them behind the address of a server. The body must be nil or have GetBody, as http.NewRequest
// arranges for a bytes.Reader. The caller closes the answer's body; a read fails when the server sends nothing for Config.Idle.
//
// Do tries the next server when the connection fails, when the answer does not begin in time, and for the statuses 408, 429 and 5xx;
// after all servers it pauses and tries again, Config.Rounds times in all. It returns the error of the request's context when that is done,
// and a *pipeline.StageError for every other failure. The cause of one for a status is a *StatusError.
func (c *Client) Do(r *http.Request) (answer *http.Response, err error) {
	err = c.rounds(r.Context(), func(base *url.URL) (f *failure) {
		answer, f = c.try(r, base)
		return f
	})
	return answer, err
}

// rounds tries the servers until one answers, as Do describes. try returns nil if the server has answered.
func (c *Client) rounds(ctx context.Context, try func(base *url.URL) *failure) error {
	var last *failure
	for round := range c.config.Rounds {
		if round > 0 {
			if err := pause(ctx, round, last.after); err != nil {
				return err
			}
		}
		begin := int(c.current.Load())
		for i := range c.bases {
			server := (begin + i) % len(c.bases)
			f := try(c.bases[server])
			if f == nil {
				c.current.Store(int32(server))
				return nil
			}
			if done := ctx.Err(); done != nil {
				return done
			}
			if last = f; !f.again {
				return c.stageError(f)
			}
		}
	}
	return c.stageError(last)
}

// pause waits before a round: as long as the server asks for, or a time that grows with each round, up to longestPause.
func pause(ctx context.Context, round int, asked time.Duration) error {
	d := firstPause << (round - 1)
	d += rand.N(d / 2)
	timer := time.NewTimer(min(max(d, asked), longestPause))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// failure is why one server did not answer.
type failure struct {
	url   string
	cause error
	hint  string
	again bool          // another try may succeed
	after time.Duration // how long the server asks its clients to wait
}

func (c *Client) stageError(f *failure) error {
	return &pipeline.StageError{Stage: c.config.Stage, Err: fmt.Errorf("%s %w", f.url, f.cause), Hint: f.hint}
}

// try sends the request to one server.
func (c *Client) try(r *http.Request, base *url.URL) (*http.Response, *failure) {
	target := base.JoinPath(r.URL.Path)
	target.RawQuery = joinQueries(base.RawQuery, r.URL.RawQuery)
	f := &failure{url: address(target)}
	ctx, cancel := context.WithCancelCause(r.Context())
	one := r.Clone(ctx)
	one.URL, one.Host, one.RequestURI = target, "", ""
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			cancel(err)
			f.cause = err
			return nil, f
		}
		one.Body = body
	}
	for name, value := range c.config.Headers {
		one.Header.Set(name, value)
	}
	// net/http sends a request again at once if it finds that the server has closed the connection that was kept. Without this field,
	// which it does not send if it is empty, it does so for GET only.
	if one.Header.Get("Idempotency-Key") == "" {
		one.Header["Idempotency-Key"] = []string{}
	}
	one.Header.Del("Authorization")
	if c.config.Key != "" {
		one.Header.Set("Authorization", "Bearer "+c.config.Key)
	}
	late := fmt.Errorf("did not answer within %v", c.config.FirstByte)
	first := time.AfterFunc(c.config.FirstByte, func() { cancel(late) })
	answer, err := c.http.Do(one)
	if !first.Stop() && err == nil {
		cancel(late) // the timer has fired, but its function may not have run yet
		err = late
		_ = answer.Body.Close()
	}
	if err != nil {
		f.explain(ctx, err)
		cancel(err)
		return nil, f
	}
	answer.Body = &body{
		ReadCloser: answer.Body, caller: r.Context(), ctx: ctx, cancel: cancel, first: c.config.FirstByte, limit: c.config.Idle,
		fail: func(cause error) error { return c.stageError(&failure{url: f.url, cause: cause}) },
	}
	if answer.StatusCode/100 != 2 {
		f.status(answer, c.config.Key)
		_ = answer.Body.Close()
		return nil, f
	}
	return answer, nil
}

func joinQueries(a, b string) string {
	if a != "" && b != "" {
		return a + "&" + b
	}
	return a + b
}

// explain says why no answer came.
func (f *failure) explain(ctx context.Context, err error) {
	if cause := context.Cause(ctx); cause != nil {
		f.cause, f.again = cause, true
		return
	}
	var e *url.Error
	if errors.As(err, &e) {
		err = e.Err // without the URL, which may have secrets in its query
	}
	f.cause, f.again = fmt.Errorf("cannot be reached: %w", err), true
	f.hint = "check that the server runs, and the url in the configuration"
	if errors.Is(err, errRedirect) {
		f.cause, f.again, f.hint = err, false, "put the address of that host into the configuration if you trust it"
	}
}

// status says what an answer without success means.
func (f *failure) status(answer *http.Response, key string) {
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 16<<10))
	f.cause = &StatusError{Code: answer.StatusCode, Line: FirstLine(text, key), Text: string(text)}
	switch code := answer.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		f.hint = "check key_env or key_file in the configuration"
		if key == "" {
			f.hint = "the server asks for a key: give its environment variable as key_env in the configuration"
		}
	case code == http.StatusNotFound:
		f.hint = "check url and model in the configuration"
	case code == http.StatusTooManyRequests, code == http.StatusRequestTimeout, code >= 500:
		f.again = true
		if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds > 0 {
			f.after = time.Duration(min(seconds, 60)) * time.Second
		}
	}
}

// Post sends a body to a path and returns the answer, as Do does. The header fields Content-Type and Accept are set if they are not
// empty.
func (c *Client) Post(ctx context.Context, path, contentType, accept string, content []byte) (*http.Response, error) {
	return c.send(ctx, http.MethodPost, path, contentType, accept, content)
}

// Get asks for a path and returns the answer, as Do does.
func (c *Client) Get(ctx context.Context, path, accept string) (*http.Response, error) {
	return c.send(ctx, http.MethodGet, path, "", accept, nil)
}

func (c *Client) send(ctx context.Context, method, path, contentType, accept string, content []byte) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, method, "", bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	if r.URL, err = url.Parse(path); err != nil {
		return nil, err
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	return c.Do(r)
}

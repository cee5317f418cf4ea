package once

// The recorder: takes the response of the service, up to a limit.

import (
	"net/http"
	"slices"
	"sync"
)

// recorder is the http.ResponseWriter that the service writes to. It is safe for concurrent use, because a handler that takes too long is given up and may
// still write.
type recorder struct {
	limit   int
	headers []string // the names of further headers that every try gets

	mu     sync.Mutex
	header http.Header
	status int         // 0: nothing was written yet
	sent   http.Header // the header at the time of the first write
	body   []byte      // a response that streams may have lost its beginning: see feed.dropped
	over   bool        // the body is longer than the limit
	failed error       // the service gave no response
	feed   feed
}

// newRecorder returns a recorder. begun is called when the response begins to stream, more when a piece of it has come. After over nobody waits for a client.
func newRecorder(cfg Config, begun, more func(), over <-chan struct{}) *recorder {
	return &recorder{
		limit: cfg.MaxResponse, headers: cfg.Headers, header: http.Header{},
		feed: feed{changed: make(chan struct{}), begun: begun, more: more, over: over},
	}
}

func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter. Informational responses are dropped.
func (r *recorder) WriteHeader(status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(status)
}

func (r *recorder) begin(status int) {
	if r.status != 0 || status < http.StatusOK {
		return
	}
	r.status, r.sent = status, r.header.Clone()
	r.feed.on = streams(r.sent) && size(r.sent) <= maxHeader
	for _, name := range []string{"Content-Length", "Connection", "Transfer-Encoding", "Trailer", "Keep-Alive"} {
		r.sent.Del(name)
	}
	if r.feed.on {
		r.feed.begun()
		r.feed.tell()
	}
}

// Write implements http.ResponseWriter. What is beyond the limit is dropped, and the service goes on.
func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(http.StatusOK)
	if r.feed.on {
		return r.stream(p)
	}
	if len(r.body)+len(p) > r.limit {
		r.over, r.body = true, nil
	}
	if !r.over {
		r.body = append(r.body, p...)
	}
	return len(p), nil
}

// Flush implements http.Flusher, for handlers that want to stream. A response that does not stream is kept until it is whole.
func (r *recorder) Flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin(http.StatusOK)
}

// late says that the service has come to its end after its time was over: what it has written is no whole response if it streams, or if it is nothing.
func (r *recorder) late() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.feed.on || r.status == 0 {
		r.failed = errNoAnswer
	}
}

// tooLong reports whether the response is too long to be kept.
func (r *recorder) tooLong() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// fail says that no response will come.
func (r *recorder) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = err
}

// result returns the response and its whole header, or the error with which the service failed. A response that is too long becomes one that says so.
func (r *recorder) result() (*answer, http.Header, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed != nil {
		return nil, nil, r.failed
	}
	r.begin(http.StatusOK)
	if r.over || size(r.sent) > maxHeader {
		header := http.Header{"Content-Type": {problemType}}
		return &answer{Status: http.StatusBadGateway, Header: header, Body: tooLarge(r.limit)}, header, nil
	}
	return &answer{Status: r.status, Header: allowed(r.sent, r.headers), Body: slices.Clone(r.body)}, r.sent, nil
}

// maxHeader is the longest header of a response, in bytes.
const maxHeader = 64 << 10

// size returns about how many bytes a header has.
func size(h http.Header) (n int) {
	for name, values := range h {
		for _, v := range values {
			n += len(name) + len(v) + len(": \r\n")
		}
	}
	return n
}

// replayedHeaders are the headers of a response that every try gets. Others, such as Set-Cookie and Date, only the try gets that was sent.
var replayedHeaders = []string{
	"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Location", "Content-Type", "Etag", "Expires",
	"Last-Modified", "Link", "Location", "Retry-After", "Vary", "Www-Authenticate",
}

// allowed returns the part of a header that every try gets: replayedHeaders and more.
func allowed(h http.Header, more []string) http.Header {
	out := http.Header{}
	for _, name := range slices.Concat(replayedHeaders, more) {
		if values := h.Values(name); len(values) > 0 {
			out[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	return out
}

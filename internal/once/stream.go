package once

// Responses that stream: the client of a try gets them as they come, and further tries of the key replay them from the beginning and follow.

import (
	"context"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
)

// streams reports whether a response with this header is a stream, which is sent as it comes: events, lines of JSON or sound, of a length that is not
// known at the beginning.
func streams(h http.Header) bool {
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || h.Get("Content-Length") != "" {
		return false
	}
	switch kind {
	case "text/event-stream", "application/x-ndjson", "application/jsonl", "application/json-seq":
		return true
	}
	return strings.HasPrefix(kind, "audio/")
}

var (
	errCut     = errors.New("the response did not come to its end")
	errDropped = errors.New("the log has no longer what this client reads next")
)

// feed is the state of a recorder whose response streams: who has read how far. The mutex of the recorder guards it.
type feed struct {
	on      bool          // the response streams
	dropped int           // bytes of the response that the log no longer has
	read    int           // bytes that the first client has got
	alone   bool          // the first client is gone
	ended   bool          // nothing comes any more
	cut     error         // why it ended early
	changed chan struct{} // closed when something of this has changed
	begun   func()        // called when the response begins to stream
	more    func()        // called when a piece has come
	over    <-chan struct{}
}

// tell wakes those that wait for a change. The caller holds the mutex.
func (f *feed) tell() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// stream takes a piece of a response that streams. Above the limit the log keeps only what the first client has not got yet, and the service waits for that
// client. The caller holds the mutex.
func (r *recorder) stream(p []byte) (int, error) {
	r.body = append(r.body, p...)
	r.over = r.over || r.feed.dropped+len(r.body) > r.limit
	r.feed.more()
	r.feed.tell()
	for r.over {
		done := len(r.body)
		if !r.feed.alone {
			done = r.feed.read - r.feed.dropped
		}
		r.body, r.feed.dropped = r.body[done:], r.feed.dropped+done
		if len(r.body) <= r.limit {
			break
		}
		changed := r.feed.changed
		r.mu.Unlock()
		select {
		case <-changed:
		case <-r.feed.over:
			r.mu.Lock()
			return 0, errNoAnswer
		}
		r.mu.Lock()
	}
	return len(p), nil
}

// finish ends the response for those that follow it; cut says why it is not whole.
func (r *recorder) finish(cut error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.feed.ended {
		r.feed.ended, r.feed.cut = true, cut
		r.feed.tell()
	}
}

// leave says that the first client is gone.
func (r *recorder) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.feed.alone = true
	r.feed.tell()
}

// next returns what the log has from a place of the response on. If there is nothing yet, it waits. At the end it returns io.EOF.
func (r *recorder) next(ctx context.Context, at int, first bool) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if first && r.feed.read != at {
		r.feed.read = at
		r.feed.tell()
	}
	for {
		switch end := r.feed.dropped + len(r.body); {
		case at < r.feed.dropped:
			return nil, errDropped
		case at < end:
			return r.body[at-r.feed.dropped:], nil
		case r.feed.cut != nil:
			return nil, r.feed.cut
		case r.feed.ended:
			return nil, io.EOF
		}
		if err := r.wait(ctx); err != nil {
			return nil, err
		}
	}
}

// wait waits for a change. The caller holds the mutex.
func (r *recorder) wait(ctx context.Context) error {
	changed := r.feed.changed
	r.mu.Unlock()
	defer r.mu.Lock()
	select {
	case <-changed:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// started returns status and header of a response that streams. The first client waits until it is known whether the response streams.
func (r *recorder) started(ctx context.Context, first bool) (status int, header http.Header, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for first && !r.feed.on && !r.feed.ended {
		if r.wait(ctx) != nil {
			return 0, nil, false
		}
	}
	header = r.sent
	if !first {
		header = allowed(r.sent, r.headers)
	}
	return r.status, header, r.feed.on && r.feed.dropped == 0
}

// follow writes a response that streams to a client, from its beginning to its end. begun is false if the response does not stream: then nothing was
// written. The error says that the client does not have it whole. first: the client is that of the try that was sent.
func (r *recorder) follow(ctx context.Context, w http.ResponseWriter, first bool) (begun bool, err error) {
	if first {
		defer r.leave()
	}
	status, header, ok := r.started(ctx, first)
	if !ok {
		return false, nil
	}
	maps.Copy(w.Header(), header)
	if !first {
		w.Header().Set(Replayed, "true")
	}
	w.WriteHeader(status)
	flush := http.NewResponseController(w)
	for at := 0; ; {
		_ = flush.Flush() // a writer that cannot flush writes when it can
		piece, err := r.next(ctx, at, first)
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		if err != nil {
			return true, err
		}
		if _, err := w.Write(piece); err != nil {
			return true, err
		}
		at += len(piece)
	}
}

// inFlight has the recorders of the tries that this process has sent and that are in progress. It is safe for concurrent use.
type inFlight struct {
	mu sync.Mutex
	of map[string]sentTry // by the key's name in the store
}

// sentTry is a try that was sent, and the recorder of its response.
type sentTry struct {
	try idempotency.Try
	rec *recorder
}

// add enters a try. The returned function removes it.
func (f *inFlight) add(key string, t idempotency.Try, rec *recorder) (remove func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.of[key] = sentTry{t, rec}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.of[key].try == t {
			delete(f.of, key)
		}
	}
}

// recorder returns the recorder of a try; nil if this process has not sent it.
func (f *inFlight) recorder(key string, t idempotency.Try) *recorder {
	f.mu.Lock()
	defer f.mu.Unlock()
	if sent := f.of[key]; sent.try == t {
		return sent.rec
	}
	return nil
}

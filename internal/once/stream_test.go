package once

// Responses that stream, with clients over TCP: they come live, further tries replay and follow them, and they end early if the service does.

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// teller is a service that sends an event for each text of say, and ends when say is closed.
type teller struct {
	say   chan string
	calls atomic.Int64
}

func (s *teller) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.calls.Add(1)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Set-Cookie", "a=b")
	for {
		select {
		case text, more := <-s.say:
			if !more {
				return
			}
			if text == "break" {
				panic(http.ErrAbortHandler)
			}
			fmt.Fprintf(w, "data: %s\n\n", text)
			_ = http.NewResponseController(w).Flush() // the recorder and a connection can
		case <-r.Context().Done():
			return
		}
	}
}

// listener is a client that reads a stream.
type listener struct {
	g        *gomega.WithT
	response *http.Response
	lines    *bufio.Reader
}

// listen sends a request with the key k to a server.
func listen(ctx context.Context, t *testing.T, url string) listener {
	t.Helper()
	g := gomega.NewWithT(t)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("one"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header.Set(Header, "k")
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = response.Body.Close() }) // the test has read what it wants
	return listener{g, response, bufio.NewReader(response.Body)}
}

// hears checks the next event.
func (l listener) hears(text string) {
	line, err := l.lines.ReadString('\n')
	l.g.Expect(err).NotTo(gomega.HaveOccurred())
	l.g.Expect(line).To(gomega.Equal("data: " + text + "\n"))
	_, err = l.lines.ReadString('\n')
	l.g.Expect(err).NotTo(gomega.HaveOccurred())
}

// rest reads to the end.
func (l listener) rest() (string, error) {
	text, err := io.ReadAll(l.lines)
	return string(text), err
}

// ends checks that the response came to its end.
func (l listener) ends() {
	text, err := l.rest()
	l.g.Expect(err).NotTo(gomega.HaveOccurred())
	l.g.Expect(text).To(gomega.BeEmpty())
}

// isCut checks that the connection ended before the response.
func (l listener) isCut() {
	_, err := l.rest()
	l.g.Expect(err).To(gomega.MatchError(io.ErrUnexpectedEOF))
}

// streaming serves a Handler before a teller until the end of the test.
func streaming(t *testing.T, cfg Config, proxied bool) (*teller, string) {
	t.Helper()
	s := &teller{say: make(chan string, 10)}
	h := before(t, cfg, s.ServeHTTP)
	if proxied {
		service := httptest.NewServer(s)
		t.Cleanup(service.Close)
		h = beforeService(t, cfg, service.URL)
	}
	front := httptest.NewServer(h)
	t.Cleanup(front.Close)
	return s, front.URL
}

func TestAStreamIsLiveAndReplayed(t *testing.T) {
	for name, proxied := range map[string]bool{"handler": false, "proxy": true} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			s, url := streaming(t, Config{}, proxied)
			s.say <- "one"
			first := listen(t.Context(), t, url)
			first.hears("one")
			second := listen(t.Context(), t, url)
			second.hears("one")
			s.say <- "two"
			first.hears("two")
			second.hears("two")
			close(s.say)
			first.ends()
			second.ends()
			third := listen(t.Context(), t, url)
			text, err := third.rest()
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(text).To(gomega.Equal("data: one\n\ndata: two\n\n"))
			g.Expect([]string{first.response.Header.Get("Set-Cookie"), second.response.Header.Get("Set-Cookie")}).To(gomega.Equal([]string{"a=b", ""}))
			for i, l := range []listener{first, second, third} {
				g.Expect(l.response.Header.Get("Content-Type")).To(gomega.Equal("text/event-stream"))
				g.Expect(l.response.Header.Get(Replayed) != "").To(gomega.Equal(i > 0))
			}
			g.Expect(s.calls.Load()).To(gomega.Equal(int64(1)))
		})
	}
}

// A try that waits gets the stream when it begins.
func TestAStreamWakesWhoWaits(t *testing.T) {
	g, s := gomega.NewWithT(t), &teller{say: make(chan string)}
	h := before(t, Config{}, s.ServeHTTP)
	front := httptest.NewServer(h)
	defer front.Close()
	heard := make(chan string, 2)
	for range 2 {
		go func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, front.URL, strings.NewReader("one"))
			if err != nil {
				heard <- err.Error()
				return
			}
			r.Header.Set(Header, "k")
			r.Header.Set("Prefer", "wait=30")
			response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
			if err != nil {
				heard <- err.Error()
				return
			}
			defer func() { _ = response.Body.Close() }() // it was read
			line, _ := bufio.NewReader(response.Body).ReadString('\n')
			heard <- line
		}()
	}
	key := scope(hashed(""), http.MethodPost, "/", "k")
	g.Eventually(func() int {
		h.waiters.mu.Lock()
		defer h.waiters.mu.Unlock()
		if at := h.waiters.of[key]; at != nil {
			return at.tries
		}
		return 0
	}).WithTimeout(time.Minute).Should(gomega.Equal(2))
	s.say <- "one"
	for range 2 {
		g.Expect(<-heard).To(gomega.Equal("data: one\n"))
	}
	close(s.say)
	g.Expect(s.calls.Load()).To(gomega.Equal(int64(1)))
}

func TestAStreamThatBreaks(t *testing.T) {
	for name, proxied := range map[string]bool{"handler": false, "proxy": true} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			s, url := streaming(t, Config{}, proxied)
			s.say <- "one"
			first := listen(t.Context(), t, url)
			first.hears("one")
			second := listen(t.Context(), t, url)
			second.hears("one")
			s.say <- "break"
			first.isCut()
			second.isCut()
			third := listen(t.Context(), t, url)
			text, err := third.rest()
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(code(t, third.response, text)).To(gomega.Equal(CodeUnknown))
			g.Expect(s.calls.Load()).To(gomega.Equal(int64(1)))
		})
	}
}

// A stream whose service falls silent is cut, and is no response.
func TestAStreamThatFallsSilent(t *testing.T) {
	g := gomega.NewWithT(t)
	front := httptest.NewServer(before(t, Config{Timeout: 100 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: one\n\n")
		<-r.Context().Done()
	}))
	defer front.Close()
	first := listen(t.Context(), t, front.URL)
	first.hears("one")
	first.isCut()
	again := listen(t.Context(), t, front.URL)
	text, err := again.rest()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(code(t, again.response, text)).To(gomega.Equal(CodeUnknown))
}

// The service goes on when the first client is gone, and the next try gets all of it.
func TestAStreamGoesOnWithoutItsClient(t *testing.T) {
	s, url := streaming(t, Config{}, false)
	ctx, cancel := context.WithCancel(t.Context())
	s.say <- "one"
	listen(ctx, t, url).hears("one")
	cancel()
	second := listen(t.Context(), t, url)
	second.hears("one")
	s.say <- "two"
	second.hears("two")
	close(s.say)
	second.ends()
}

// The first client gets a stream that is too long to be kept.
func TestAStreamThatIsTooLong(t *testing.T) {
	for safe, again := range map[bool]string{true: "data: again\n\n", false: CodeTooLarge} {
		g := gomega.NewWithT(t)
		s, url := streaming(t, Config{MaxResponse: 15, Safe: func(*http.Request) bool { return safe }}, false)
		s.say = make(chan string)
		go func() { s.say <- "one" }()
		first := listen(t.Context(), t, url)
		first.hears("one")
		s.say <- "two"
		s.say <- "three" // now the service has written the second one, and the log has lost the first one
		first.hears("two")
		first.hears("three")
		late := listen(t.Context(), t, url)
		text, err := late.rest()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(code(t, late.response, text)).To(gomega.Equal(CodeInFlight), "its beginning is not kept")
		close(s.say)
		first.ends()
		s.say = make(chan string, 1)
		s.say <- "again"
		close(s.say)
		text, err = listen(t.Context(), t, url).rest()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(text).To(gomega.ContainSubstring(again))
	}
}

// A log that is full keeps only what the first client has not got: the service waits for it.
func TestTheLogOfAStreamIsBounded(t *testing.T) {
	g := gomega.NewWithT(t)
	const limit, piece, pieces = 1000, 100, 200
	none := func() {}
	r := newRecorder(Config{MaxResponse: limit}, none, none, make(chan struct{}))
	r.Header().Set("Content-Type", "text/event-stream")
	go func() {
		for range pieces {
			_, _ = r.Write(bytes.Repeat([]byte("x"), piece)) // the test reads all
		}
		r.finish(nil)
	}()
	_, _, begun := r.started(t.Context(), true)
	g.Expect(begun).To(gomega.BeTrue())
	got := 0
	for got < pieces*piece {
		p, err := r.next(t.Context(), got, true)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		r.mu.Lock()
		kept := len(r.body)
		r.mu.Unlock()
		g.Expect(kept).To(gomega.BeNumerically("<=", limit+piece))
		got += len(p)
	}
	_, err := r.next(t.Context(), got, true)
	g.Expect(err).To(gomega.MatchError(io.EOF))
	_, err = r.next(t.Context(), 0, false)
	g.Expect(err).To(gomega.MatchError(errDropped))
}

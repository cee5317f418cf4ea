package remote

// The client against servers that answer, fail, stall and lie.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// server starts an HTTP server that ends with the test, and returns its address.
func server(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handle)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// nobody returns an address at which no server listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func client(t *testing.T, c Config) *Client {
	t.Helper()
	c.Stage = pipeline.StageModel
	cl, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// ask posts to "chat" and reads the whole answer.
func ask(ctx context.Context, c *Client) (string, error) {
	answer, err := c.Post(ctx, "chat", "application/json", "", []byte(`{"q":1}`))
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func TestARequestReachesTheServer(t *testing.T) {
	g := gomega.NewWithT(t)
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprint(w, r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("X-Team"), string(body))
	})
	c := client(t, Config{URLs: []string{url + "/v1?version=2"}, Key: "sk-1", Headers: map[string]string{"X-Team": "voice"}})
	g.Expect(ask(t.Context(), c)).To(gomega.Equal(`POST/v1/chat?version=2Bearer sk-1voice{"q":1}`))
}

func TestTheNextServerAnswers(t *testing.T) {
	g := gomega.NewWithT(t)
	var asked atomic.Int32
	busy := server(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	good := server(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	c := client(t, Config{URLs: []string{nobody(t), busy, good}})
	g.Expect(ask(t.Context(), c)).To(gomega.Equal(`{"q":1}`))
	g.Expect(ask(t.Context(), c)).To(gomega.Equal(`{"q":1}`))
	g.Expect(asked.Load()).To(gomega.BeEquivalentTo(1), "the second call begins with the server that answered")
}

func TestACallIsTriedAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	var asked atomic.Int32
	url := server(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, "here")
	})
	begin := time.Now()
	g.Expect(ask(t.Context(), client(t, Config{URLs: []string{url}}))).To(gomega.Equal("here"))
	g.Expect(time.Since(begin)).To(gomega.BeNumerically(">=", time.Second), "the server asked for a second")
}

// stall begins to answer, and does not go on.
func stall(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", "100")
	fmt.Fprint(w, "begin")
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// failures are servers that fail, each with the beginning of the error, what its hint says, and how often the server is asked.
var failures = map[string]struct {
	handle http.HandlerFunc
	want   string
	hint   string
	asked  int
}{
	"wrong key": {
		func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":{"message":"no key sk-1\nsecond line"}}`, http.StatusUnauthorized)
		}, "answered 401 Unauthorized: no key ***", "key_env", 1,
	},
	"unknown model": {
		func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"error":"model \"x\" not found"}`, http.StatusNotFound)
		}, `answered 404 Not Found: model "x" not found`, "model", 1,
	},
	"an event": {
		func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "data: {\"error\": {\"message\": \"no stream\"}}\n\n", http.StatusBadRequest)
		}, "answered 400 Bad Request: no stream", "", 1,
	},
	"broken": {
		func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "out of \x1b[31mmemory\nat line 3", http.StatusInternalServerError)
		}, "answered 500 Internal Server Error: out of [31mmemory", "", 2,
	},
	"silent": {
		func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "did not answer within 100ms", "", 2,
	},
	"stalls": {stall, "sent nothing for 100ms in the middle of its answer", "", 1},
	"cut": {
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "begin")
		}, "ended in the middle of its answer", "", 1,
	},
	"hangs up": {
		func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached", "server runs", 2,
	},
}

func TestFailures(t *testing.T) {
	for name, test := range failures {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var asked atomic.Int32
			url := server(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				_, _ = io.Copy(io.Discard, r.Body)
				test.handle(w, r)
			})
			c := Config{URLs: []string{url + "/v1?secret=7"}, Key: "sk-1"}
			switch name { // a short limit would also end the answers of the other servers, on a busy machine
			case "silent":
				c.FirstByte = 100 * time.Millisecond
			case "stalls":
				c.Idle = 100 * time.Millisecond
			}
			_, err := ask(t.Context(), client(t, c))
			var stage *pipeline.StageError
			g.Expect(errors.As(err, &stage)).To(gomega.BeTrue(), "%v", err)
			g.Expect(stage.Error()).To(gomega.HavePrefix("model: " + url + "/v1/chat " + test.want))
			g.Expect(stage.Hint).To(gomega.ContainSubstring(test.hint))
			g.Expect(stage.Error()).NotTo(gomega.Or(gomega.ContainSubstring("sk-1"), gomega.ContainSubstring("secret")))
			g.Expect(asked.Load()).To(gomega.BeEquivalentTo(test.asked))
		})
	}
}

func TestTheKeyStaysWithItsHost(t *testing.T) {
	g := gomega.NewWithT(t)
	var seen atomic.Int32
	other := server(t, func(http.ResponseWriter, *http.Request) { seen.Add(1) })
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other+"/?a=b", http.StatusTemporaryRedirect)
	})
	_, err := ask(t.Context(), client(t, Config{URLs: []string{url}, Key: "sk-1"}))
	g.Expect(err).To(gomega.MatchError(gomega.And(gomega.ContainSubstring("redirects to another host: "+other), gomega.Not(gomega.ContainSubstring("a=b")))))
	g.Expect(seen.Load()).To(gomega.BeZero())

	moved := server(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/chat" {
			http.Redirect(w, r, "/new", http.StatusTemporaryRedirect)
			return
		}
		_, _ = io.Copy(w, r.Body)
	})
	g.Expect(ask(t.Context(), client(t, Config{URLs: []string{moved}}))).To(gomega.Equal(`{"q":1}`))
}

func TestACancelledCallEndsItsRequest(t *testing.T) {
	g := gomega.NewWithT(t)
	ended := make(chan struct{})
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "begin")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(ended)
	})
	why := errors.New("the user interrupts")
	ctx, cancel := context.WithCancelCause(t.Context())
	answer, err := client(t, Config{URLs: []string{url}}).Get(ctx, "chat", "")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = answer.Body.Read(make([]byte, 100))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	cancel(why)
	_, err = answer.Body.Read(make([]byte, 100))
	g.Expect(err).To(gomega.MatchError(context.Canceled))
	g.Eventually(ended).Should(gomega.BeClosed())

	_, err = client(t, Config{URLs: []string{nobody(t)}}).Get(ctx, "chat", "")
	g.Expect(err).To(gomega.MatchError(context.Canceled))
}

// A server that has just closed a kept connection gets the request on a new one, without the pause between two rounds.
func TestAClosedConnectionCostsNoPause(t *testing.T) {
	g := gomega.NewWithT(t)
	var asked atomic.Int32
	url := server(t, func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) == 2 {
			panic(http.ErrAbortHandler)
		}
		g.Expect(r.Header).NotTo(gomega.HaveKey("Idempotency-Key"))
		_, _ = io.Copy(w, r.Body)
	})
	c := client(t, Config{URLs: []string{url}, Rounds: 1})
	for range 2 {
		g.Expect(ask(t.Context(), c)).To(gomega.Equal(`{"q":1}`))
	}
	g.Expect(asked.Load()).To(gomega.BeEquivalentTo(3))
}

// A server may send the header at once and think before the first byte of the body.
func TestTheFirstByteMayTakeLongerThanOthers(t *testing.T) {
	g := gomega.NewWithT(t)
	late := make(chan struct{})
	url := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		<-late
		fmt.Fprint(w, "here")
	})
	time.AfterFunc(100*time.Millisecond, func() { close(late) })
	g.Expect(ask(t.Context(), client(t, Config{URLs: []string{url}, FirstByte: 10 * time.Second, Idle: 20 * time.Millisecond}))).To(gomega.Equal("here"))
}

func TestAStatusIsTheCause(t *testing.T) {
	g := gomega.NewWithT(t)
	url := server(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no\nstream_options", http.StatusBadRequest)
	})
	_, err := ask(t.Context(), client(t, Config{URLs: []string{url}}))
	var status *StatusError
	g.Expect(errors.As(err, &status)).To(gomega.BeTrue())
	g.Expect(*status).To(gomega.Equal(StatusError{Code: 400, Line: "no", Text: "no\nstream_options\n"}))
}

func TestEvents(t *testing.T) {
	g := gomega.NewWithT(t)
	text := ": hello\r\n\r\nevent: a\ndata: 1\ndata: 2\n\n\ndata: 3\n\ndata: cut"
	url := server(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
	read := func(limit int) (all []Event, err error) {
		c := client(t, Config{URLs: []string{url}})
		answer, err := c.Get(t.Context(), "chat", "")
		g.Expect(err).NotTo(gomega.HaveOccurred())
		defer answer.Body.Close()
		for e, err := range c.Events(answer, limit) {
			if err != nil {
				return all, err
			}
			all = append(all, e)
		}
		return all, nil
	}
	g.Expect(read(1000)).To(gomega.Equal([]Event{{"a", "1\n2"}, {"", "3"}}))
	text = "data: " + strings.Repeat("x", 2000) + "\n\n"
	_, err := read(1000)
	g.Expect(err).To(gomega.MatchError("model: " + url + "/chat sent an event of more than 1000 bytes"))
}

func TestTheMediaTypeIsChecked(t *testing.T) {
	g := gomega.NewWithT(t)
	url := server(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html>\n<h1>Welcome</h1>")
	})
	c := client(t, Config{URLs: []string{url}})
	answer, err := c.Get(t.Context(), "chat", "")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer answer.Body.Close()
	g.Expect(c.Expect(answer, "text/html")).To(gomega.Succeed())
	g.Expect(c.Expect(answer, "application/json", "text/event-stream")).To(gomega.MatchError(gomega.ContainSubstring(
		`model: ` + url + `/chat answered with "text/html; charset=utf-8" instead of "application/json or text/event-stream": <html>`)))
}

func TestSettings(t *testing.T) {
	for want, c := range map[string]Config{
		"no address":                  {},
		"at most 8":                   {URLs: strings.Split(strings.Repeat("http://a ", 9), " ")},
		"name or password":            {URLs: []string{"http://me:secret@host/"}},
		"is no address of HTTP":       {URLs: []string{"localhost:11434"}},
		"cannot be read":              {URLs: []string{"http://[::1"}},
		"leave it out":                {URLs: []string{"http://a/#b"}},
		"is no valid header field":    {URLs: []string{"http://a"}, Headers: map[string]string{"a b": "c"}},
		"space or a line break in it": {URLs: []string{"http://a"}, Key: "sk-1\n"},
	} {
		_, err := New(c)
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.And(gomega.ContainSubstring(want), gomega.Not(gomega.ContainSubstring("secret")))))
	}
}

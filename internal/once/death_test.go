package once

// Holders that die or are slow, services that are down, and the connection of a request.

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// lock leaves a key as a holder leaves it that dies: with the lock, and perhaps with a request that was sent.
func lock(t *testing.T, h *Handler, r *http.Request, sent bool) {
	t.Helper()
	g := gomega.NewWithT(t)
	body, err := io.ReadAll(r.Body)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	key := scope(hashed(""), r.Method, r.URL.EscapedPath(), r.Header.Get(Header))
	_, _, err = h.book.step(t.Context(), step{
		key: key, event: idempotency.Check{Try: newTry(), Payload: fingerprint(r, body), Safe: h.cfg.Safe(r)}, send: sent,
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
}

func TestAHolderThatDied(t *testing.T) {
	for name, c := range map[string]struct {
		sent, safe bool
		calls      int64
	}{
		"before it sent":                      {false, false, 1},
		"after it sent":                       {true, false, 0},
		"after it sent what may be repeated":  {true, true, 1},
		"before it sent what may be repeated": {false, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			g, calls, dir := gomega.NewWithT(t), atomic.Int64{}, filepath.Join(t.TempDir(), "data")
			cfg := Config{Safe: func(*http.Request) bool { return c.safe }, history: 16}
			died, err := store.Open(t.Context(), store.Config{Dir: dir})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			cfg.Store = died
			lock(t, before(t, cfg, counting(&calls)), request(t, "/", "k", "one"), c.sent)
			g.Expect(died.Close()).To(gomega.Succeed())

			cfg.Store = opened(t, store.Config{Dir: dir})
			h := before(t, cfg, counting(&calls))
			for range 2 {
				response, body := send(h, request(t, "/", "k", "one"))
				if c.calls == 0 {
					g.Expect(code(t, response, body)).To(gomega.Equal(CodeUnknown))
				} else {
					g.Expect(body).To(gomega.Equal("call 1"))
				}
			}
			g.Expect(calls.Load()).To(gomega.Equal(c.calls))
			steps, wrong := checkTrace(history(t, h.book, scope(hashed(""), http.MethodPost, "/", "k")))
			g.Expect(wrong).To(gomega.BeEmpty())
			g.Expect(steps).To(gomega.BeNumerically(">=", 2))
		})
	}
}

// A holder of a process that shares the store is over when its lease has run out, not before.
func TestALeaseRunsOut(t *testing.T) {
	g, calls, s := gomega.NewWithT(t), atomic.Int64{}, memory(t)
	long := before(t, Config{Store: s}, counting(&calls))
	lock(t, long, request(t, "/", "k", "one"), true)
	response, body := send(long, request(t, "/", "k", "one"))
	g.Expect(code(t, response, body)).To(gomega.Equal(CodeInFlight))

	short := before(t, Config{Store: s, Lease: time.Nanosecond}, counting(&calls))
	response, body = send(short, request(t, "/", "k", "one"))
	g.Expect(code(t, response, body)).To(gomega.Equal(CodeUnknown))
	g.Expect(response.StatusCode).To(gomega.Equal(http.StatusBadGateway))
	g.Expect(calls.Load()).To(gomega.BeZero())
}

// A clock that jumps forward makes every lease look over. A holder of this process is in progress nevertheless: its request is not sent a second time.
func TestAClockThatJumps(t *testing.T) {
	g, service := gomega.NewWithT(t), hold()
	h := before(t, Config{Lease: time.Nanosecond, Safe: func(*http.Request) bool { return true }}, service.ServeHTTP)
	var first sync.WaitGroup
	var body string
	first.Go(func() { _, body = send(h, request(t, "/", "k", "one")) })
	<-service.came
	for range 3 {
		response, problem := send(h, request(t, "/", "k", "one"))
		g.Expect(code(t, response, problem)).To(gomega.Equal(CodeInFlight))
	}
	close(service.goes)
	first.Wait()
	g.Expect(body).To(gomega.Equal("done"))
	g.Expect(service.came).To(gomega.BeEmpty())
}

func TestALeaseIsRenewed(t *testing.T) {
	g, service := gomega.NewWithT(t), hold()
	h := before(t, Config{Lease: 300 * time.Millisecond, history: 64}, service.ServeHTTP)
	var first sync.WaitGroup
	var body string
	first.Go(func() { _, body = send(h, request(t, "/", "k", "one")) })
	<-service.came
	key := scope(hashed(""), http.MethodPost, "/", "k")
	g.Eventually(func() int { return len(history(t, h.book, key)) }).Should(gomega.BeNumerically(">=", 3), "the lock and two renewals")
	close(service.goes)
	first.Wait()
	g.Expect(body).To(gomega.Equal("done"))
}

// TestOnlyTheHolderMayGoOn: a try that does not hold the lock of a key sends nothing to the service, and renews nothing, whoever else holds the lock and whatever came of it.
func TestOnlyTheHolderMayGoOn(t *testing.T) {
	for name, begin := range map[string]func(h *Handler){
		"another try has the lock":     func(h *Handler) { lock(t, h, request(t, "/", "k", "one"), false) },
		"another try has sent":         func(h *Handler) { lock(t, h, request(t, "/", "k", "one"), true) },
		"there is a response":          func(h *Handler) { send(h, request(t, "/", "k", "one")) },
		"the service gave no response": func(h *Handler) { send(h, request(t, "/", "k", "panic")) },
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			h := before(t, Config{history: 16}, func(_ http.ResponseWriter, r *http.Request) {
				if body, err := io.ReadAll(r.Body); err != nil || string(body) == "panic" {
					panic("no response")
				}
			})
			begin(h)
			key := scope(hashed(""), http.MethodPost, "/", "k")
			was := len(history(t, h.book, key))
			c := &claim{h: h, t: &try{key: key, id: newTry()}}
			g.Expect(c.sending(t.Context())).To(gomega.MatchError(errLost))
			held, err := h.book.renew(t.Context(), key, c.t.id)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(held).To(gomega.BeFalse())
			g.Expect(history(t, h.book, key)).To(gomega.HaveLen(was))
		})
	}
}

// TestTheEndOfATryWakesThoseThatWait: at once, and not when they look for what another process did.
func TestTheEndOfATryWakesThoseThatWait(t *testing.T) {
	for name, service := range map[string]http.HandlerFunc{
		"with a response":               func(http.ResponseWriter, *http.Request) {},
		"with one that is not kept":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"without one, and not repeated": func(http.ResponseWriter, *http.Request) { panic("no response") },
	} {
		t.Run(name, func(t *testing.T) {
			h := before(t, Config{Safe: func(*http.Request) bool { return name == "with one that is not kept" }}, service)
			woken, end := h.waiters.on(scope(hashed(""), http.MethodPost, "/", "k"))
			defer end()
			send(h, request(t, "/", "k", "one"))
			gomega.NewWithT(t).Expect(woken).To(gomega.BeClosed())
		})
	}
}

// The response of a holder whose lock is over resolves what is unknown.
func TestALateResponse(t *testing.T) {
	g, service := gomega.NewWithT(t), hold()
	s := memory(t)
	h := before(t, Config{Store: s, Lease: time.Hour, history: 16}, service.ServeHTTP)
	var first sync.WaitGroup
	var body string
	first.Go(func() { _, body = send(h, request(t, "/", "k", "one")) })
	<-service.came
	short := before(t, Config{Store: s, Lease: time.Nanosecond, history: 16}, service.ServeHTTP)
	response, problem := send(short, request(t, "/", "k", "one"))
	g.Expect(code(t, response, problem)).To(gomega.Equal(CodeUnknown))
	close(service.goes)
	first.Wait()
	g.Expect(body).To(gomega.Equal("done"))
	_, again := send(short, request(t, "/", "k", "one"))
	g.Expect(again).To(gomega.Equal("done"))
	_, wrong := checkTrace(history(t, h.book, scope(hashed(""), http.MethodPost, "/", "k")))
	g.Expect(wrong).To(gomega.BeEmpty())
}

func TestAServiceThatIsDownLeavesNoKeyInDoubt(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	service := httptest.NewServer(counting(&calls))
	defer service.Close()
	h := beforeService(t, Config{}, service.URL)
	p, _ := h.next.(*Proxy)
	p.dial.Control = func(string, string, syscall.RawConn) error { return syscall.ECONNREFUSED }
	response, body := send(h, request(t, "/orders", "k", "one"))
	g.Expect(response.StatusCode).To(gomega.Equal(http.StatusServiceUnavailable))
	g.Expect(code(t, response, body)).To(gomega.Equal(CodeRetry))
	response, _ = send(h, request(t, "/orders", "", "one"))
	g.Expect(response.StatusCode).To(gomega.Equal(http.StatusBadGateway))

	p.dial.Control = nil
	_, body = send(h, request(t, "/orders", "k", "one"))
	g.Expect(body).To(gomega.Equal("call 1"))
}

// net/http repeats a request with the header Idempotency-Key and no body, if the connection breaks. Here it must not.
func TestARequestIsSentOnce(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	service := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		panic(http.ErrAbortHandler) // ends the connection without a response
	}))
	defer service.Close()
	h := beforeService(t, Config{}, service.URL)
	for range 3 {
		response, body := send(h, request(t, "/orders", "k", ""))
		g.Expect(code(t, response, body)).To(gomega.Equal(CodeUnknown))
	}
	g.Expect(calls.Load()).To(gomega.Equal(int64(1)))
}

// A service that answers without reading the body closes its connection with the body unread, if it is told that the request is the last one. The system then
// resets the connection, and the response is lost.
func TestAServiceThatDoesNotReadTheBody(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 64<<10)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, long) }))
	defer service.Close()
	h := beforeService(t, Config{}, service.URL)
	for i := range 10 {
		response, body := send(h, request(t, "/orders", fmt.Sprint("k", i), long[:200<<10]))
		g := gomega.NewWithT(t)
		g.Expect(response.StatusCode).To(gomega.Equal(http.StatusOK))
		g.Expect(body == long).To(gomega.BeTrue())
	}
}

// A request with a key cannot become a WebSocket: it gets the response to a plain request.
func TestARequestThatAsksForAnotherProtocol(t *testing.T) {
	g := gomega.NewWithT(t)
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", r.Header.Get("Upgrade"))
			w.WriteHeader(http.StatusSwitchingProtocols)
			return
		}
		fmt.Fprint(w, "plain")
	}))
	defer service.Close()
	h := beforeService(t, Config{}, service.URL)
	for range 2 {
		_, body := send(h, request(t, "/orders", "k", "x", "Connection", "Upgrade", "Upgrade", "websocket"))
		g.Expect(body).To(gomega.Equal("plain"))
	}
}

// A connection ends with its request.
func TestAConnectionCarriesOneRequest(t *testing.T) {
	g := gomega.NewWithT(t)
	var open, all atomic.Int64
	service := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Connection")) }))
	service.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			open.Add(1)
			all.Add(1)
		}
		if s == http.StateClosed {
			open.Add(-1)
		}
	}
	service.Start()
	defer service.Close()
	h := beforeService(t, Config{}, service.URL)
	for i := range 5 {
		response, body := send(h, request(t, "/orders", fmt.Sprint("k", i), "x"))
		g.Expect(response.StatusCode).To(gomega.Equal(http.StatusOK))
		g.Expect(body).To(gomega.BeEmpty())
	}
	g.Eventually(open.Load).WithTimeout(time.Minute).Should(gomega.BeZero())
	g.Expect(all.Load()).To(gomega.Equal(int64(5)))
}

func TestTheServiceGetsTheRequest(t *testing.T) {
	g := gomega.NewWithT(t)
	service := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a body that breaks gives another response
		fmt.Fprint(w, r.Method, " ", r.URL, " ", r.Header.Get(Header), " ", r.Header.Get("Te"), string(body), r.ContentLength)
	}))
	defer service.Close()
	h := beforeService(t, Config{}, service.URL+"/base")
	p, _ := h.next.(*Proxy)
	p.tls.RootCAs = service.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs //nolint:forcetypeassert // httptest's own
	for range 2 {
		_, body := send(h, request(t, "/orders?x=1", "k", "one", "Te", "gzip"))
		g.Expect(body).To(gomega.Equal("POST /base/orders?x=1 k one3"))
	}
	_, body := send(h, request(t, "/orders", "", "two"))
	g.Expect(body).To(gomega.Equal("POST /base/orders  two3"))
}

// A handler that ignores its deadline is given up. What it answers later resolves the key.
func TestAHandlerThatDoesNotReturn(t *testing.T) {
	g, service := gomega.NewWithT(t), hold()
	h := before(t, Config{Timeout: time.Millisecond}, func(w http.ResponseWriter, r *http.Request) { service.ServeHTTP(w, r) })
	response, body := send(h, request(t, "/", "k", "one"))
	g.Expect(code(t, response, body)).To(gomega.Equal(CodeUnknown))
	close(service.goes)
	g.Eventually(func() string { _, body := send(h, request(t, "/", "k", "one")); return body }).Should(gomega.Equal("done"))
}

// The client's end does not end the request: the next try gets its response.
func TestAClientThatIsGone(t *testing.T) {
	g, service := gomega.NewWithT(t), hold()
	h := before(t, Config{}, service.ServeHTTP)
	ctx, cancel := context.WithCancel(t.Context())
	var first sync.WaitGroup
	first.Go(func() { send(h, request(t, "/", "k", "one").WithContext(ctx)) })
	<-service.came
	cancel()
	close(service.goes)
	first.Wait()
	response, body := send(h, request(t, "/", "k", "one"))
	g.Expect(body).To(gomega.Equal("done"))
	g.Expect(response.Header.Get(Replayed)).To(gomega.Equal("true"))
}

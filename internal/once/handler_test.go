package once

// What clients see: replay, refusal, the wait, limits, and keys that are not valid.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
)

type machineEdge = machine.Edge[idempotency.State, idempotency.Event, idempotency.Effect]

// counting is a service that counts its requests and answers with their number.
func counting(calls *atomic.Int64) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Set-Cookie", "a=b")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "call %d", calls.Add(1))
	}
}

// code returns the code of a problem.
func code(t *testing.T, response *http.Response, body string) string {
	t.Helper()
	var p problem
	g := gomega.NewWithT(t)
	g.Expect(response.Header.Get("Content-Type")).To(gomega.Equal(problemType))
	g.Expect(json.Unmarshal([]byte(body), &p)).To(gomega.Succeed())
	g.Expect(p.Status).To(gomega.Equal(response.StatusCode))
	g.Expect(p.Detail).NotTo(gomega.BeEmpty())
	return p.Code
}

func TestReplay(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	h := before(t, Config{}, counting(&calls))
	first, body := send(h, request(t, "/orders", "k", "one"))
	g.Expect(first.StatusCode).To(gomega.Equal(http.StatusCreated))
	g.Expect(body).To(gomega.Equal("call 1"))
	g.Expect(first.Header.Get("Set-Cookie")).To(gomega.Equal("a=b"))
	g.Expect(first.Header.Get(Replayed)).To(gomega.BeEmpty())

	second, body := send(h, request(t, "/orders", `"k"`, "one"))
	g.Expect(second.StatusCode).To(gomega.Equal(http.StatusCreated))
	g.Expect(body).To(gomega.Equal("call 1"))
	g.Expect(second.Header.Get("Content-Type")).To(gomega.Equal("text/plain"))
	g.Expect(second.Header.Get("Set-Cookie")).To(gomega.BeEmpty(), "a cookie is for the first client")
	g.Expect(second.Header.Get(Replayed)).To(gomega.Equal("true"))
	g.Expect(calls.Load()).To(gomega.Equal(int64(1)))
}

func TestKeysAreScoped(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	h := before(t, Config{}, counting(&calls))
	put := request(t, "/orders", "k", "one")
	put.Method = http.MethodPut
	for _, r := range []*http.Request{
		request(t, "/orders", "k", "one"), request(t, "/orders", "k2", "one"), request(t, "/others", "k", "one"), put,
		request(t, "/orders", "k", "one", "Authorization", "Bearer x"), request(t, "/orders", "k", "one", "Authorization", "Bearer y"),
	} {
		response, _ := send(h, r)
		g.Expect(response.StatusCode).To(gomega.Equal(http.StatusCreated))
		g.Expect(response.Header.Get(Replayed)).To(gomega.BeEmpty())
	}
	g.Expect(calls.Load()).To(gomega.Equal(int64(6)))
}

func TestAnotherPayload(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	h := before(t, Config{}, counting(&calls))
	send(h, request(t, "/orders", "k", "one"))
	for _, r := range []*http.Request{
		request(t, "/orders", "k", "two"), request(t, "/orders?x=1", "k", "one"), request(t, "/orders", "k", "one", "Content-Type", "text/csv"),
	} {
		response, body := send(h, r)
		g.Expect(response.StatusCode).To(gomega.Equal(http.StatusUnprocessableEntity))
		g.Expect(code(t, response, body)).To(gomega.Equal(CodeReused))
	}
	g.Expect(calls.Load()).To(gomega.Equal(int64(1)))
}

func TestWhatPassesThrough(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	h := before(t, Config{}, counting(&calls))
	get := request(t, "/orders", "k", "")
	get.Method = http.MethodGet
	for _, r := range []*http.Request{request(t, "/orders", "", "one"), request(t, "/orders", "", "one"), get, get.Clone(t.Context())} {
		response, _ := send(h, r)
		g.Expect(response.StatusCode).To(gomega.Equal(http.StatusCreated))
	}
	g.Expect(calls.Load()).To(gomega.Equal(int64(4)))
}

// An account pays for its requests under every name of keys that its clients choose, and no other account does.
func TestAnAccountPaysForAllItsKeys(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	h, err := New(t.Context(), nil, Config{Store: memory(t), PerPrincipal: Quota{Keys: 2, Bytes: 1 << 20}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	as := func(account, keys string) int {
		response, _ := send(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.Serve(w, r, account, keys, counting(&calls)) }), request(t, "/", "k", ""))
		return response.StatusCode
	}
	g.Expect([]int{as("a", "1"), as("a", "2"), as("a", "3")}).To(gomega.Equal([]int{http.StatusCreated, http.StatusCreated, http.StatusTooManyRequests}))
	g.Expect(as("b", "3")).To(gomega.Equal(http.StatusCreated))
}

// A server that knows its principals gives each request its principal and its service.
func TestServeWithAPrincipal(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	h, err := New(t.Context(), nil, Config{Store: memory(t), Headers: []string{"x-token"}, Refuse: func(w http.ResponseWriter, status int, code, _ string) {
		http.Error(w, code, status)
	}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	serve := func(principal string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.Serve(w, r, "all", principal, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Token", "secret")
				counting(&calls)(w, r)
			}))
		})
	}
	for principal, want := range map[string]string{"one": "call", "two": "call"} {
		_, first := send(serve(principal), request(t, "/", "k", ""))
		g.Expect(first).To(gomega.HavePrefix(want))
		response, again := send(serve(principal), request(t, "/", "k", ""))
		g.Expect(again).To(gomega.Equal(first))
		g.Expect(response.Header.Get("X-Token")).To(gomega.Equal("secret"))
	}
	g.Expect(calls.Load()).To(gomega.Equal(int64(2)))
	_, body := send(serve("one"), request(t, "/", "k", "other"))
	g.Expect(body).To(gomega.Equal(CodeReused + "\n"))
}

// A response that asks for another try is stored only if the operation may not be repeated.
func TestAResponseThatAsksForAnotherTry(t *testing.T) {
	for safe, want := range map[bool]string{true: "call 2", false: "busy"} {
		g, calls := gomega.NewWithT(t), atomic.Int64{}
		h := before(t, Config{
			Safe: func(*http.Request) bool { return safe }, Retry: func(status int) bool { return status == http.StatusServiceUnavailable },
		}, func(w http.ResponseWriter, r *http.Request) {
			if calls.Load() == 0 {
				calls.Add(1)
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(http.StatusServiceUnavailable)
				fmt.Fprint(w, "busy")
				return
			}
			counting(&calls)(w, r)
		})
		first, body := send(h, request(t, "/", "k", ""))
		g.Expect(first.StatusCode).To(gomega.Equal(http.StatusServiceUnavailable))
		g.Expect(first.Header.Get("Retry-After")).To(gomega.Equal("7"))
		g.Expect(body).To(gomega.Equal("busy"))
		for range 2 {
			_, body = send(h, request(t, "/", "k", ""))
			g.Expect(body).To(gomega.Equal(want))
		}
	}
}

// A service that announces what it does has done nothing when it refuses a request before that.
func TestAServiceThatAnnounces(t *testing.T) {
	for announces, want := range map[bool]string{false: "call 3", true: "busy"} {
		g, calls := gomega.NewWithT(t), atomic.Int64{}
		h := before(t, Config{
			history: 16, Announces: func(*http.Request) bool { return true }, Retry: func(status int) bool { return status == http.StatusServiceUnavailable },
		}, func(w http.ResponseWriter, r *http.Request) {
			if calls.Add(1) > 2 {
				g.Expect(Sending(r.Context())).To(gomega.Succeed())
				fmt.Fprint(w, "call ", calls.Load())
				return
			}
			if announces {
				g.Expect(Sending(r.Context())).To(gomega.Succeed())
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, "busy")
		})
		for range 2 {
			_, body := send(h, request(t, "/", "k", ""))
			g.Expect(body).To(gomega.Equal("busy"))
		}
		for range 2 {
			_, body := send(h, request(t, "/", "k", ""))
			g.Expect(body).To(gomega.Equal(want))
		}
		steps, wrong := checkTrace(history(t, h.book, scope(hashed(""), http.MethodPost, "/", "k")))
		g.Expect(wrong).To(gomega.BeEmpty())
		g.Expect(steps).To(gomega.BeNumerically(">=", 3))
	}
	t.Run("another refusal is stored", func(t *testing.T) {
		g, calls := gomega.NewWithT(t), atomic.Int64{}
		h := before(t, Config{history: 16, Announces: func(*http.Request) bool { return true }}, counting(&calls))
		for range 2 {
			_, body := send(h, request(t, "/", "k", ""))
			g.Expect(body).To(gomega.Equal("call 1"))
		}
		_, wrong := checkTrace(history(t, h.book, scope(hashed(""), http.MethodPost, "/", "k")))
		g.Expect(wrong).To(gomega.BeEmpty())
	})
	gomega.NewWithT(t).Expect(Sending(t.Context())).To(gomega.Succeed(), "without a key there is nothing to store")
}

// A browser writes another boundary into each try of a form.
func TestAFormHasAnotherBoundary(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	h := before(t, Config{}, counting(&calls))
	form := func(boundary, sdp string) *http.Request {
		body := "--" + boundary + "\r\nContent-Disposition: form-data; name=\"sdp\"\r\n\r\n" + sdp + "\r\n--" + boundary + "--\r\n"
		return request(t, "/", "k", body, "Content-Type", "multipart/form-data; boundary="+boundary)
	}
	for _, boundary := range []string{"one", "two"} {
		_, body := send(h, form(boundary, "v=0"))
		g.Expect(body).To(gomega.Equal("call 1"))
	}
	response, _ := send(h, form("three", "v=1"))
	g.Expect(response.StatusCode).To(gomega.Equal(http.StatusUnprocessableEntity))
}

func TestARequiredKey(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	response, body := send(before(t, Config{Required: true}, counting(&calls)), request(t, "/orders", "", "one"))
	g.Expect(response.StatusCode).To(gomega.Equal(http.StatusBadRequest))
	g.Expect(code(t, response, body)).To(gomega.Equal(CodeMissing))
	g.Expect(calls.Load()).To(gomega.BeZero())
}

func TestKeys(t *testing.T) {
	for text, want := range map[string]string{
		"abc": "abc", `"abc"`: "abc", ` "a b" `: "a b", `"a\"b\\"`: `a"b\`, "8e03978e-40d5-43e8-bc93-6894a57f9324": "8e03978e-40d5-43e8-bc93-6894a57f9324",
		strings.Repeat("k", maxKey): strings.Repeat("k", maxKey),
	} {
		key, err := readKey(http.Header{Header: {text}})
		g := gomega.NewWithT(t)
		g.Expect(err).NotTo(gomega.HaveOccurred(), text)
		g.Expect(key).To(gomega.Equal(want))
	}
	for _, text := range []string{"", `""`, `"abc`, `abc"`, "a b", "a,b", `"a"b"`, `"a\x"`, "ä", "\"a\tb\"", strings.Repeat("k", maxKey+1), `"`} {
		_, err := readKey(http.Header{Header: {text}})
		gomega.NewWithT(t).Expect(err).To(gomega.HaveOccurred(), text)
	}
	_, err := readKey(http.Header{Header: {"a", "a"}})
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(errTwice))
}

func TestABadKey(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	response, body := send(before(t, Config{}, counting(&calls)), request(t, "/orders", "a b", "one"))
	g.Expect(response.StatusCode).To(gomega.Equal(http.StatusBadRequest))
	g.Expect(code(t, response, body)).To(gomega.Equal(CodeInvalid))
	g.Expect(calls.Load()).To(gomega.BeZero())
}

func TestPreferences(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"wait=3": 3 * time.Second, "respond-async, wait=3": 3 * time.Second, `Wait="3"`: 3 * time.Second, "wait=99999": time.Minute, "wait=-1": 0, "wait": 0, "": 0,
	} {
		gomega.NewWithT(t).Expect(readWait(http.Header{"Prefer": {text}}, time.Minute)).To(gomega.Equal(want), text)
	}
}

// held is a service that answers a request when it is let go.
type held struct{ came, goes chan struct{} }

func hold() held { return held{make(chan struct{}, 100), make(chan struct{})} }

func (s held) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.came <- struct{}{}
	<-s.goes
	fmt.Fprint(w, "done")
}

func TestInFlight(t *testing.T) {
	g, service := gomega.NewWithT(t), hold()
	h := before(t, Config{}, service.ServeHTTP)
	var both sync.WaitGroup
	defer both.Wait()
	var first, waited string
	both.Go(func() { _, first = send(h, request(t, "/orders", "k", "one")) })
	<-service.came

	response, body := send(h, request(t, "/orders", "k", "one"))
	g.Expect(response.StatusCode).To(gomega.Equal(http.StatusConflict))
	g.Expect(response.Header.Get("Retry-After")).To(gomega.Equal("1"))
	g.Expect(code(t, response, body)).To(gomega.Equal(CodeInFlight))
	response, _ = send(h, request(t, "/orders", "k", "other"))
	g.Expect(response.StatusCode).To(gomega.Equal(http.StatusUnprocessableEntity))

	both.Go(func() { _, waited = send(h, request(t, "/orders", "k", "one", "Prefer", "wait=30")) })
	other := make(chan struct{})
	go func() {
		send(h, request(t, "/orders", "k2", "one"))
		close(other)
	}()
	<-service.came // the request of another key does not wait for that of the first
	close(service.goes)
	<-other
	both.Wait()
	g.Expect(first).To(gomega.Equal("done"))
	g.Expect(waited).To(gomega.Equal("done"))
	g.Expect(service.came).To(gomega.BeEmpty(), "a try was sent a second time")
}

// What is in progress at a time.
func TestLimitsOfRequests(t *testing.T) {
	calls := atomic.Int64{}
	t.Run("body", func(t *testing.T) {
		g := gomega.NewWithT(t)
		response, body := send(before(t, Config{MaxBody: 3}, counting(&calls)), request(t, "/", "k", "long"))
		g.Expect(response.StatusCode).To(gomega.Equal(http.StatusRequestEntityTooLarge))
		g.Expect(code(t, response, body)).To(gomega.Equal(CodeBody))
	})
	t.Run("bodies at a time", func(t *testing.T) {
		g := gomega.NewWithT(t)
		service := hold()
		h := before(t, Config{MaxBody: 10, Memory: 40}, service.ServeHTTP)
		var all sync.WaitGroup
		for _, key := range []string{"k1", "k2"} {
			all.Go(func() { send(h, request(t, "/", key, "0123456789")) })
			<-service.came
		}
		unknown := func(who string) int {
			r := request(t, "/", "k3", "0", "Authorization", who)
			r.ContentLength = -1 // room for the longest body is taken
			response, _ := send(h, r)
			return response.StatusCode
		}
		g.Expect(unknown("")).To(gomega.Equal(http.StatusTooManyRequests), "half of the memory is for one principal")
		close(service.goes)
		all.Wait()
		g.Expect(unknown("")).To(gomega.Equal(http.StatusOK))
		g.Expect(unknown("other")).To(gomega.Equal(http.StatusOK))
	})
	t.Run("requests at a time", func(t *testing.T) {
		g := gomega.NewWithT(t)
		l := &limits{requests: 3, share: 2, keys: 10, keep: time.Hour, of: map[string]*usage{}}
		now := time.Unix(0, 0)
		var last *account
		for _, c := range []struct {
			who  string
			want error
		}{{"a", nil}, {"a", nil}, {"a", errShare}, {"b", nil}, {"c", errBusy}} {
			a := l.open(c.who, now)
			err := a.begin()
			if c.want == nil {
				g.Expect(err).NotTo(gomega.HaveOccurred())
				last = a
			} else {
				g.Expect(err).To(gomega.MatchError(c.want))
				a.close()
			}
		}
		last.close()
		g.Expect(l.open("c", now).begin()).To(gomega.Succeed())
	})
}

// What one principal stores.
func TestLimitsOfAPrincipal(t *testing.T) {
	calls := atomic.Int64{}
	t.Run("keys of a principal", func(t *testing.T) {
		g := gomega.NewWithT(t)
		h := before(t, Config{PerPrincipal: Quota{Keys: 2}}, counting(&calls))
		for i, status := range []int{201, 201, 429} {
			response, _ := send(h, request(t, "/", fmt.Sprint("k", i), ""))
			g.Expect(response.StatusCode).To(gomega.Equal(status))
		}
		response, _ := send(h, request(t, "/", "k0", ""))
		g.Expect(response.StatusCode).To(gomega.Equal(http.StatusCreated), "a stored key is not new")
		response, _ = send(h, request(t, "/", "k9", "", "Authorization", "Bearer other"))
		g.Expect(response.StatusCode).To(gomega.Equal(http.StatusCreated))
	})
	t.Run("bytes of responses", func(t *testing.T) {
		for safe, want := range map[bool]string{true: "call 4", false: "quota"} {
			g, calls := gomega.NewWithT(t), atomic.Int64{}
			h := before(t, Config{PerPrincipal: Quota{Bytes: 60}, Safe: func(*http.Request) bool { return safe }}, counting(&calls)) // a response has 6 bytes, and 26 of its header
			for i, key := range []string{"k1", "k2"} {
				_, body := send(h, request(t, "/", key, ""))
				g.Expect(body).To(gomega.Equal(fmt.Sprint("call ", i+1)))
			}
			_, body := send(h, request(t, "/", "k1", ""))
			g.Expect(body).To(gomega.Equal("call 1"), "it is stored")
			send(h, request(t, "/", "k3", ""))
			response, body := send(h, request(t, "/", "k3", ""))
			if want == "quota" {
				g.Expect(response.StatusCode).To(gomega.Equal(http.StatusTooManyRequests))
			} else {
				g.Expect(body).To(gomega.Equal(want), "there is no room for it, and the operation may be repeated")
			}
			_, body = send(h, request(t, "/", "k1", "", "Authorization", "other"))
			g.Expect(body).To(gomega.HavePrefix("call "))
		}
	})
}

// Responses that are long.
func TestLimitsOfResponses(t *testing.T) {
	t.Run("replays at a time", func(t *testing.T) {
		g := gomega.NewWithT(t)
		h := before(t, Config{Memory: 2 * piece}, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", inline+1)) })
		send(h, request(t, "/", "k", ""))
		for _, c := range []struct{ bytes, status int }{{0, http.StatusOK}, {1, http.StatusTooManyRequests}} {
			other := h.limits.open(hashed(""), time.Now())
			g.Expect(other.borrow(c.bytes)).To(gomega.Succeed())
			response, _ := send(h, request(t, "/", "k", ""))
			g.Expect(response.StatusCode).To(gomega.Equal(c.status))
			other.close()
		}
	})
	t.Run("a response that is too long", func(t *testing.T) {
		g := gomega.NewWithT(t)
		h := before(t, Config{MaxResponse: 10}, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("x", 11)) })
		first, body := send(h, request(t, "/", "k", ""))
		g.Expect(code(t, first, body)).To(gomega.Equal(CodeTooLarge))
		_, again := send(h, request(t, "/", "k", ""))
		g.Expect(again).To(gomega.Equal(body))
	})
}

func TestALongResponse(t *testing.T) {
	g := gomega.NewWithT(t)
	long := strings.Repeat("0123456789abcdef", 80<<10) // 1.25 MiB: three pieces
	h := before(t, Config{}, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, long) })
	for range 2 {
		_, body := send(h, request(t, "/", "k", ""))
		g.Expect(body == long).To(gomega.BeTrue())
	}
}

func TestAHandlerThatPanics(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	h := before(t, Config{}, func(http.ResponseWriter, *http.Request) {
		calls.Add(1)
		panic("broken")
	})
	for range 2 {
		response, body := send(h, request(t, "/", "k", ""))
		g.Expect(code(t, response, body)).To(gomega.Equal(CodeUnknown))
	}
	g.Expect(calls.Load()).To(gomega.Equal(int64(1)))
}

func TestALostStore(t *testing.T) {
	g, calls := gomega.NewWithT(t), atomic.Int64{}
	s := memory(t)
	h := before(t, Config{Store: s}, counting(&calls))
	g.Expect(s.Close()).To(gomega.Succeed())
	response, body := send(h, request(t, "/", "k", ""))
	g.Expect(response.StatusCode).To(gomega.Equal(http.StatusServiceUnavailable))
	g.Expect(code(t, response, body)).To(gomega.Equal(CodeStore))
	g.Expect(calls.Load()).To(gomega.BeZero())
}

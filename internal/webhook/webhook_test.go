package webhook

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// The example of the Standard Webhooks specification.
func TestSignature(t *testing.T) {
	g := NewWithT(t)
	h, err := New("http://127.0.0.1/", secret, 0)
	g.Expect(err).NotTo(HaveOccurred())
	h.now = func() time.Time { return time.Unix(1614265330, 0) }
	g.Expect(h.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", []byte(`{"test": 2432232314}`))).To(Equal(map[string]string{
		"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
		"webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
	}))
}

func TestDelivery(t *testing.T) {
	for name, c := range map[string]struct {
		answers []int
		tries   int
		wrong   string
	}{
		"taken":             {[]int{204}, 1, ""},
		"taken later":       {[]int{500, 429, 200}, 3, ""},
		"never taken":       {[]int{500, 500, 500}, 3, "answers 500"},
		"refused":           {[]int{400}, 1, "answers 400"},
		"no way to another": {[]int{302}, 1, "answers 302"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ids := map[string]int{}
			n := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ids[r.Header.Get("webhook-id")]++
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(c.answers[n])
				n++
			}))
			defer server.Close()
			h, err := New(server.URL, secret, 0)
			g.Expect(err).NotTo(HaveOccurred())
			h.wait = func(context.Context, time.Duration) error { return nil }
			err = h.Send(t.Context(), "evt_1", []byte("{}"))
			if c.wrong == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(c.wrong)))
			}
			g.Expect(ids).To(Equal(map[string]int{"evt_1": c.tries}))
		})
	}
}

// A receiver that does not answer holds up nobody for longer than the time of its tries.
func TestHangingReceiver(t *testing.T) {
	g := NewWithT(t)
	block := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-block }))
	defer server.Close()
	defer close(block)
	h, err := New(server.URL, secret, 10*time.Millisecond)
	g.Expect(err).NotTo(HaveOccurred())
	h.wait = func(context.Context, time.Duration) error { return nil }
	g.Expect(h.Send(t.Context(), "evt_1", nil)).To(MatchError(context.DeadlineExceeded))
}

func TestWrongHooks(t *testing.T) {
	short := secretPrefix + base64.StdEncoding.EncodeToString([]byte("short"))
	for name, c := range map[string]struct{ url, secret, wrong string }{
		"no address":           {"example.org", secret, "url"},
		"a name in the url":    {"http://me:me@example.org", secret, "url"},
		"no prefix":            {"http://example.org", strings.TrimPrefix(secret, secretPrefix), "secret"},
		"a secret that is bad": {"http://example.org", short, "secret"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(c.url, c.secret, 0)
			NewWithT(t).Expect(err).To(MatchError(HavePrefix(c.wrong)))
		})
	}
}

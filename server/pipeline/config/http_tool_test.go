package config

// A tool behind HTTP: what its server gets.

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// The server of a tool gets the key of a call that may be sent again, and no key with any other call.
func TestTheServerOfAToolGetsTheKeyOfTheCall(t *testing.T) {
	g := gomega.NewWithT(t)
	keys := make(chan []string, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Values("Idempotency-Key")
		_, _ = w.Write([]byte("done")) // the client has an error if it fails
	}))
	t.Cleanup(s.Close)
	run, err := HTTPTool(Endpoint{URL: s.URL})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	output, err := run(pipeline.WithIdempotencyKey(t.Context(), "run_1.call"), "{}")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(output).To(gomega.Equal("done"))
	g.Expect(<-keys).To(gomega.Equal([]string{"run_1.call"}))
	_, err = run(t.Context(), "{}")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(<-keys).To(gomega.BeEmpty())
}

package server_test

// A client that sends its request body slowly.

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
)

// TestSlowBody checks that the server does not wait for a client that never ends its request's body.
func TestSlowBody(t *testing.T) {
	for path, kind := range map[string]string{
		"/v1/realtime/calls":          "application/sdp",
		"/v1/realtime/client_secrets": "application/json",
	} {
		story(t, path, func(t *testing.T) {
			h := serve(t, scripted.New(scripted.Options{}), nil)
			body, never := io.Pipe()
			defer func() { _ = never.Close() }() // nobody reads it any more
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://server.test"+path, body)
			h.g.Expect(err).NotTo(gomega.HaveOccurred())
			r.Header.Set("Content-Type", kind)
			began := time.Now()
			answer, err := h.web.Do(r)
			h.g.Expect(err).NotTo(gomega.HaveOccurred())
			text, err := io.ReadAll(answer.Body)
			h.g.Expect(err).NotTo(gomega.HaveOccurred())
			h.g.Expect(answer.Body.Close()).To(gomega.Succeed())
			h.g.Expect(answer.StatusCode).To(gomega.Equal(http.StatusBadRequest))
			h.g.Expect(string(text)).To(gomega.ContainSubstring("invalid_body"))
			h.g.Expect(time.Since(began)).To(gomega.Equal(30 * time.Second))
		})
	}
}

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/onsi/gomega"
)

// A span arrives at the collector by OTLP.
func TestTracesGoToTheCollector(t *testing.T) {
	g := gomega.NewWithT(t)
	got := make(chan string, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.Path + " " + r.Header.Get("Content-Type") + " " + string(body)
	}))
	defer collector.Close()
	tracer, stop, err := openTraces(t.Context(), collector.URL+"/v1/traces")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, span := tracer.Start(t.Context(), "turn")
	span.End()
	g.Expect(stop()).To(gomega.Succeed())
	g.Expect(<-got).To(gomega.And(gomega.HavePrefix("/v1/traces application/x-protobuf"), gomega.ContainSubstring("turn"), gomega.ContainSubstring("antiphon")))
	_, _, err = openTraces(t.Context(), "://")
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("--otlp-endpoint")))
}

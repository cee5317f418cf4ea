package stt_test

// Realtime transcription with a real server: Antiphon itself.

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/pipetest"
	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/engine/stt"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// TestAnotherAntiphonRecognises: one server is the recogniser of another.
func TestAnotherAntiphonRecognises(t *testing.T) {
	g := gomega.NewWithT(t)
	s, err := server.New(server.Config{Pipeline: scripted.New(scripted.Options{}), LoopbackOnly: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		g.Expect(s.Close(context.WithoutCancel(t.Context()))).To(gomega.Succeed())
		h.Close()
	})
	r, err := stt.NewRealtime(stt.RealtimeOptions{Server: remote.Config{URLs: []string{h.URL + "/v1"}, FirstByte: 10 * time.Second}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { _ = r.Close() })
	pcm, err := pipetest.Path{Lead: 0.2}.Send(scripted.Tones("good morning to you"), pipeline.OutputRate)
	g.Expect(err).NotTo(gomega.HaveOccurred())

	u, err := r.Open(t.Context(), pipeline.TranscribeConfig{Live: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer u.Close()
	g.Expect(u.Write(pcm)).To(gomega.Succeed())
	g.Expect(u.CloseInput()).To(gomega.Succeed())
	var end pipeline.TranscriptResult
	for end = range u.Results() {
	}
	g.Expect(end.Err).NotTo(gomega.HaveOccurred())
	g.Expect(end.Text).To(gomega.Equal("good morning to you"))
}

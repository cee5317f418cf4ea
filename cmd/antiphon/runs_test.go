package main

// What a server keeps if this machine has no place for a store.

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/store"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
)

// A server in a container without a folder for temporary files serves calls, and says what it does not do. Runs need a store.
func TestServerWithoutAStore(t *testing.T) {
	g := gomega.NewWithT(t)
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	k, err := withoutStore(nil, logger, store.ErrNoFolder)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(k.Close()).To(gomega.Succeed())
	g.Expect(log.String()).To(gomega.And(gomega.ContainSubstring("Idempotency-Key"), gomega.ContainSubstring("TMPDIR")))

	file, err := config.Load(write(t, "antiphon.yaml", `{tools: {functions: [{name: book, url: "http://127.0.0.1:1/", background: true}]}}`), nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = withoutStore(file, logger, store.ErrNoFolder)
	g.Expect(err).To(gomega.MatchError(store.ErrNoFolder))
}

package main

// The flags of the store and of a cluster, and a server on a machine that has no place for a store.

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server"
	kept "github.com/antiphon-rt/antiphon/server/storage"
)

// A server in a container without a folder for temporary files serves calls, and says what it does not do. Runs need a store.
func TestServerWithoutAStore(t *testing.T) {
	g := gomega.NewWithT(t)
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))
	g.Expect(unlessServed(kept.ErrNoFolder, 0, logger)).To(gomega.Succeed())
	g.Expect(log.String()).To(gomega.And(gomega.ContainSubstring("Idempotency-Key"), gomega.ContainSubstring("TMPDIR")))
	g.Expect(unlessServed(kept.ErrNoFolder, 1, logger)).To(gomega.MatchError(kept.ErrNoFolder))
	g.Expect(unlessServed(errors.New("other"), 0, logger)).To(gomega.MatchError(gomega.ContainSubstring("--data")))
	g.Expect((*kept.Storage)(nil).Close(t.Context())).To(gomega.Succeed())
}

// A file names a background tool, and its server keeps runs.
func TestServeKeepsRuns(t *testing.T) {
	g, c := gomega.NewWithT(t), serve{Config: write(t, "antiphon.yaml", `{tools: {functions: [{name: book, url: "http://127.0.0.1:1/", background: true}]}}`)}
	file, err := c.readConfig(nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var cfg server.Config
	s, err := c.openStorage(t.Context(), file, &cfg, slog.New(slog.DiscardHandler))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { g.Expect(within(s.Close)).To(gomega.Succeed()) }()
	g.Expect(cfg.Runs).NotTo(gomega.BeNil())
	g.Expect(cfg.Tools.Tools).To(gomega.HaveLen(1))
}

func TestStorageChecksItsFlags(t *testing.T) {
	for says, s := range map[string]storage{
		"--data and --nats": {Data: "x", NATS: "nats://127.0.0.1:1"}, "--nats-replicas": {Replicas: 3}, "want 1 to 5": {NATS: "nats://127.0.0.1:1", Replicas: 6},
	} {
		c := serve{storage: s}
		_, err := c.openStorage(t.Context(), nil, &server.Config{}, slog.New(slog.DiscardHandler))
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring(says)))
	}
}

func TestClusterChecksItsFlags(t *testing.T) {
	nats := storage{NATS: "nats://127.0.0.1:1"}
	for says, c := range map[string]serve{
		"--node-url needs --nats": {network: network{clustered: clustered{NodeURL: "http://10.0.0.1:8080"}}}, "--node-name needs --node-url": {network: network{clustered: clustered{NodeName: "one"}}},
		"--node-url: want the address": {storage: nats, network: network{clustered: clustered{NodeURL: "10.0.0.1:8080"}}},
	} {
		gomega.NewWithT(t).Expect(c.checkNode()).To(gomega.MatchError(gomega.ContainSubstring(says)))
	}
	for _, c := range []serve{{}, {storage: nats}, {storage: nats, network: network{clustered: clustered{NodeURL: "http://10.0.0.1:8080", NodeName: "one"}}}} {
		gomega.NewWithT(t).Expect(c.checkNode()).To(gomega.Succeed())
	}
}

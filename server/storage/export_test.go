package storage

import (
	"context"
	"log/slog"

	"github.com/antiphon-rt/antiphon/internal/cluster"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// OpenNode opens the storage of a server of a cluster in a store that several servers of this process share. Close leaves the store open.
func OpenNode(ctx context.Context, in *store.Store, cfg cluster.Config) (s *Storage, err error) {
	s = &Storage{store: in, logger: slog.New(slog.DiscardHandler)}
	defer func() { s.store = nil }()
	cfg.Store = in
	if s.node, err = cluster.Join(ctx, cfg); err != nil {
		return nil, err
	}
	s.Stored.Cluster = s.node
	return s, s.openJournal(ctx, 0)
}

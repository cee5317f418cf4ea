package main

// This file has the flags of the store, which `antiphon serve` and `antiphon once` share, and of a cluster, several servers on one NATS server.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/antiphon-rt/antiphon/internal/cluster"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline/config"
	kept "github.com/antiphon-rt/antiphon/server/storage"
)

// storage has the flags that say where the store is.
type storage struct {
	Data     string `type:"path" placeholder:"DIR" help:"Folder of what stays after the end of this process: idempotency keys and their responses, and the runs of serve. Without it and without --nats they are in memory, and the end of this process loses them."`
	NATS     string `name:"nats" placeholder:"URL" help:"A NATS server with JetStream that keeps them in place of a folder, such as nats://host:4222. Several processes of this kind may share it."`
	Replicas int    `name:"nats-replicas" default:"1" placeholder:"N" help:"With --nats: how many servers of a NATS cluster keep each value, 1 to 5."`
}

// clustered has the flags of a server of a cluster.
type clustered struct {
	NodeURL  string `name:"node-url" placeholder:"URL" help:"With --nats: where the other servers on the NATS server reach the HTTP of this one, such as http://10.0.0.1:8080. They then pass requests about its calls on to it."`
	NodeName string `placeholder:"NAME" help:"With --node-url: the name of this server in the logs of the others. The host's name if it is empty."`
}

// check returns an error for flags that contradict each other.
func (s *storage) check() error {
	switch {
	case s.Data != "" && s.NATS != "":
		return errors.New("--data and --nats: name one of them")
	case s.Replicas < 0 || s.Replicas > 5 || s.Replicas > 1 && s.NATS == "":
		return errors.New("--nats-replicas: want 1 to 5, and --nats, too")
	}
	return nil
}

// replicas returns the value of the flag that counts: its default counts with --nats alone.
func (s *storage) replicas() int {
	if s.NATS == "" {
		return 0
	}
	return s.Replicas
}

// node returns the name of this server.
func (c *clustered) node() string {
	host, _ := os.Hostname() // a server without a name has none in the console
	return cmp.Or(c.NodeName, host)
}

// checkNode returns an error for flags of a cluster that cannot be used.
func (c *serve) checkNode() error {
	switch {
	case c.NodeURL == "" && c.NodeName != "":
		return errors.New("--node-name needs --node-url, too")
	case c.NodeURL == "":
		return nil
	case c.NATS == "":
		return errors.New("--node-url needs --nats, too: the servers of a cluster find each other there")
	}
	if _, err := cluster.CheckURL(c.NodeURL); err != nil {
		return fmt.Errorf("--node-url: %w", err)
	}
	return nil
}

// openStorage opens what the server keeps, and writes it into cfg. The caller closes it. It returns nil if this machine has no place for it, and the configuration does not need it.
// file may be nil.
func (c *serve) openStorage(ctx context.Context, file *config.File, cfg *server.Config, logger *slog.Logger) (*kept.Storage, error) {
	if err := errors.Join(c.check(), c.checkNode()); err != nil {
		return nil, err
	}
	options := kept.Options{
		Dir: c.Data, NATS: c.NATS, Replicas: c.replicas(), NodeURL: c.NodeURL, NodeName: c.NodeName, LongestSession: c.SessionLength, Trace: cfg.Trace, Logger: logger,
	}
	if file != nil {
		tools, err := file.BackgroundTools(config.Env{Logger: logger})
		if err != nil {
			return nil, err
		}
		for _, t := range tools {
			options.Background = append(options.Background, kept.Tool(t))
		}
	}
	s, err := kept.Open(ctx, options)
	if err != nil {
		return nil, unlessServed(err, len(options.Background), logger)
	}
	cfg.Stored, cfg.Tools.Tools = s.Stored, append(cfg.Tools.Tools, s.Tools...)
	context.AfterFunc(ctx, s.EndStreams) // the HTTP server waits for its requests when it stops
	return s, nil
}

// unlessServed returns the error with which a storage was not opened; nil if the server can serve without one, because no background tool needs it.
func unlessServed(err error, background int, logger *slog.Logger) error {
	if errors.Is(err, kept.ErrNoFolder) && background == 0 {
		logger.Warn("the server does not read the header Idempotency-Key", "err", err)
		return nil
	}
	return fmt.Errorf("--data, --nats: %w", err)
}

// newServer returns a server with what it keeps, which may be nil, and has the other servers of the cluster know it.
func newServer(ctx context.Context, cfg server.Config, s *kept.Storage) (*server.Server, error) {
	made, err := server.New(cfg)
	if err != nil || s == nil {
		return made, err
	}
	if err := s.Publish(ctx, made); err != nil {
		return nil, errors.Join(err, made.Close(ctx))
	}
	return made, nil
}

// draining is a server and what it keeps.
type draining struct {
	*server.Server
	kept *kept.Storage
}

// Drain lets the calls end at a pause and the runs that are worked on come to their end, at most for the time within.
func (d draining) Drain(ctx context.Context, within time.Duration) error {
	if d.kept == nil {
		return d.Server.Drain(ctx, within)
	}
	return d.kept.Drain(ctx, d.Server, within)
}

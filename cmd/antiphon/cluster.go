package main

// This file has the flags of a cluster, several servers on one NATS server, and joins it.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/antiphon-rt/antiphon/internal/cluster"
	"github.com/antiphon-rt/antiphon/server"
)

// clustered has the flags of a server of a cluster.
type clustered struct {
	NodeURL  string `name:"node-url" placeholder:"URL" help:"With --nats: where the other servers on the NATS server reach the HTTP of this one, such as http://10.0.0.1:8080. They then pass requests about its calls on to it."`
	NodeName string `placeholder:"NAME" help:"With --node-url: the name of this server in the logs of the others. The host's name if it is empty."`
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

// join joins the cluster if the flags name one, and writes it into cfg.
func (c *serve) join(ctx context.Context, k *kept, cfg *server.Config, logger *slog.Logger) error {
	if c.NodeURL == "" {
		return nil
	}
	host, _ := os.Hostname() // a server without a name is known by its URL
	node, err := cluster.Join(ctx, cluster.Config{Store: k.store, URL: c.NodeURL, Name: cmp.Or(c.NodeName, host), Logger: logger})
	if err != nil {
		return fmt.Errorf("--node-url: %w", err)
	}
	k.node, cfg.Cluster = node, node
	return nil
}

// name returns the name of this process in the journals of its calls; "" without a cluster.
func (k *kept) name() string {
	if k.node == nil {
		return ""
	}
	return k.node.ID()
}

// newServer returns a server, and has the other servers of the cluster know it.
func (k *kept) newServer(ctx context.Context, cfg server.Config) (*server.Server, error) {
	s, err := server.New(cfg)
	if err != nil || k.node == nil {
		return s, err
	}
	err = k.node.Publish(ctx, func() cluster.Load {
		now := s.Standing()
		uses := make(map[string]cluster.Use, len(now.Uses))
		for principal, u := range now.Uses {
			uses[principal] = cluster.Use(u)
		}
		adopted := make([]cluster.Adopted, 0, len(now.Adopted))
		for _, a := range now.Adopted {
			adopted = append(adopted, cluster.Adopted(a))
		}
		return cluster.Load{Calls: now.Calls, Most: now.Most, Late: now.Late, CPU: now.CPU, Full: now.Full, Draining: now.Draining, Use: uses, Shares: now.Shares, Adopted: adopted}
	}, s.OthersUsed)
	if err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	return s, nil
}

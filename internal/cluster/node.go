package cluster

// A server of the cluster: joins it, publishes its record, and reads those of the others.

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/store"
)

// Config is what a Node needs.
type Config struct {
	// Store is shared by the servers of the cluster.
	Store *store.Store
	// URL is where the others reach the HTTP of this server, such as http://10.0.0.1:8080. It leads to this server alone, and not to a proxy.
	URL string
	// Name is what people call this server, in logs.
	Name string
	// Reach is how long another server may take to say that it has a request; 0 takes 1 s.
	Reach time.Duration
	// Logger gets a line when a server comes or goes. nil discards them.
	Logger *slog.Logger
}

// Node is this process as a server of the cluster. It is safe for concurrent use.
type Node struct {
	cfg       Config
	id        string        // of this process; after a restart the server has another one
	changed   chan struct{} // has a token when the record is to be published at once
	looking   looking
	key       sealKey
	records   *store.Bucket
	table     table
	ledger    ledger
	transport *http.Transport

	mu     sync.Mutex
	passed map[string]uint64 // how many requests were passed on, by result
	load   func() Load       // nil until Publish
	spent  Spent             // nil until Publish

	stop context.CancelFunc
	done chan struct{}
}

// The buckets, and times of the records in them.
const (
	nodesBucket  = "nodes"
	markKey      = "key" // the name of the key of marks and passages
	publishEvery = time.Second
	// keepRecord is how long the record of a server stays after it was written last. Until then others still pass requests about its calls on to it.
	keepRecord = 30 * time.Second
	// storeTimeout limits each reading and each writing of records.
	storeTimeout = 2 * time.Second
	maxRecord    = 512 << 10
)

// CheckURL reads the address of a server, such as http://10.0.0.1:8080.
func CheckURL(text string) (*url.URL, error) {
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Hostname() == "" || at.User != nil ||
		at.Path != "" && at.Path != "/" || at.RawQuery != "" || at.Fragment != "" {
		return nil, errors.New("want the address of this server alone, such as http://10.0.0.1:8080")
	}
	return at, nil
}

// Join returns a Node that knows the other servers. The others know it after Publish. The caller closes it before the store.
func Join(ctx context.Context, cfg Config) (*Node, error) {
	if _, err := CheckURL(cfg.URL); err != nil {
		return nil, fmt.Errorf("cluster: %s: %w", cfg.URL, err)
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Reach == 0 {
		cfg.Reach = reachWithin
	}
	n := &Node{cfg: cfg, id: rand.Text()[:idLength], transport: newTransport(cfg.Reach, quietFor), passed: map[string]uint64{}, done: make(chan struct{})}
	n.changed, n.looking.one = make(chan struct{}, 1), make(chan struct{}, 1)
	n.table = table{own: n.id, silence: silence, avoidFor: avoidFor}
	var err error
	if n.key, err = sharedKey(ctx, cfg.Store, markKey, cfg.Logger); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	n.records, err = cfg.Store.Bucket(ctx, store.BucketConfig{Name: nodesBucket, Keep: keepRecord, MaxBytes: 2 * maxNodes * maxRecord, MaxValue: maxRecord})
	if err == nil {
		err = n.look(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	ctx, n.stop = context.WithCancel(context.WithoutCancel(ctx))
	go n.run(ctx)
	return n, nil
}

// Spent gets what the other servers have taken from the budget of a principal.
type Spent func(principal string, requests, tokens uint64)

// Publish publishes the load of this server at once and then every second. From now on spent is called with what the others have used.
func (n *Node) Publish(ctx context.Context, load func() Load, spent Spent) error {
	n.mu.Lock()
	n.load, n.spent = load, spent
	n.mu.Unlock()
	if err := n.publish(ctx); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	return nil
}

// ID returns the name that this process alone has in the cluster.
func (n *Node) ID() string { return n.id }

// TookOver has the others know at once what Load says of the calls that this server has taken over.
func (n *Node) TookOver() {
	select {
	case n.changed <- struct{}{}:
	default: // it is about to publish
	}
}

// Close removes this server from the cluster, within a few seconds.
func (n *Node) Close() error {
	n.stop()
	<-n.done
	n.transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	if err := n.records.Delete(ctx, n.id); err != nil {
		n.cfg.Logger.Warn("cluster: the record of this server stays for a while", "err", err)
	}
	return nil
}

// run publishes and looks until ctx is done.
func (n *Node) run(ctx context.Context) {
	defer close(n.done)
	due := time.NewTicker(publishEvery)
	defer due.Stop()
	away := false
	for {
		var err error
		before := n.table.alive(time.Now())
		select {
		case <-ctx.Done():
			return
		case <-n.changed:
			err = n.publish(ctx)
		case <-due.C:
			err = errors.Join(n.publish(ctx), n.look(ctx))
		}
		if ctx.Err() != nil {
			return
		}
		if failed := err != nil; failed != away {
			away = failed
			n.cfg.Logger.Warn("cluster: the store of the cluster", "answers", !away, "err", err)
		}
		if after := n.table.alive(time.Now()); after != before {
			n.cfg.Logger.Info("cluster: other servers", "now", after, "before", before)
		}
	}
}

// publish writes the record of this server.
func (n *Node) publish(ctx context.Context) error {
	n.mu.Lock()
	load := n.load
	n.mu.Unlock()
	if load == nil {
		return nil
	}
	now := load()
	now.Uses = mostUses(now.Uses)
	value, err := json.Marshal(record{Name: n.cfg.Name, URL: n.cfg.URL, Load: now, Adopted: n.key.writeAdopted(now.Adopted), Shares: n.key.shares(now.Shares)})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return n.records.Put(ctx, n.id, value)
}

// look reads the records of all servers.
func (n *Node) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	select {
	case n.looking.one <- struct{}{}:
		defer func() { <-n.looking.one }()
	case <-ctx.Done():
		return ctx.Err()
	}
	n.looking.began = time.Now()
	return n.read(ctx)
}

// read reads the records of all servers into the table. The caller has looking.one.
func (n *Node) read(ctx context.Context) error {
	ids, err := n.records.Keys(ctx)
	if err != nil {
		return err
	}
	entries := map[string]store.Entry{}
	for _, id := range ids[:min(len(ids), 2*maxNodes)] {
		e, err := n.records.Get(ctx, id)
		switch {
		case errors.Is(err, store.ErrNotFound): // it has left meanwhile
		case err != nil:
			return err
		default:
			entries[id] = e
		}
	}
	stored, err := n.cfg.Store.Now(ctx)
	if err != nil {
		return err
	}
	n.table.update(entries, stored, time.Now())
	n.mu.Lock()
	spent := n.spent
	n.mu.Unlock()
	if spent == nil {
		return nil
	}
	for principal, took := range n.ledger.read(n.table.uses()) {
		if took.requests > 0 || took.tokens > 0 {
			spent(principal, took.requests, took.tokens)
		}
	}
	return nil
}

// Stats returns how many servers there are, with this one, and how many requests were passed on, by result.
func (n *Node) Stats() (nodes int, passed map[string]uint64) {
	passed = map[string]uint64{}
	for _, result := range results {
		passed[result] = 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for result, count := range n.passed {
		passed[result] = count
	}
	return n.table.alive(time.Now()) + 1, passed
}

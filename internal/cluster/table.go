package cluster

// The table of a server: what it knows of the others.

import (
	"encoding/json"
	"net/url"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/httpapi/fleet"
	"github.com/antiphon-rt/antiphon/internal/store"
)

const (
	// silence is how long a server may publish nothing. After that it gets no new calls, and its calls do not count. Requests about its calls still go to it.
	silence = 3 * time.Second
	// avoidFor is how long a server gets no request after it has not answered one.
	avoidFor = 5 * time.Second
	// maxNodes is how many other servers one knows.
	maxNodes = 64
)

// What a server publishes of itself: see package fleet.
type (
	Load    = fleet.Standing
	Use     = fleet.Use
	Adopted = fleet.Adopted
)

// busyCPU is the processor time, in percent, below which it says nothing about the calls: the start of a program takes as much.
const busyCPU = 50

// shareOf returns how much of its calls, or of its processor time if that is much, a server uses: 1 is all.
func shareOf(l Load) float64 {
	share := float64(l.Calls) / float64(max(l.Most, 1))
	if l.CPU > busyCPU {
		share = max(share, l.CPU/100)
	}
	return share
}

// record is what a server publishes of itself.
type record struct {
	Name string `json:"name"`
	URL  string `json:"url"`
	Load
	Adopted []byte         `json:"adopted,omitempty"`
	Shares  map[string]int `json:"shares,omitempty"`
}

// peer is another server.
type peer struct {
	record
	id    string
	url   *url.URL
	heard time.Time // when it published what is known
	avoid time.Time // until then it gets no request

	revision uint64    // of its record
	placed   int       // how many new calls it got from this server since it published the record
	refused  time.Time // until then it gets no new call
}

// table has the other servers. It is safe for concurrent use.
type table struct {
	own               string // the id of this server
	silence, avoidFor time.Duration

	mu      sync.Mutex
	peers   map[string]*peer
	adopted map[code]adopter
	read    time.Time // when the store was read
}

// readRecord returns the record of a server, or false for one that is not usable.
func readRecord(value []byte) (r record, at *url.URL, ok bool) {
	if err := json.Unmarshal(value, &r); err != nil {
		return r, nil, false
	}
	at, err := CheckURL(r.URL)
	r.Calls, r.Most = max(r.Calls, 0), max(r.Most, 1)
	return r, at, err == nil
}

// update replaces the table by what the store has. stored is the time of the store's clock at the moment now.
func (t *table) update(entries map[string]store.Entry, stored, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.peers
	t.peers, t.adopted, t.read = map[string]*peer{}, map[code]adopter{}, now
	for id, e := range entries {
		r, at, ok := readRecord(e.Value)
		if id == t.own || !ok || len(t.peers) >= maxNodes {
			continue
		}
		p := &peer{record: r, id: id, url: at, heard: now.Add(-max(0, stored.Sub(e.Written))), revision: e.Revision}
		if was := before[id]; was != nil {
			p.avoid, p.refused = was.avoid, was.refused
			if was.revision == p.revision {
				p.placed = was.placed
			}
		}
		t.peers[id] = p
		for c, epoch := range readAdopted(r.Adopted) {
			if t.adopted[c].epoch < epoch {
				t.adopted[c] = adopter{p, epoch}
			}
		}
	}
}

// find returns the server with that id, or nil if this server does not know it, or if it has just not answered. A server that is silent may be found: it may be
// the store that does not answer, or its way to the store.
func (t *table) find(id string, now time.Time) *peer {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.peers[id]; p != nil && !now.Before(p.avoid) {
		return p
	}
	return nil
}

// failed notes that a server has not answered. It reports whether that is new: several requests may wait for it at the same time.
func (t *table) failed(id string, now time.Time) (isNew bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.peers[id]; p != nil {
		isNew = !now.Before(p.avoid)
		p.avoid = now.Add(t.avoidFor)
	}
	return isNew
}

// alive returns how many servers there are that are not silent, without this one.
func (t *table) alive(now time.Time) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.peers {
		if now.Sub(p.heard) < t.silence {
			n++
		}
	}
	return n
}

package console

// The HTTP API of the console.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
)

// Path is where the API is.
const Path = "/v1/antiphon/console/"

// Limits of the streams of events.
const (
	maxReaders   = 8 // of one operator's key
	maxStream    = time.Hour
	refreshEvery = 250 * time.Millisecond
	stillThere   = 15 * time.Second
)

// endpoint answers a request of an operator.
type endpoint func(w http.ResponseWriter, r *http.Request) *answer.Problem

// Handler returns the HTTP handler of the API.
func (c *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	for path, serve := range map[string]endpoint{"calls": c.snapshot, "events": c.events, "machines": machines, "logbooks": c.logbooks, "logbooks/{name}": c.logbook} {
		mux.HandleFunc("GET "+Path+path, func(w http.ResponseWriter, r *http.Request) {
			if p := serve(w, r); p != nil {
				p.Write(w)
			}
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		(&answer.Problem{Status: http.StatusNotFound, Code: "unknown_url", Message: "the console has no " + r.Method + " " + r.URL.Path}).Write(w)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := c.operator(r); !ok {
			(&answer.Problem{Status: http.StatusUnauthorized, Code: "invalid_operator_key", Message: "show an operator's key: Authorization: Bearer KEY. It is a key of --console-key-file"}).
				With("WWW-Authenticate", `Bearer realm="antiphon console"`).Write(w)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// operator returns the name of the operator's key with which a request came. It reads the header alone, which no page of another origin can send unasked.
func (c *Console) operator(r *http.Request) (name string, ok bool) {
	kind, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(kind, "Bearer") {
		return "", false
	}
	return c.keys.Load().Principal(strings.TrimSpace(key))
}

// About says what a reader must know of the server.
type About struct {
	Node     string    `json:"node"`
	Version  string    `json:"version"`
	Words    bool      `json:"words"`
	Logbooks bool      `json:"logbooks"`
	Dropped  uint64    `json:"dropped"` // notes, because too many waited
	Now      time.Time `json:"now"`
}

// Update says what has changed. The first one has all.
type Update struct {
	Server About    `json:"server"`
	Order  []string `json:"order"` // all sessions, if one has come or gone: those that there are, newest first, and then those that have ended
	Calls  []Call   `json:"calls"`
	Open   *Opened  `json:"open,omitempty"`
}

// Opened has the parts of the call that a reader has opened. Steps are those that came since the last update.
type Opened struct {
	Session string  `json:"session"`
	Steps   []Step  `json:"steps"`
	Turns   []Turn  `json:"turns"`
	Lines   []Line  `json:"lines"`
	Errors  []Fault `json:"errors"`
}

// reader is what a reader has got.
type reader struct {
	open    string // the session whose parts it wants; "" for none
	version uint64
	begun   bool
	step    int
}

// next returns what has changed since the last time; nil for nothing.
func (c *Console) next(r *reader) *Update {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := &c.book
	if r.begun && b.version == r.version {
		return nil
	}
	u := &Update{Calls: []Call{}, Server: About{c.cfg.Node, c.cfg.Version, c.cfg.Words, c.cfg.Logbooks != "", c.dropped.Load(), time.Now()}}
	if !r.begun || b.members > r.version {
		u.Order = b.order()
	}
	for _, one := range b.calls {
		if one.changed <= r.version && r.begun {
			continue
		}
		shown := one.Call
		shown.Machines = slices.Clone(shown.Machines)
		u.Calls = append(u.Calls, shown)
		if one.Session == r.open {
			from, _ := slices.BinarySearchFunc(one.steps, r.step, func(s Step, n int) int { return cmp.Compare(s.N, n+1) })
			u.Open = &Opened{r.open, append([]Step{}, one.steps[from:]...), append([]Turn{}, one.turns...), append([]Line{}, one.lines...), append([]Fault{}, one.faults...)}
			r.step = one.n
		}
	}
	r.version, r.begun = b.version, true
	return u
}

// order returns the sessions: those that there are, newest first, and then those that have ended, the last one first.
func (b *book) order() []string {
	all := slices.SortedFunc(maps.Values(b.calls), func(x, y *call) int {
		switch {
		case x.Ended == nil && y.Ended == nil:
			return cmp.Or(y.Since.Compare(x.Since), strings.Compare(x.Session, y.Session))
		case x.Ended == nil:
			return -1
		case y.Ended == nil:
			return 1
		}
		return cmp.Or(y.Ended.Compare(*x.Ended), strings.Compare(x.Session, y.Session))
	})
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Session
	}
	return names
}

// snapshot answers with all calls, and with the parts of the one that the query opens.
func (c *Console) snapshot(w http.ResponseWriter, r *http.Request) *answer.Problem {
	answer.JSON(w, http.StatusOK, c.next(&reader{open: r.URL.Query().Get("open")}))
	return nil
}

// events streams updates. A client that reads slowly gets fewer of them, and httpguard ends the stream of one that does not read.
func (c *Console) events(w http.ResponseWriter, r *http.Request) *answer.Problem {
	name, _ := c.operator(r)
	if !c.admit(name) {
		return (&answer.Problem{Status: http.StatusTooManyRequests, Code: "too_many_readers", Message: fmt.Sprintf("this key reads %d streams of the console already: close a page", maxReaders)}).After(time.Second)
	}
	defer c.leave(name)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep the events back
	control := http.NewResponseController(w)
	send := func(text string) bool {
		_, err := w.Write([]byte(text))
		return err == nil && control.Flush() == nil
	}
	reads, until, said := &reader{open: r.URL.Query().Get("open")}, time.Now().Add(maxStream), time.Now()
	tick := time.NewTicker(refreshEvery)
	defer tick.Stop()
	for now := time.Now(); now.Before(until); {
		if _, still := c.operator(r); !still {
			return nil
		}
		if u := c.next(reads); u != nil {
			text, err := json.Marshal(u)
			if err != nil || !send("data: "+string(text)+"\n\n") {
				return nil
			}
			said = now
		} else if now.Sub(said) >= stillThere {
			if said = now; !send(": still there\n\n") {
				return nil
			}
		}
		select {
		case <-r.Context().Done():
			return nil
		case <-c.quit:
			return nil
		case now = <-tick.C:
		}
	}
	return nil
}

// admit counts a stream of a key. It reports false if the key has too many.
func (c *Console) admit(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readers[key] >= maxReaders {
		return false
	}
	c.readers[key]++
	return true
}

func (c *Console) leave(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readers[key]--; c.readers[key] == 0 {
		delete(c.readers, key)
	}
}

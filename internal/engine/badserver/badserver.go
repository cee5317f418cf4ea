// Package badserver checks how an adapter copes with a model server that misbehaves. It is for tests.
//
// A test describes the call of an adapter and the answer of a good server, and calls [Check]:
//
//	badserver.Check(t, badserver.Adapter{Stage: pipeline.StageModel, Good: good, Call: call})
//
// Each fault is a test of its own. The call must return one *pipeline.StageError that names the stage, the address without secrets, the
// status if the server sent one, and the first line of what the server said.
package badserver

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Key is the secret that the adapter of a Check must use. No error may have it.
const Key = "sk-bad-server"

// Limits of time for the first byte and for each pause. short is for servers that stop sending; their errors name it. All other answers must
// arrive within long, on a busy machine, too.
const short, long = 500 * time.Millisecond, time.Minute

// longest is how long a call may take: two tries, the pause between them, and a slow machine.
const longest = 10 * time.Second

// Answer is what a good server sends.
type Answer struct {
	Type string // the media type
	Body string
}

// Adapter is what a Check calls.
type Adapter struct {
	Stage string // the name that errors must have
	Good  Answer
	// Call makes an adapter for the server and calls it once. It returns the error of the call. Call must be able to run several times.
	Call func(ctx context.Context, server remote.Config) error
	// Skip names faults that this adapter cannot meet, with the reason.
	Skip map[string]string
}

// Check runs the adapter against each fault, and against good answers that arrive in unusual pieces.
func Check(t *testing.T, a Adapter) {
	t.Helper()
	for _, f := range faults() {
		if a.Skip[f.name] != "" || f.only != "" && !strings.HasPrefix(a.Good.Type, f.only) {
			continue
		}
		t.Run(f.name, func(t *testing.T) { a.fails(t, f) })
	}
	t.Run("good answers in pieces", a.pieces)
	t.Run("answers cut at every byte end", a.cuts)
}

// at returns the configuration of a server at url, with one round of tries.
func at(url string, firstByte, idle time.Duration) remote.Config {
	return remote.Config{URLs: []string{url}, Key: Key, FirstByte: firstByte, Idle: idle, Rounds: 1}
}

// serve starts a server that ends with the test, and returns its address.
func serve(t *testing.T, handle http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the end of a connection is not seen
		handle(w, r)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

func (a Adapter) fails(t *testing.T, f fault) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer "+Key {
			t.Errorf("the request has the authorization %q", got)
		}
		f.serve(w, r, a.Good)
	})
	begin := time.Now()
	err := a.Call(t.Context(), at(url+"/base?secret=7", cmp.Or(f.firstByte, long), cmp.Or(f.idle, long)))
	if took := time.Since(begin); took > longest {
		t.Errorf("the call took %v", took)
	}
	var stage *pipeline.StageError
	if !errors.As(err, &stage) || stage.Stage != a.Stage {
		t.Fatalf("the error is no StageError of the %s: %v", a.Stage, err)
	}
	text := err.Error()
	t.Log(text)
	if !strings.HasPrefix(text, a.Stage+": "+url+"/base/") || strings.Count(text, url) != 1 {
		t.Errorf("the error does not begin with the stage and the address, or has the address twice")
	}
	if !strings.Contains(text, f.want) {
		t.Errorf("the error does not say %q", f.want)
	}
	if strings.Contains(text, Key) || strings.Contains(text, "secret") || strings.ContainsAny(text, "\n\x1b") || len(text) > 600 {
		t.Errorf("the error has a secret or a control character, or is too long")
	}
}

// pieces checks that the adapter takes a good answer that the network cuts at any byte.
func (a Adapter) pieces(t *testing.T) {
	var present atomic.Int64 // where the answer is cut
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		cut := present.Load() // the client may end before the server has
		w.Header().Set("Content-Type", a.Good.Type)
		_, _ = io.WriteString(w, a.Good.Body[:cut])
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, a.Good.Body[cut:])
	})
	step := 1 + len(a.Good.Body)/500
	for cut := 0; cut <= len(a.Good.Body); cut += step {
		present.Store(int64(cut))
		if err := a.Call(t.Context(), at(url, long, long)); err != nil {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
	}
	slowly := min(len(a.Good.Body), 2000)
	one := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", a.Good.Type)
		for i := range slowly {
			_, _ = io.WriteString(w, a.Good.Body[i:i+1])
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, a.Good.Body[slowly:])
	})
	if err := a.Call(t.Context(), at(one, long, long)); err != nil {
		t.Fatalf("byte by byte: %v", err)
	}
}

// cuts checks that the adapter returns when the connection is cut after any byte: with a StageError, or without an error if what is missing
// does not matter.
func (a Adapter) cuts(t *testing.T) {
	var present atomic.Int64 // where the connection is cut
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", a.Good.Type)
		_, _ = io.WriteString(w, a.Good.Body[:present.Load()])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	failed := 0
	step := 1 + len(a.Good.Body)/200
	for cut := 0; cut < len(a.Good.Body); cut += step {
		present.Store(int64(cut))
		err := a.Call(t.Context(), at(url, long, long))
		var stage *pipeline.StageError
		if err != nil && !errors.As(err, &stage) {
			t.Fatalf("cut after %d bytes: %v", cut, err)
		}
		if err != nil {
			failed++
		}
	}
	if failed == 0 {
		t.Error("no cut is an error")
	}
}

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
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Key is the secret that the adapter of a Check must use. No error may have it.
const Key = "sk-bad-server"

// Short is the limit of time that the adapter of a Check must use for the first byte and for each pause.
const Short = 150 * time.Millisecond

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
	// Call makes an adapter for the server at url, with Key, Short and one round of tries, and calls it once. It returns the error of the
	// call. Call must be able to run several times.
	Call func(ctx context.Context, url string) error
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

// fails checks the error of one fault.
func (a Adapter) fails(t *testing.T, f fault) {
	g := gomega.NewWithT(t)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		g.Expect(r.Header.Get("Authorization")).To(gomega.Equal("Bearer " + Key))
		f.serve(w, r, a.Good)
	})
	begin := time.Now()
	err := a.Call(t.Context(), url+"/base?secret=7")
	g.Expect(time.Since(begin)).To(gomega.BeNumerically("<", longest))
	var stage *pipeline.StageError
	g.Expect(errors.As(err, &stage)).To(gomega.BeTrue(), "the error is no StageError: %v", err)
	g.Expect(stage.Stage).To(gomega.Equal(a.Stage))
	text := err.Error()
	t.Log(text)
	g.Expect(text).To(gomega.HavePrefix(a.Stage + ": " + url + "/base/"))
	g.Expect(strings.Count(text, url)).To(gomega.Equal(1), "the error names the address once")
	g.Expect(text).To(gomega.ContainSubstring(f.want))
	g.Expect(text).NotTo(gomega.Or(gomega.ContainSubstring(Key), gomega.ContainSubstring("secret"), gomega.ContainSubstring("\n"), gomega.ContainSubstring("\x1b")))
	g.Expect(len(text)).To(gomega.BeNumerically("<", 600))
}

// pieces checks that the adapter takes a good answer that the network cuts at any byte.
func (a Adapter) pieces(t *testing.T) {
	g := gomega.NewWithT(t)
	at := 0
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", a.Good.Type)
		_, _ = io.WriteString(w, a.Good.Body[:at])
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, a.Good.Body[at:])
	})
	step := 1 + len(a.Good.Body)/500
	for ; at <= len(a.Good.Body); at += step {
		g.Expect(a.Call(t.Context(), url)).To(gomega.Succeed(), "cut after %d bytes", at)
	}
	one := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", a.Good.Type)
		for i := range min(len(a.Good.Body), 2000) {
			_, _ = io.WriteString(w, a.Good.Body[i:i+1])
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, a.Good.Body[min(len(a.Good.Body), 2000):])
	})
	g.Expect(a.Call(t.Context(), one)).To(gomega.Succeed(), "byte by byte")
}

// cuts checks that the adapter returns when the connection is cut after any byte: with a StageError, or without an error if what is missing
// does not matter.
func (a Adapter) cuts(t *testing.T) {
	g := gomega.NewWithT(t)
	at := 0
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", a.Good.Type)
		_, _ = io.WriteString(w, a.Good.Body[:at])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	failed := 0
	step := 1 + len(a.Good.Body)/200
	for ; at < len(a.Good.Body); at += step {
		err := a.Call(t.Context(), url)
		var stage *pipeline.StageError
		g.Expect(err == nil || errors.As(err, &stage)).To(gomega.BeTrue(), "cut after %d bytes: %v", at, err)
		if err != nil {
			failed++
		}
	}
	g.Expect(failed).To(gomega.BeNumerically(">", 0))
}

//go:build !js

package sdktest

// Calls that files describe, against a server of this process.

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/calltest"
)

// Calls plays the calls that files describe (docs/testing-agents.md) against a server of this process, such as a *server.Server. It fails the test
// with all that the agent did wrong. files are names or patterns of package path/filepath, relative to the folder of the test.
//
// A call goes over a WebSocket in memory. If its line loses or delays packets, it goes over WebRTC on the loopback address. In a bubble of
// testing/synctest, a call over a WebSocket takes virtual time: with scripted stages, ten minutes take seconds.
// The server must begin and end in the same bubble. A server elsewhere is tested through an httputil.ReverseProxy, in real time.
func Calls(t TB, server http.Handler, files ...string) {
	t.Helper()
	var paths []string
	for _, pattern := range files {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no file is called %s", pattern)
			return
		}
		paths = append(paths, found...)
	}
	target, end := calltest.InMemory(server)
	defer end()
	var wrong []string
	for _, path := range paths {
		f, err := calltest.Load(path)
		if err != nil {
			t.Fatalf("%v", err)
			return
		}
		target.WebSocket = f.Fits(true) == nil
		r, err := calltest.Play(context.Background(), target, f)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
			return
		}
		if !r.Passed() {
			wrong = append(append(wrong, r.Problems...), "\t"+strings.Join(r.Transcript, "\n\t"))
		}
	}
	if len(wrong) > 0 {
		t.Fatalf("calls have failed:\n%s", strings.Join(wrong, "\n"))
	}
}

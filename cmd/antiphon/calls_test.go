package main

// antiphon test without a server: what it checks before the first call, and what it writes when there was none.

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/calltest"
)

func TestReportsAreOpenedBeforeTheFirstCall(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	call := filepath.Join(dir, "call.yaml")
	g.Expect(os.WriteFile(call, []byte("line: {loss: 1%}\ncall: [{write: hello}]\n"), 0o600)).To(gomega.Succeed())
	of := func() *test {
		return &test{Files: []string{call}, URL: "http://127.0.0.1:1", Repeat: 1, Least: 1, Patience: time.Second}
	}
	for flag, set := range map[string]func(*test, string){
		"--junit": func(o *test, p string) { o.JUnit = p }, "--json": func(o *test, p string) { o.JSON = p }, "--keep": func(o *test, p string) { o.Keep = p },
	} {
		o := of()
		set(o, filepath.Join(call, "none"))
		g.Expect(o.run(t.Context(), io.Discard)).To(gomega.MatchError(gomega.HavePrefix(flag + ": ")))
	}
	o := of()
	o.JUnit, o.JSON = filepath.Join(dir, "report.xml"), filepath.Join(dir, "report.json")
	g.Expect(o.run(t.Context(), io.Discard)).NotTo(gomega.Succeed())
	for path, content := range map[string]string{o.JUnit: `tests="0"`, o.JSON: "[]"} {
		text, err := os.ReadFile(path)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(string(text)).To(gomega.ContainSubstring(content))
	}
	o = of()
	o.Websocket = true
	g.Expect(o.run(t.Context(), io.Discard)).To(gomega.MatchError(gomega.HavePrefix(call + ":1: a WebSocket loses and delays no packets")))
}

func TestResultsInWords(t *testing.T) {
	g := gomega.NewWithT(t)
	var out strings.Builder
	for _, r := range []*calltest.Result{
		{Name: "a", Transcript: []string{"user: hi"}, Answers: []calltest.Times{{First: 250 * time.Millisecond}}, Seconds: 1.5},
		{Name: "b", Problems: []string{"b.yaml:1: no\x1b"}, Transcript: []string{"user: hi"}, Answers: []calltest.Times{{Yield: time.Second}}, Seconds: 2, Kept: []string{"b-1.svg"}},
	} {
		printResult(&out, r)
	}
	g.Expect(out.String()).To(gomega.Equal("ok     a (1.5 s, answer after 250 ms)\nFAILED b (2.0 s, silent after 1000 ms)\n  b.yaml:1: no\n    user: hi\n  kept: b-1.svg\n"))
}

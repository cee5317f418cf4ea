package e2e

// The program `antiphon serve` with --record.

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/protocolcheck"
)

// TestServeRecordsWhatHappened runs the program itself. Its recording of a spoken turn, a text turn, an interruption and a stop during a
// response keeps the protocol's rules, and the program ends cleanly.
func TestServeRecordsWhatHappened(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "antiphon")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/antiphon")
	build.Dir = ".." // the program belongs to the module of the server
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	g := gomega.NewWithT(t)
	record := filepath.Join(t.TempDir(), "record.jsonl")
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	kept, err := protocolcheck.Trace("serve")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	if kept != nil {
		g.Expect(kept.Close()).To(gomega.Succeed())
		trace, record = kept.Name(), protocolcheck.Beside(kept.Name())
	}
	s := serve(t, program, "--pipeline", "scripted", "--listen", "127.0.0.1:0", "--record", record, "--trace", trace)

	c := call(t, callOptions{url: s.url})
	c.voiceTurn("hello")
	c.ask("in writing")
	c.answer("You said: in writing")
	c.interruption("stop, I know")
	other := call(t, callOptions{url: s.url, webSocket: true})
	other.voiceTurn("me too")
	c.ask("say 60 words")
	c.begin()
	c.hear(time.Second)
	s.stop()

	f, err := os.Open(record)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = f.Close() }()
	report, err := protocolcheck.Record(f)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(report.Problems).To(gomega.BeEmpty())
	g.Expect([]int{report.Sessions, report.Responses}).To(gomega.Equal([]int{2, 6}))
}

// program is a running `antiphon serve`.
type program struct {
	g      *gomega.WithT
	cmd    *exec.Cmd
	url    string
	stderr bytes.Buffer
	stdout *bufio.Scanner
}

// serve starts the program and waits until it listens.
func serve(t *testing.T, path string, flags ...string) *program {
	t.Helper()
	p := &program{g: gomega.NewWithT(t), cmd: exec.Command(path, append([]string{"serve"}, flags...)...)}
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	p.g.Expect(p.cmd.Start()).To(gomega.Succeed())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it has ended, unless the test failed
	p.stdout = bufio.NewScanner(out)
	p.g.Expect(p.stdout.Scan()).To(gomega.BeTrue(), p.stderr.String)
	url, ok := strings.CutPrefix(p.stdout.Text(), "listening on ")
	p.g.Expect(ok).To(gomega.BeTrue(), p.stdout.Text())
	p.g.Expect(url).To(gomega.MatchRegexp(`^http://127\.0\.0\.1:[1-9][0-9]*$`))
	p.url = url
	return p
}

// stop asks the program to end and checks that it does.
func (p *program) stop() {
	p.g.Expect(p.cmd.Process.Signal(syscall.SIGTERM)).To(gomega.Succeed())
	for p.stdout.Scan() {
		p.g.Expect(p.stdout.Text()).To(gomega.BeEmpty(), "standard output is for scripts")
	}
	p.g.Expect(p.cmd.Wait()).To(gomega.Succeed(), p.stderr.String)
}

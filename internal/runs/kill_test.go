package runs

// The proof under kill -9: a process with runs is killed at random moments, and started again on the same data.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/coord/run"
	"github.com/antiphon-rt/antiphon/internal/steps"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// The environment of a process that is killed: its data folder, and the file to which it writes what it does.
const (
	childData = "ANTIPHON_RUNS_DATA"
	childDone = "ANTIPHON_RUNS_DONE"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childData); dir != "" {
		fmt.Fprintln(os.Stderr, "the process ended:", child(dir, os.Getenv(childDone)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// killedSteps is how many steps a run of the killed process has.
const killedSteps = 5

// mostKilled is how many runs one such process begins: all of them are kept.
const mostKilled = 60

// chained is the worker of the process that is killed: steps that append a line to a file.
func chained(done io.Writer) Worker {
	return Worker{Tool: "chain", Work: func(ctx context.Context, t *Turn) (json.RawMessage, error) {
		for n := range killedSteps {
			name := strconv.Itoa(n)
			_, err := t.Step(ctx, name, n > 0, func(context.Context) (json.RawMessage, error) {
				_, err := fmt.Fprintf(done, "%s %s\n", t.ID(), name)
				return json.RawMessage(name), err
			})
			if err != nil {
				return nil, err
			}
		}
		return json.RawMessage(`"all"`), nil
	}}
}

// child begins runs until it is killed, and prints the id of each. It ends when its standard input does.
func child(dir, file string) error {
	ctx := context.Background()
	done, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Config{Dir: dir, Timeout: time.Minute})
	if err != nil {
		return err
	}
	r, err := New(ctx, Config{Store: s, Workers: []Worker{chained(done)}})
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for n := 0; n < mostKilled; {
		begun, err := r.Start(ctx, Request{Principal: "p", Tool: "chain", Policy: run.Auto})
		switch {
		case errors.Is(err, ErrTooMany):
			steps.Pause(ctx, time.Millisecond)
		case err != nil:
			return err
		default:
			fmt.Println(begun.ID)
			n++
		}
	}
	select {}
}

func TestKill(t *testing.T) {
	g, dir, done := gomega.NewWithT(t), filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "done")
	begun := map[string]bool{}
	for round := range 5 {
		self, err := os.Executable()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		command := exec.Command(self)
		command.Env, command.Stderr = append(os.Environ(), childData+"="+dir, childDone+"="+done), os.Stderr
		_, err = command.StdinPipe() // its end ends the process, also if this one is killed
		g.Expect(err).NotTo(gomega.HaveOccurred())
		out, err := command.StdoutPipe()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(command.Start()).To(gomega.Succeed())
		lines := bufio.NewScanner(out)
		for n := 0; n < 5+7*round && lines.Scan(); n++ {
			begun[lines.Text()] = true
		}
		g.Expect(command.Process.Kill()).To(gomega.Succeed())
		for lines.Scan() { // acknowledged before the kill
			if len(lines.Text()) == len(newID(time.Now())) {
				begun[lines.Text()] = true
			}
		}
		_ = command.Wait() // the error says that it was killed
	}
	checkKilled(t, dir, done, begun)
}

// checkKilled starts the last process on the data, lets all runs end, and checks them.
func checkKilled(t *testing.T, dir, done string, begun map[string]bool) {
	t.Helper()
	g := gomega.NewWithT(t)
	file, err := os.OpenFile(done, os.O_APPEND|os.O_WRONLY, 0o600)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = file.Close() }()
	s, err := store.Open(t.Context(), store.Config{Dir: dir, Timeout: time.Minute})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	w := &world{t: t, store: s}
	w.runner, err = New(t.Context(), Config{Store: s, Workers: []Worker{chained(file)}})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() {
		w.end()
		g.Expect(s.Close()).To(gomega.Succeed())
	}()
	ids := w.ids()
	for id := range begun {
		g.Expect(ids).To(gomega.ContainElement(id), "a run that was acknowledged is there")
	}
	unknown := 0
	for _, id := range ids {
		now := w.until(id)
		w.check(id)
		switch now.Result.Code {
		case "":
		case codeUnknownStep:
			unknown++
		default:
			t.Errorf("run %s: %s", id, now.Result.Message)
		}
	}
	w.forgotten()
	times := map[string]int{}
	text, err := os.ReadFile(done)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for line := range strings.Lines(string(text)) {
		times[strings.TrimSuffix(line, "\n")]++
	}
	for _, id := range ids {
		g.Expect(times[id+" 0"]).To(gomega.BeNumerically("<=", 1), "a step that may not be repeated")
		for n := 1; n < killedSteps; n++ {
			g.Expect(times[id+" "+strconv.Itoa(n)]).To(gomega.BeNumerically("<=", 1+5), "at most once more for each kill")
		}
	}
	t.Logf("%d runs, %d acknowledged, %d of which it is not known whether a step was done", len(ids), len(begun), unknown)
}

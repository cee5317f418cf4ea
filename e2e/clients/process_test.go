package clients

// A client's program in Node or Python: a process that reads calls and writes their results, a line each.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/onsi/gomega"
)

// process is a client's program that runs.
type process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said bytes.Buffer // standard error
	over bool
}

// runNode starts a client of node.mjs. It ends with the test, and its standard error must be empty.
func runNode(t *testing.T, name string, options args, env ...string) *process {
	t.Helper()
	return run(t, exec.Command("node", "programs/node.mjs", name), options, regexp.MustCompile(`.`), env...)
}

// complaint finds what a client in Python says of a failure. Its libraries also warn of their own next versions there.
var complaint = regexp.MustCompile(`Traceback|ERROR|CRITICAL|Unclosed|never awaited`)

// runPython starts a client of main.py. It ends with the test, and its standard error must have no complaint.
func runPython(t *testing.T, name string, options args) *process {
	t.Helper()
	packages, err := filepath.Abs(python)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return run(t, exec.Command("python3", "programs/python/main.py", name), options, complaint, "PYTHONPATH="+packages, "PYTHONDONTWRITEBYTECODE=1")
}

// run starts a program with its options as JSON. It ends with the test, and bad must not find anything in its standard error.
func run(t *testing.T, cmd *exec.Cmd, options args, bad *regexp.Regexp, env ...string) *process {
	t.Helper()
	g := gomega.NewWithT(t)
	o, err := json.Marshal(options)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := &process{cmd: cmd}
	cmd.Args = append(cmd.Args, string(o))
	cmd.Dir, cmd.Stderr = installed, &p.said
	cmd.Env = append(os.Environ(), env...)
	p.in, err = cmd.StdinPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	out, err := cmd.StdoutPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p.out = bufio.NewReader(out)
	g.Expect(cmd.Start()).To(gomega.Succeed())
	t.Cleanup(func() {
		if !p.over {
			g.Expect(p.in.Close()).To(gomega.Succeed())
			if t.Failed() {
				_ = cmd.Process.Kill() // the program may still be waiting
			}
		}
		err := cmd.Wait()
		if t.Failed() {
			t.Logf("%s: %v %s", cmd, err, p.said.String())
			return
		}
		g.Expect(err).NotTo(gomega.HaveOccurred(), p.said.String)
		g.Expect(p.said.String()).NotTo(gomega.MatchRegexp(bad.String()), "the client complains")
	})
	return p
}

func (p *process) ask(method string, a any) (json.RawMessage, error) {
	call, err := json.Marshal(struct {
		Method string `json:"method"`
		Args   any    `json:"args"`
	}{method, a})
	if err != nil {
		return nil, err
	}
	if _, err := p.in.Write(append(call, '\n')); err != nil {
		return nil, fmt.Errorf("%s: the client has ended: %w", method, err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		p.over = true
		return nil, fmt.Errorf("%s: the client has ended: %w", method, err)
	}
	return answer(method, line)
}

// answer reads {"result"} or {"error"}.
func answer(method string, line []byte) (json.RawMessage, error) {
	var a struct {
		Result json.RawMessage
		Error  string
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("%s gives %s: %w", method, line, err)
	}
	if a.Error != "" {
		return nil, errors.New(method + ": " + a.Error)
	}
	return a.Result, nil
}

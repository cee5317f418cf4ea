package clients

// A client's program in Node.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/onsi/gomega"
)

// node is a program in Node: it reads calls and writes their results, a line each.
type node struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	said bytes.Buffer // standard error
	over bool
}

// runNode starts a client of node.mjs. It ends with the test, and its standard error must be empty.
func runNode(t *testing.T, name string, options args, env ...string) *node {
	t.Helper()
	g := gomega.NewWithT(t)
	o, err := json.Marshal(options)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	n := &node{cmd: exec.Command("node", "programs/node.mjs", name, string(o))}
	n.cmd.Dir, n.cmd.Stderr = installed, &n.said
	n.cmd.Env = append(os.Environ(), env...)
	n.in, err = n.cmd.StdinPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	out, err := n.cmd.StdoutPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	n.out = bufio.NewReader(out)
	g.Expect(n.cmd.Start()).To(gomega.Succeed())
	t.Cleanup(func() {
		if !n.over {
			g.Expect(n.in.Close()).To(gomega.Succeed())
			if t.Failed() {
				_ = n.cmd.Process.Kill() // the program may still be waiting
			}
		}
		err := n.cmd.Wait()
		if t.Failed() {
			t.Logf("%s in Node: %v %s", name, err, n.said.String())
			return
		}
		g.Expect(err).NotTo(gomega.HaveOccurred(), n.said.String)
		g.Expect(n.said.String()).To(gomega.BeEmpty(), "the client complains")
	})
	return n
}

func (n *node) ask(method string, a any) (json.RawMessage, error) {
	call, err := json.Marshal(struct {
		Method string `json:"method"`
		Args   any    `json:"args"`
	}{method, a})
	if err != nil {
		return nil, err
	}
	if _, err := n.in.Write(append(call, '\n')); err != nil {
		return nil, fmt.Errorf("%s: the client has ended: %w", method, err)
	}
	line, err := n.out.ReadBytes('\n')
	if err != nil {
		n.over = true
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

//go:build linux

package faults

// The program `antiphon serve` as a child process, with its own descriptor limit and its own small disk.

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/servertest"
)

// descriptors is the descriptor limit of the program.
const descriptors = 1024

// program is a running `antiphon serve`.
type program struct {
	*gomega.WithT
	url   string
	media int // its UDP port
	disk  bool

	cmd  *exec.Cmd
	done chan struct{} // its output has ended

	mu   sync.Mutex
	said bytes.Buffer // standard error
}

// Write implements io.Writer for the program's standard error.
func (p *program) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.Write(text)
}

// stderr returns what the program has logged.
func (p *program) stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}

// start runs bin/antiphon until the test ends. With a small disk it records to a file system of 256 KiB, if this user may mount one.
func start(t *testing.T, smallDisk bool, flags ...string) *program {
	t.Helper()
	p := &program{WithT: gomega.NewWithT(t), done: make(chan struct{}), media: freePort(t)}
	binary, err := filepath.Abs("../../bin/antiphon")
	p.Expect(err).NotTo(gomega.HaveOccurred())
	p.Expect(binary).To(gomega.BeAnExistingFile(), "run make build first")
	folder := t.TempDir()
	p.disk = smallDisk && mounts(t)
	flags = append([]string{"serve", "--listen", "127.0.0.1:0", "--udp-port", strconv.Itoa(p.media)}, flags...)
	prepare := fmt.Sprintf("ulimit -n %d && ", descriptors)
	if p.disk {
		prepare += "mount -t tmpfs -o size=256k,mode=700 none " + folder + " && "
		flags = append(flags, "--record", filepath.Join(folder, "record.jsonl"))
	}
	p.cmd = exec.Command("sh", append([]string{"-c", prepare + `exec "$0" "$@"`, binary}, flags...)...)
	if p.disk {
		p.cmd.SysProcAttr = ownMounts()
	}
	p.cmd.Env = append(os.Environ(), "ANTIPHON_MODELS="+filepath.Join(filepath.Dir(binary), "../.cache/models"))
	p.cmd.Stderr = p
	out, err := p.cmd.StdoutPipe()
	p.Expect(err).NotTo(gomega.HaveOccurred())
	p.Expect(p.cmd.Start()).To(gomega.Succeed())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it has ended, unless the test failed
	lines := bufio.NewScanner(out)
	p.Expect(lines.Scan()).To(gomega.BeTrue(), p.stderr)
	url, ok := strings.CutPrefix(lines.Text(), "listening on ")
	p.Expect(ok).To(gomega.BeTrue(), lines.Text)
	p.url = url
	go func() {
		defer close(p.done)
		for lines.Scan() { // until the program ends
		}
	}()
	return p
}

// freePort returns a UDP port that nobody uses.
func freePort(t *testing.T) int {
	t.Helper()
	port, err := servertest.FreePort()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return port
}

// ownMounts makes a process that may mount file systems for itself alone.
func ownMounts() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// mounts reports whether this user may mount a file system in a namespace of its own.
func mounts(t *testing.T) bool {
	t.Helper()
	try := exec.Command("mount", "-t", "tmpfs", "none", t.TempDir())
	try.SysProcAttr = ownMounts()
	return try.Run() == nil
}

// usage is what the program holds.
type usage struct {
	calls, descriptors, goroutines int
	rss                            int    // KiB
	media                          string // what it says of its packets
}

var (
	rssLine        = regexp.MustCompile(`(?m)^VmRSS:\s+(\d+) kB`)
	mediaLines     = regexp.MustCompile(`(?m)^antiphon_(packets|frames)_.*`)
	callsLine      = regexp.MustCompile(`(?m)^antiphon_sessions (\d+)`)
	goroutinesLine = regexp.MustCompile(`(?m)^go_goroutines (\d+)`)
)

// usage reads what the program holds now. calls and goroutines are -1 if the program does not answer.
func (p *program) usage() usage {
	proc := fmt.Sprintf("/proc/%d/", p.cmd.Process.Pid)
	files, err := os.ReadDir(proc + "fd")
	p.Expect(err).NotTo(gomega.HaveOccurred())
	status, err := os.ReadFile(proc + "status")
	p.Expect(err).NotTo(gomega.HaveOccurred())
	u := usage{calls: -1, descriptors: len(files), goroutines: -1, rss: number(rssLine, status)}
	client := http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	if r, err := client.Get(p.url + "/metrics"); err == nil {
		var text bytes.Buffer
		_, _ = text.ReadFrom(r.Body)
		_ = r.Body.Close()
		u.media = strings.Join(mediaLines.FindAllString(text.String(), -1), ", ")
		u.calls, u.goroutines = number(callsLine, text.Bytes()), number(goroutinesLine, text.Bytes())
	}
	return u
}

// number returns the number in the first match, or -1.
func number(line *regexp.Regexp, text []byte) int {
	found := line.FindSubmatch(text)
	if found == nil {
		return -1
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		return -1
	}
	return n
}

// signal sends a signal to the program.
func (p *program) signal(s syscall.Signal) { p.Expect(p.cmd.Process.Signal(s)).To(gomega.Succeed()) }

// goroutines ends the program and returns the stacks of its goroutines. It is the last thing that a test does with the program.
func (p *program) goroutines() []string {
	p.signal(syscall.SIGQUIT)
	<-p.done
	_ = p.cmd.Wait() // says that a signal ended it
	var stacks []string
	for _, block := range strings.Split(p.stderr(), "\n\n") {
		if strings.HasPrefix(block, "goroutine ") && !strings.HasPrefix(block, "goroutine 0 ") {
			stacks = append(stacks, block)
		}
	}
	return stacks
}

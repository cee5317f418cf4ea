package rig

// Starts, stops and kills bin/antiphon as a process.

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/antiphon-rt/antiphon/internal/servertest"
)

// Program is bin/antiphon in a process of its own, which can be stopped or killed.
type Program struct {
	URL string

	cmd  *exec.Cmd
	done chan struct{} // its output has ended
	said bytes.Buffer  // standard error
}

// Start runs the program of this repository with `serve` and the models in .cache/models, and returns when it listens. root is the repository's folder.
func Start(root string, args ...string) (*Program, error) {
	path := root + "/bin/antiphon"
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("%w: run make build first", err)
	}
	models, err := filepath.Abs(root + "/.cache/models")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path, append([]string{"serve"}, args...)...)
	cmd.Env = append(os.Environ(), "ANTIPHON_MODELS="+models)
	return Run(cmd)
}

// Run runs a command that serves, and returns when it listens. It takes the command's output.
func Run(cmd *exec.Cmd) (*Program, error) {
	p := &Program{cmd: cmd, done: make(chan struct{})}
	p.cmd.Stderr = &p.said
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	address := make(chan string, 1)
	go func() {
		defer close(p.done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
				address <- url // the program prints it once
			}
		}
	}()
	select {
	case p.URL = <-address:
		return p, nil
	case <-p.done:
		return nil, fmt.Errorf("%s did not start: %w\n%s", cmd, p.cmd.Wait(), p.said.String())
	}
}

// Reload has the program read its certificate, keys and limits again.
func (p *Program) Reload() error { return p.cmd.Process.Signal(syscall.SIGHUP) }

// Stop asks the program to end, waits until it has ended, and returns an error with its complaints.
func (p *Program) Stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("the program has ended by itself: %w\n%s", err, p.said.String())
	}
	<-p.done
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("the program ends: %w\n%s", err, p.said.String())
	}
	return nil
}

// Kill kills the program without a clean end, and joins it.
func (p *Program) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.done
	_ = p.cmd.Wait() // says that it was killed
}

// Journalled reports whether another process could go on with every call of the server. A disk that is slow for a moment delays it.
func (p *Program) Journalled() (bool, error) {
	answer, err := (&http.Client{Timeout: 10 * time.Second}).Get(p.URL + "/metrics")
	if err != nil {
		return false, err
	}
	defer func() { _ = answer.Body.Close() }() // all of it is read
	text, err := io.ReadAll(answer.Body)
	return bytes.Contains(text, []byte("\nantiphon_calls_unjournalled 0\n")), err
}

// Pause stops the program as if its machine hung, and returns when it stands still. Continue lets it go on.
func (p *Program) Pause() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for {
		_, err := syscall.Wait4(p.cmd.Process.Pid, nil, syscall.WUNTRACED, nil)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func (p *Program) Continue() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// FreeAddress returns an address of this machine whose port is free, for a program that keeps its address when it is started again.
func FreeAddress() (string, error) {
	port, err := servertest.FreePort()
	return fmt.Sprint("127.0.0.1:", port), err
}

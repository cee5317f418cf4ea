package main

// This file has `antiphon test`: it plays calls that files describe, against a server that runs or against one that it starts.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/cmd/antiphon/internal/terminal"
	"github.com/antiphon-rt/antiphon/internal/calltest"
)

type test struct {
	Files     []string      `arg:"" type:"existingfile" placeholder:"CALL.yaml" help:"The calls to play: docs/testing-agents.md."`
	URL       string        `placeholder:"URL" help:"The server to test. Without it, antiphon starts one for the time of the test, with --config and --pipeline as for serve."`
	Key       string        `help:"The API key, where the server asks for one."`
	Config    string        `type:"existingfile" placeholder:"FILE.yaml" help:"The configuration of the server that is started; without the flag, antiphon.yaml in this folder."`
	Pipeline  string        `placeholder:"best|embedded|sherpa|scripted|FILE.yaml" help:"What answers in the server that is started, as for serve."`
	Websocket bool          `help:"Call over a WebSocket instead of WebRTC."`
	Voice     string        `help:"The voice of the user, of the server's synthesizer."`
	Repeat    int           `default:"1" placeholder:"N" help:"How often each call is played, 1 to 1000."`
	Least     float64       `default:"1" placeholder:"SHARE" help:"Share of the plays of each call that must pass, 0 to 1."`
	Patience  time.Duration `default:"30s" help:"How long the agent may take for a step."`
	JUnit     string        `name:"junit" type:"path" placeholder:"FILE.xml" help:"Write the results for a CI system."`
	JSON      string        `name:"json" type:"path" placeholder:"FILE.json" help:"Write the results for programs."`
	Keep      string        `type:"path" placeholder:"FOLDER" help:"Keep of each call that fails a picture and the sound of both sides here: NAME-N.svg, NAME-N-user.wav, NAME-N-agent.wav."`
}

// Run plays all calls, one after the other. A test that a signal ends has not passed.
func (t *test) Run(ctx context.Context) error {
	if err := t.run(ctx, os.Stdout); ctx.Err() == nil {
		return err
	}
	return errors.New("interrupted: not all calls were played")
}

func (t *test) run(ctx context.Context, w io.Writer) (err error) {
	if t.Repeat < 1 || t.Repeat > 1000 || !(t.Least >= 0 && t.Least <= 1) || t.Patience < time.Second {
		return errors.New("want --repeat from 1 to 1000, --least from 0 to 1, and a --patience of 1s or more")
	}
	files := make([]*calltest.File, 0, len(t.Files))
	var bad error
	for _, path := range t.Files {
		f, err := calltest.Load(short(path))
		if err == nil {
			err = f.Fits(t.Websocket)
		}
		files, bad = append(files, f), errors.Join(bad, err)
	}
	if bad != nil {
		return bad
	}
	if t.URL != "" && t.Config+t.Pipeline != "" {
		return errors.New("--config and --pipeline are for the server that antiphon test starts: leave them out, or leave out --url")
	}
	if t.URL != "" && !strings.HasPrefix(t.URL, "http://") && !strings.HasPrefix(t.URL, "https://") {
		return fmt.Errorf("--url %q: want a URL that begins with http:// or https://", t.URL)
	}
	if t.Keep != "" {
		if err := os.MkdirAll(t.Keep, 0o750); err != nil {
			return fmt.Errorf("--keep: %w", err)
		}
	}
	var all []*calltest.Result
	junit, err := openReport(t.JUnit, func(w io.Writer) error { return calltest.WriteJUnit(w, all) })
	if err != nil {
		return fmt.Errorf("--junit: %w", err)
	}
	defer func() { err = errors.Join(err, junit()) }()
	list, err := openReport(t.JSON, func(w io.Writer) error { return calltest.WriteJSON(w, all) })
	if err != nil {
		return fmt.Errorf("--json: %w", err)
	}
	defer func() { err = errors.Join(err, list()) }()
	target := &calltest.Target{URL: t.URL, Key: t.Key, WebSocket: t.Websocket, Loopback: onThisMachine(t.URL), Voice: t.Voice, Patience: t.Patience}
	if t.URL == "" {
		address, stop, err := t.start(ctx)
		if err != nil {
			return err
		}
		defer stop()
		target.URL, target.Loopback = address, true
	}
	var failing []string
	for _, f := range files {
		passed, err := t.play(ctx, w, target, f, &all)
		if err != nil {
			return err
		}
		if t.Repeat > 1 {
			fmt.Fprintf(w, "%s: %d of %d passed\n", f.Name, passed, t.Repeat)
		}
		if float64(passed) < t.Least*float64(t.Repeat) {
			failing = append(failing, f.Name)
		}
	}
	if len(failing) > 0 {
		return fmt.Errorf("calls have failed: %s", strings.Join(failing, ", "))
	}
	return nil
}

// short returns a path relative to the working folder, if the file is below it.
func short(path string) string {
	if here, err := os.Getwd(); err == nil {
		if inside, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(inside) {
			return inside
		}
	}
	return path
}

// play plays a call as often as asked, and appends the results to all.
func (t *test) play(ctx context.Context, w io.Writer, target *calltest.Target, f *calltest.File, all *[]*calltest.Result) (passed int, err error) {
	for range t.Repeat {
		r, err := calltest.Play(ctx, target, f)
		if r == nil {
			return passed, err
		}
		*all = append(*all, r)
		if r.Passed() {
			passed++
		} else if t.Keep != "" {
			name := strings.TrimSuffix(filepath.Base(f.Path), filepath.Ext(f.Path))
			err = errors.Join(err, r.Keep(t.Keep, fmt.Sprintf("%s-%d", name, len(*all)))) // two folders may have files of one name
		}
		r.Forget()
		printResult(w, r)
		if err != nil {
			return passed, err
		}
	}
	return passed, nil
}

// printResult writes the result of one call in words. The texts of the server cannot control a terminal.
func printResult(w io.Writer, r *calltest.Result) {
	word := "ok    "
	if !r.Passed() {
		word = "FAILED"
	}
	fmt.Fprintf(w, "%s %s (%.1f s", word, r.Name, r.Seconds)
	for _, t := range r.Answers {
		if t.First > 0 {
			fmt.Fprintf(w, ", answer after %d ms", t.First.Milliseconds())
		}
		if t.Yield > 0 {
			fmt.Fprintf(w, ", silent after %d ms", t.Yield.Milliseconds())
		}
	}
	fmt.Fprintln(w, ")")
	if r.Passed() {
		return
	}
	for _, p := range r.Problems {
		fmt.Fprintln(w, "  "+terminal.Clean(p))
	}
	for _, l := range r.Transcript {
		fmt.Fprintln(w, "    "+terminal.Clean(l))
	}
	for _, path := range r.Kept {
		fmt.Fprintln(w, "  kept: "+path)
	}
}

// openReport opens a file, if it has a name, before the first call. write writes what content writes, also after a call that was interrupted.
func openReport(path string, content func(io.Writer) error) (write func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return func() error { return errors.Join(content(f), f.Close()) }, nil
}

// loadTimeout is how long the server that is started may take until its models are loaded.
const loadTimeout = 3 * time.Minute

// start starts a server on a free port of this machine, and returns its address once it is ready. stop ends it.
func (t *test) start(ctx context.Context) (address string, stop func(), err error) {
	program, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	args := []string{"serve", "--listen=127.0.0.1:0", "--log-level=warn", "--until-eof"}
	if t.Config != "" {
		args = append(args, "--config="+t.Config)
	}
	if t.Pipeline != "" {
		args = append(args, "--pipeline="+t.Pipeline)
	}
	ctx, cancel := context.WithCancel(ctx)
	server := exec.CommandContext(ctx, program, args...) //nolint:gosec // this program
	server.Stderr = os.Stderr
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	server.WaitDelay = stopTimeout
	_, open := server.StdinPipe() // it ends with this process, also if this one is killed
	out, err := server.StdoutPipe()
	if err = errors.Join(open, err); err == nil {
		err = server.Start()
	}
	if err != nil {
		cancel()
		return "", nil, err
	}
	stop = func() {
		cancel()
		_ = server.Wait() // it ends by a signal
	}
	for scan := bufio.NewScanner(out); address == "" && scan.Scan(); {
		address, _ = strings.CutPrefix(scan.Text(), "listening on ")
	}
	if address == "" {
		stop()
		return "", nil, errors.New("the server has not started: its error is above")
	}
	go func() { _, _ = io.Copy(io.Discard, out) }() // it ends with the server
	if err := ready(ctx, address); err != nil {
		stop()
		return "", nil, err
	}
	return address, stop, nil
}

// ready waits until a server has loaded its models.
func ready(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/readyz", http.NoBody)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_ = answer.Body.Close() // it was not read
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the server is not ready after %v: its warnings are above, and antiphon doctor says more", loadTimeout)
		}
	}
}

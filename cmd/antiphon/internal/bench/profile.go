package bench

// This file asks the server for what it uses: goroutines, memory, and profiles of where its time goes.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// usage returns what the server uses now, without connections that wait for a next request.
func (c *child) usage(ctx context.Context) (u usage, err error) {
	http.DefaultClient.CloseIdleConnections()
	metrics, err := fetch(ctx, c.url+"/metrics")
	if err != nil {
		return u, err
	}
	if u.goroutines, err = goroutines(metrics); err != nil {
		return u, err
	}
	u.resident, err = resident(c.cmd.Process.Pid)
	return u, err
}

// goroutines returns the number of goroutines in a scrape of the server's metrics.
func goroutines(metrics []byte) (int, error) {
	for line := range bytes.Lines(metrics) {
		if n, ok := bytes.CutPrefix(line, []byte("go_goroutines ")); ok {
			return strconv.Atoi(string(bytes.TrimSpace(n)))
		}
	}
	return 0, errors.New("the server's metrics have no number of goroutines")
}

// settleTime is how long the goroutines of calls that have ended may take to end.
const settleTime = 10 * time.Second

// settled returns what the server uses once the number of its goroutines has not fallen for a second, at most after settleTime.
func (c *child) settled(ctx context.Context) (usage, error) {
	return c.least(ctx, func(_ usage, steady time.Duration) bool { return steady >= time.Second })
}

// settledTo returns what the server uses once it has at most as many goroutines as before its calls. If it still has more after settleTime,
// settledTo returns the least that it had.
func (c *child) settledTo(ctx context.Context, before usage) (usage, error) {
	return c.least(ctx, func(least usage, _ time.Duration) bool { return least.goroutines <= before.goroutines })
}

// least returns the least that the server uses until enough returns true, at most for settleTime. enough gets the least so far, and for how
// long the number of goroutines has not fallen.
func (c *child) least(ctx context.Context, enough func(least usage, steady time.Duration) bool) (least usage, err error) {
	since := time.Now()
	for until := since.Add(settleTime); time.Now().Before(until); {
		u, err := c.usage(ctx)
		if err != nil {
			return u, err
		}
		if least.goroutines == 0 || u.goroutines < least.goroutines {
			least, since = u, time.Now()
		}
		if enough(least, time.Since(since)) {
			return least, nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return least, err
		}
	}
	return least, nil
}

// profiles takes profiles of a server under load. The zero value takes none.
type profiles struct {
	dir     string // they are written here
	address string // the server serves them here
}

// newProfiles returns the profiles for a directory; none for "".
func newProfiles(dir string) (profiles, error) {
	if dir == "" {
		return profiles{}, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return profiles{}, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return profiles{}, err
	}
	return profiles{dir: dir, address: free.Addr().String()}, free.Close()
}

// flags returns the flags of a server that serves these profiles.
func (p profiles) flags() []string {
	if p.dir == "" {
		return nil
	}
	return []string{"--profiles", p.address}
}

// take writes the profiles of the next stretch of time into files, which replace those of the stretch before. The channel gets the error.
func (p profiles) take(ctx context.Context, within time.Duration) <-chan error {
	done := make(chan error, 1)
	if p.dir == "" {
		done <- nil
		return done
	}
	go func() {
		seconds := max(1, int(within/time.Second))
		err := p.save(ctx, "cpu.pprof", fmt.Sprintf("profile?seconds=%d", seconds))
		done <- errors.Join(err, p.save(ctx, "heap.pprof", "heap?gc=1"), p.save(ctx, "goroutines.txt", "goroutine?debug=1"))
	}()
	return done
}

func (p profiles) save(ctx context.Context, file, what string) error {
	b, err := fetch(ctx, "http://"+p.address+"/debug/pprof/"+what)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.dir, file), b, 0o644)
}

func fetch(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Close = true // no goroutine of the server stays for it
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}

package once

// The proof under kill -9: many tries of many keys go through a proxy in a process of its own, which is killed at random and started again on the same
// data, before a service that counts.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/steps"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// The environment of a process that is the proxy: its data folder and its service.
const (
	childData    = "ANTIPHON_ONCE_DATA"
	childService = "ANTIPHON_ONCE_SERVICE"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childData); dir != "" {
		fmt.Fprintln(os.Stderr, "the proxy ended:", child(dir, os.Getenv(childService)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// chaosConfig is the configuration of the handler that is killed, and of the one that reads its records.
func chaosConfig(s *store.Store) Config {
	return Config{
		Store: s, history: 64, Lease: time.Hour, // who died is known without a lease, because one process uses the data at a time
		Safe: func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/safe/") },
	}
}

// child is the process that is killed. It prints its address, and ends when its standard input does.
func child(dir, service string) error {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Config{Dir: dir, Timeout: time.Minute})
	if err != nil {
		return err
	}
	to, err := url.Parse(service)
	if err != nil {
		return err
	}
	proxy, err := NewProxy(to, 0, nil, nil)
	if err != nil {
		return err
	}
	h, err := New(ctx, proxy, chaosConfig(s))
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	return server.Serve(listener)
}

// counted is the service: it counts the requests of each path, and gives each request a response of its own.
type counted struct {
	mu   sync.Mutex
	seen map[string]int
}

func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.seen[r.URL.Path]++
	n := c.seen[r.URL.Path]
	c.mu.Unlock()
	work := time.NewTimer(time.Duration(rand.IntN(4)) * time.Millisecond) // so that a kill meets requests in progress
	defer work.Stop()
	<-work.C
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(w, "%s number %d %x", r.URL.Path, n, rand.Uint64())
}

func (c *counted) of(path string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[path]
}

// victim is the proxy's process, which is killed and started again.
type victim struct {
	t   *testing.T
	env []string

	mu      sync.Mutex
	command *exec.Cmd
	address string
}

func (v *victim) start() {
	g := gomega.NewWithT(v.t)
	self, err := os.Executable()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	command := exec.Command(self)
	command.Env, command.Stderr = append(os.Environ(), v.env...), os.Stderr
	_, err = command.StdinPipe() // its end ends the process, also if this one is killed
	g.Expect(err).NotTo(gomega.HaveOccurred())
	out, err := command.StdoutPipe()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(command.Start()).To(gomega.Succeed())
	address, err := bufio.NewReader(out).ReadString('\n')
	g.Expect(err).NotTo(gomega.HaveOccurred())
	v.mu.Lock()
	defer v.mu.Unlock()
	v.command, v.address = command, strings.TrimSpace(address)
}

// kill kills the process with SIGKILL, and waits for its end.
func (v *victim) kill() {
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = v.command.Process.Kill()
	_ = v.command.Wait() // the error says that it was killed
}

func (v *victim) at() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return "http://" + v.address
}

// outcome is what the tries of one key got.
type outcome struct {
	mu      sync.Mutex
	bodies  map[string]int
	unknown int
}

// try sends one try until it has an outcome: the response, or that it is unknown. It returns an error for anything else.
func (o *outcome) try(ctx context.Context, client *http.Client, v *victim, path string) error {
	for ctx.Err() == nil {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, v.at()+path, strings.NewReader("payload of "+path))
		if err != nil {
			return err
		}
		r.Header.Set(Header, "key")
		r.Header.Set("Prefer", "wait=20")
		status, body, err := exchange(client, r)
		switch {
		case err != nil || status == http.StatusServiceUnavailable || status == http.StatusConflict:
			steps.Pause(ctx, 5*time.Millisecond) // the process is killed, or starts
			continue
		case status == http.StatusOK:
			o.mu.Lock()
			defer o.mu.Unlock()
			o.bodies[string(body)]++
			return nil
		}
		var p problem
		if err := json.Unmarshal(body, &p); err != nil || p.Code != CodeUnknown {
			return fmt.Errorf("%s: %d %s", path, status, body)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.unknown++
		return nil
	}
	return context.Cause(ctx)
}

// exchange sends a request and reads its response whole.
func exchange(client *http.Client, r *http.Request) (status int, body []byte, err error) {
	response, err := client.Do(r)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }() // it is read to its end
	var all bytes.Buffer
	_, err = all.ReadFrom(response.Body)
	return response.StatusCode, all.Bytes(), err
}

// chaosSize returns how many keys, tries of each key and kills there are. ANTIPHON_CHAOS=KILLS takes the long form.
func chaosSize(t *testing.T) (keys, tries, kills int, limit time.Duration) {
	if text := os.Getenv("ANTIPHON_CHAOS"); text != "" {
		kills, err := strconv.Atoi(text)
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred(), "ANTIPHON_CHAOS is a number of kills")
		return 10_000, 10, kills, time.Hour
	}
	return 120, 8, 3, 5 * time.Minute
}

func TestChaos(t *testing.T) {
	keys, tries, kills, limit := chaosSize(t)
	g, dir := gomega.NewWithT(t), filepath.Join(t.TempDir(), "data")
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	counter := &counted{seen: map[string]int{}}
	service := httptest.NewServer(counter)
	defer service.Close()
	v := &victim{t: t, env: []string{childData + "=" + dir, childService + "=" + service.URL}}
	v.start()

	paths := make([]string, keys)
	outcomes := make([]outcome, keys)
	for i := range paths {
		paths[i] = fmt.Sprintf("/orders/%d", i)
		if i%4 == 0 {
			paths[i] = fmt.Sprintf("/safe/%d", i)
		}
		outcomes[i].bodies = map[string]int{}
	}
	work := make(chan int)
	var workers sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	defer client.CloseIdleConnections()
	for range 24 {
		workers.Go(func() {
			for i := range work {
				if err := outcomes[i].try(ctx, client, v, paths[i]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	order := rand.Perm(keys * tries)
	killed := 0
	for n, i := range order {
		work <- i / tries // the tries of a key are apart from each other, and some are beside each other
		if n%3 == 0 {
			select {
			case work <- i / tries: // a duplicate in parallel
			case <-ctx.Done():
			}
		}
		if killed < kills && n >= (killed+1)*len(order)/(kills+1) {
			v.kill()
			killed++
			v.start()
		}
	}
	close(work)
	workers.Wait()
	v.kill()
	g.Expect(t.Failed()).To(gomega.BeFalse())
	checkOutcomes(t, counter, paths, outcomes)
	checkRecords(t, dir, paths, killed)
}

// checkOutcomes holds what the clients got to what the service saw.
func checkOutcomes(t *testing.T, counter *counted, paths []string, outcomes []outcome) {
	t.Helper()
	unknown, tries := 0, 0
	for i := range outcomes {
		o, seen := &outcomes[i], counter.of(paths[i])
		safe := strings.HasPrefix(paths[i], "/safe/")
		if len(o.bodies) > 1 {
			t.Errorf("%s: its tries got %d different responses: %v", paths[i], len(o.bodies), o.bodies)
		}
		if seen > 1 && !safe {
			t.Errorf("%s: the service got it %d times", paths[i], seen)
		}
		if o.unknown > 0 && (safe || len(o.bodies) > 0) {
			t.Errorf("%s: %d tries were told that it is unknown, others got %v", paths[i], o.unknown, o.bodies)
		}
		if len(o.bodies) == 0 && o.unknown == 0 || len(o.bodies) == 1 && seen == 0 {
			t.Errorf("%s: no try of it had an outcome, or nobody processed it", paths[i])
		}
		if o.unknown > 0 {
			unknown++
		}
		tries += o.unknown
		for _, n := range o.bodies {
			tries += n
		}
	}
	t.Logf("%d tries of %d keys were answered; %d keys are unknown", tries, len(paths), unknown)
}

// checkRecords gives what the store has recorded to the machine's monitor.
func checkRecords(t *testing.T, dir string, paths []string, killed int) {
	t.Helper()
	g := gomega.NewWithT(t)
	h, err := New(t.Context(), http.NotFoundHandler(), chaosConfig(opened(t, store.Config{Dir: dir})))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	all := 0
	for _, path := range paths {
		steps, wrong := checkTrace(history(t, h.book, scope(hashed(""), http.MethodPost, path, "key")))
		all += steps
		if wrong != "" || steps < 3 {
			t.Errorf("%s: after %d steps: %s", path, steps, wrong)
		}
	}
	t.Logf("the monitor has checked %d steps of %d keys; the proxy was killed %d times", all, len(paths), killed)
}

package deploy

// Three servers of a cluster behind Caddy, with calls: a server is killed, loses the NATS server, or hangs.

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/sdk/native"
)

// three is a cluster of three servers on one NATS server, behind Caddy with the configuration of deploy/.
type three struct {
	url       string // of Caddy
	store     string // the address of the NATS server
	addresses [3]string
	cables    [3]*cable // to the NATS server
	nats      [3]string // the address of the cable of each server
	endStore  func()    // kills the NATS server
	traces    [3]string // the file for the trace of each server
	flags     []string
	servers   [3]*rig.Program
}

// newThree starts a cluster, whose servers have these flags in addition, and waits until it is complete.
func newThree(t *testing.T, flags ...string) *three {
	t.Helper()
	c := &three{store: freePort(t), flags: flags}
	c.endStore = natsServer(t, c.store)
	for i := range c.servers {
		c.cables[i], c.nats[i] = newCable(t, c.store)
	}
	c.begin(t)
	return c
}

// begin starts Caddy and the servers, and waits until the cluster is complete.
func (c *three) begin(t *testing.T) {
	t.Helper()
	g := gomega.NewWithT(t)
	for i := range c.servers {
		c.addresses[i] = freePort(t)
		c.traces[i] = filepath.Join(t.TempDir(), "trace.jsonl")
	}
	c.behindCaddy(t)
	t.Cleanup(func() {
		for _, s := range c.servers {
			if s != nil {
				s.Kill()
			}
		}
	})
	for i := range c.servers {
		g.Eventually(func() error { return c.starts(i) }, takenOver).Should(gomega.Succeed()) // NATS servers that have just begun may not take streams yet
	}
	c.complete(g)
}

// natsServer starts a NATS server with an empty folder, and flags in addition. It returns what kills it.
func natsServer(t *testing.T, address string, flags ...string) (kill func()) {
	t.Helper()
	g := gomega.NewWithT(t)
	host, port, _ := strings.Cut(address, ":")
	folder := t.TempDir()
	file := filepath.Join(folder, "nats.conf")
	text := fmt.Sprintf("jetstream { store_dir: %q, max_file_store: 8GB }\n", folder) // also where the disk is nearly full
	g.Expect(os.WriteFile(file, []byte(text), 0o600)).To(gomega.Succeed())
	cmd := exec.Command("nats-server", append([]string{"-c", file, "-a", host, "-p", port}, flags...)...)
	cmd.Stderr = os.Stderr
	g.Expect(cmd.Start()).To(gomega.Succeed())
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // it was killed
	})
	t.Cleanup(kill)
	g.Eventually(func() error { return listens(address) }, patience).Should(gomega.Succeed())
	return kill
}

// start starts server i.
func (c *three) start(g *gomega.WithT, i int) { g.Expect(c.starts(i)).To(gomega.Succeed()) }

// starts is start, and returns the error.
func (c *three) starts(i int) error {
	s, err := rig.Start("../..", append([]string{
		"--pipeline", "scripted", "--listen", c.addresses[i], "--nats", "nats://" + c.nats[i], "--node-url", "http://" + c.addresses[i],
		"--node-name", fmt.Sprint("node ", i), "--trace", c.traces[i],
	}, c.flags...)...)
	if err == nil {
		c.servers[i] = s
	}
	return err
}

// complete waits until each server knows the others, and Caddy has one.
func (c *three) complete(g *gomega.WithT) {
	for _, s := range c.servers {
		g.Eventually(func() int { return metric(g, s, "antiphon_cluster_nodes") }, takenOver).Should(gomega.Equal(len(c.servers)))
	}
	g.Eventually(func() int {
		answer, err := (&http.Client{Timeout: patience}).Get(c.url + "/readyz")
		if err != nil {
			return 0
		}
		_ = answer.Body.Close() // its status is enough
		return answer.StatusCode
	}, takenOver).Should(gomega.Equal(http.StatusOK))
}

// journalled waits until each call could go on at another server.
func (c *three) journalled(g *gomega.WithT) {
	for _, s := range c.servers {
		g.Eventually(s.Journalled, takenOver).Should(gomega.BeTrue())
	}
}

// behindCaddy starts Caddy before the servers.
func (c *three) behindCaddy(t *testing.T) {
	t.Helper()
	folder, address := t.TempDir(), freePort(t)
	file := filepath.Join(folder, "Caddyfile")
	text := "{\nadmin off\ndefault_bind 127.0.0.1\nlog {\nlevel ERROR\n}\n}\n" + example(t, "Caddyfile")
	gomega.NewWithT(t).Expect(os.WriteFile(file, []byte(text), 0o600)).To(gomega.Succeed())
	cmd := exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", file)
	c.url = "http://" + address
	cmd.Env = append(os.Environ(), "HOME="+folder, "ANTIPHON_SITE="+c.url, "ANTIPHON_SERVER="+strings.Join(c.addresses[:], " "))
	run(t, address, cmd)
}

// metric returns the value of a metric of a server.
func metric(g *gomega.WithT, s *rig.Program, name string) int {
	found := regexp.MustCompile(`(?m)^` + name + ` (\d+)$`).FindStringSubmatch(metrics(g, s))
	g.Expect(found).NotTo(gomega.BeNil(), name)
	n, err := strconv.Atoi(found[1])
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return n
}

// calls returns how many calls each server has.
func (c *three) calls(g *gomega.WithT) (n [3]int) {
	for i, s := range c.servers {
		n[i] = metric(g, s, "antiphon_sessions")
	}
	return n
}

// busiest returns the server with most calls, and how many it has.
func (c *three) busiest(g *gomega.WithT) (i, calls int) {
	all := c.calls(g)
	calls = slices.Max(all[:])
	return slices.Index(all[:], calls), calls
}

// size returns how often a test does a thing: few times, or what `make chaos` asks for.
func size(t *testing.T, few int) int {
	t.Helper()
	text := os.Getenv("ANTIPHON_CHAOS")
	if text == "" {
		return few
	}
	n, err := strconv.Atoi(text)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred(), "ANTIPHON_CHAOS")
	return n
}

// A server is killed while the agent speaks. Each of its calls goes on at another server: the agent is heard again, and nothing that a client was told is lost or comes twice. Controllers and
// a hangup reach each call through any server, also through the one that runs again.
func TestACallOutlivesItsServer(t *testing.T) {
	g := gomega.NewWithT(t)
	cluster := newThree(t)
	const perServer = 2
	var callers []*caller
	for i := range perServer * len(cluster.servers) {
		c := newCaller(t, cluster.url, i%3 == 2)
		c.asks(fmt.Sprint("my name is caller ", i))
		callers = append(callers, c)
	}
	var back []time.Duration
	sound, cancel := context.WithTimeout(t.Context(), time.Duration(size(t, 1))*takenOver)
	defer cancel()
	for round := range size(t, 1) {
		for _, c := range callers {
			c.Expect(c.SendText("say 100 words")).To(gomega.Succeed())
		}
		for _, c := range callers {
			c.Expect(c.speaker.AwaitSound(sound)).To(gomega.Succeed())
		}
		cluster.journalled(g)
		victim, calls := cluster.busiest(g)
		before := 0
		for _, c := range callers {
			before += len(c.losses())
		}
		cluster.servers[victim].Kill()
		killed := time.Now()
		g.Eventually(func() (n int) {
			for _, c := range callers {
				n += len(c.losses())
			}
			return n - before
		}, takenOver).Should(gomega.BeNumerically(">=", calls))
		for _, c := range callers {
			if lost := c.losses(); len(lost) > 0 && lost[len(lost)-1].After(killed) {
				back = append(back, c.audioBack(killed, lost[len(lost)-1])...)
			}
		}
		for i, s := range cluster.servers {
			if i != victim {
				callers[0].isFound(t, s)
			}
		}
		cluster.start(g, victim)
		cluster.complete(g)
		for i, c := range callers {
			c.asks(fmt.Sprintf("caller %d in round %d", i, round))
			c.isFound(t, cluster.servers[victim])
		}
	}
	var told account
	for i, c := range callers {
		told.add(c.wentOn())
		if !c.webSocket {
			status := func() int { return postTo(g, cluster.servers[i%3].URL+c.path()+"/hangup", "").StatusCode }
			g.Eventually(status, takenOver).Should(gomega.Equal(http.StatusOK))
		}
	}
	t.Log(told)
	slices.Sort(back)
	t.Logf("audio is back after a kill: p50 %v, p95 %v, of %d calls over WebRTC", back[len(back)/2], back[len(back)*95/100], len(back))
}

// audioBack waits until the call is back and the agent is heard again, and returns the time since its server was killed. Over a WebSocket it returns nothing: sound that was
// received before is still played.
func (c *caller) audioBack(killed, lost time.Time) []time.Duration {
	c.Eventually(func() bool { return c.Snapshot().State.OnCall() }).Should(gomega.BeTrue(), func() string { return c.story() })
	if c.webSocket {
		return nil
	}
	var heard time.Time
	c.Eventually(func() bool {
		for _, f := range c.speaker.Frames() {
			if heard = f.At; f.At.After(lost) && f.Level >= native.Audible {
				return true
			}
		}
		return false
	}).Should(gomega.BeTrue(), func() string { return "the agent is not heard again:\n" + c.story() })
	return []time.Duration{heard.Sub(killed)}
}

// The server of a call loses the NATS server: the call goes on there, and what was said meanwhile outlives the server once the NATS server is back.
func TestACallGoesOnWithoutTheStore(t *testing.T) {
	g := gomega.NewWithT(t)
	cluster := newThree(t)
	c := newCaller(t, cluster.url, false)
	c.asks("before")
	owner, calls := cluster.busiest(g)
	g.Expect(calls).To(gomega.Equal(1))
	cluster.cables[owner].cut(true)
	c.asks("while the store is away")
	unjournalled := func() int { return metric(g, cluster.servers[owner], "antiphon_calls_unjournalled") }
	g.Eventually(unjournalled, takenOver).Should(gomega.Equal(1))
	cluster.cables[owner].cut(false)
	g.Eventually(unjournalled, takenOver).Should(gomega.BeZero())
	c.asks("after it")
	cluster.journalled(g)
	cluster.servers[owner].Kill()
	c.asks("at another server")
	c.wentOn()
}

// The NATS server is lost with all that it has stored, and another one comes in its place. The servers find each other again, and go on with their calls, which outlive their servers again.
func TestTheStoreLosesItsData(t *testing.T) {
	g := gomega.NewWithT(t)
	cluster := newThree(t)
	c := newCaller(t, cluster.url, false)
	c.asks("before")
	owner, calls := cluster.busiest(g)
	g.Expect(calls).To(gomega.Equal(1))
	cluster.endStore()
	for _, s := range cluster.servers {
		g.Eventually(func() int { return metric(g, s, "antiphon_cluster_nodes") }, takenOver).Should(gomega.Equal(1), "the others are silent")
	}
	natsServer(t, cluster.store)
	cluster.complete(g)
	c.asks("after it")
	cluster.journalled(g)
	cluster.servers[owner].Kill()
	c.asks("at another server")
	cluster.start(g, owner)
	cluster.complete(g)
	c.isFound(t, cluster.servers[owner])
	c.wentOn()
}

// The server of a call hangs and has no NATS server. Another server takes the call over. The first one goes on, and ends its call as soon as it reaches the store: no call has two owners. The call's
// journal and the recorded steps of the servers say so, too.
func TestAFormerOwnerIsFenced(t *testing.T) {
	g := gomega.NewWithT(t)
	cluster := newThree(t)
	journals := watchJournals(t, cluster.store)
	c := newCaller(t, cluster.url, false)
	c.asks("before")
	owner, calls := cluster.busiest(g)
	g.Expect(calls).To(gomega.Equal(1))
	g.Expect(cluster.servers[owner].Pause()).To(gomega.Succeed())
	cluster.cables[owner].cut(true) // only now: an event that goes out while the NATS server is away could not be continued elsewhere
	c.asks("at another server")
	g.Expect(cluster.servers[owner].Continue()).To(gomega.Succeed())
	cluster.cables[owner].cut(false)
	cluster.complete(g)
	g.Eventually(func() int { return metric(g, cluster.servers[owner], "antiphon_sessions") }, takenOver).Should(gomega.BeZero())
	c.asks("after all that")
	c.wentOn()
	hangUp, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	g.Expect(c.Close(hangUp)).To(gomega.Succeed())
	for _, s := range cluster.servers {
		g.Expect(s.Stop()).To(gomega.Succeed()) // it writes its trace to the end
	}
	owned := owners(g, cluster.traces[:]...)
	list, epochs := journals.oneOwner(t)
	g.Expect(epochs).To(gomega.Equal([]uint32{1, 2}))
	fenced(g, owned, list)
	keep(g, "fenced", cluster.traces[:]...)
}

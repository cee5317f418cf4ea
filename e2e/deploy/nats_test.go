package deploy

// A cluster of NATS servers: one of them is killed while calls are in progress.

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// natsCluster has three NATS servers that keep each value three times.
type natsCluster struct {
	clients, monitors [3]string // addresses
	kill              [3]func()
}

// jetStream is what a NATS server says of its streams.
type jetStream struct {
	Meta struct {
		Leader string
		Size   int `json:"cluster_size"`
	} `json:"meta_cluster"`
	Accounts []struct {
		Streams []struct {
			Name    string
			Cluster struct{ Leader string }
		} `json:"stream_detail"`
	} `json:"account_details"`
}

// newNATSCluster starts the servers, and waits until they have a leader.
func newNATSCluster(t *testing.T) *natsCluster {
	t.Helper()
	g, c := gomega.NewWithT(t), &natsCluster{}
	var routes [3]string
	for i := range routes {
		c.clients[i], c.monitors[i], routes[i] = freePort(t), freePort(t), "nats://"+freePort(t)
	}
	for i := range routes {
		_, monitor, _ := strings.Cut(c.monitors[i], ":")
		c.kill[i] = natsServer(t, c.clients[i], "-n", name(i), "-m", monitor, "--cluster_name", "test", "--cluster", routes[i], "--routes", strings.Join(routes[:], ","))
	}
	for i := range routes {
		g.Eventually(func() bool {
			known := c.ask(i)
			return known.Meta.Leader != "" && known.Meta.Size == len(routes)
		}, takenOver).Should(gomega.BeTrue(), "the NATS servers have a leader")
	}
	return c
}

// name returns the name of a NATS server.
func name(i int) string { return fmt.Sprint("nats", i) }

// ask returns what a server says of its streams. It is empty if the server does not answer.
func (c *natsCluster) ask(i int) (known jetStream) {
	response, err := (&http.Client{Timeout: patience}).Get("http://" + c.monitors[i] + "/jsz?accounts=true&streams=true")
	if err != nil {
		return known
	}
	defer response.Body.Close()
	_ = json.NewDecoder(response.Body).Decode(&known) // the caller asks again
	return known
}

// leader returns which server leads a stream; -1 if that is not known.
func (c *natsCluster) leader(stream string) int {
	for i := range c.clients {
		for _, account := range c.ask(i).Accounts {
			for _, s := range account.Streams {
				if s.Name == stream && s.Cluster.Leader == name(i) {
					return i
				}
			}
		}
	}
	return -1
}

// Of three NATS servers the one is killed that leads the stream of the journals, while calls are in progress. The calls go on. They are journalled again once the stream has another leader, and then outlive
// their server: nothing that a client was told is lost.
func TestANATSServerOfThreeIsKilled(t *testing.T) {
	g := gomega.NewWithT(t)
	nats := newNATSCluster(t)
	cluster := &three{flags: []string{"--nats-replicas", "3"}}
	for i := range cluster.nats {
		cluster.nats[i] = strings.Join(nats.clients[:], ",nats://")
	}
	cluster.begin(t)
	callers := []*caller{newCaller(t, cluster.url, true), newCaller(t, cluster.url, true)}
	for i, c := range callers {
		c.asks(fmt.Sprint("caller ", i))
	}
	leader := -1
	g.Eventually(func() int {
		leader = nats.leader("LOG_calls")
		return leader
	}, takenOver).Should(gomega.BeNumerically(">=", 0))
	nats.kill[leader]()
	for i, c := range callers {
		c.asks(fmt.Sprintf("caller %d without the leader", i))
	}
	cluster.journalled(g)
	for i, c := range callers {
		c.asks(fmt.Sprintf("caller %d with another leader", i))
	}
	cluster.journalled(g)
	victim, _ := cluster.busiest(g)
	cluster.servers[victim].Kill()
	for i, c := range callers {
		c.asks(fmt.Sprintf("caller %d at another server", i))
	}
	for _, c := range callers {
		c.wentOn()
	}
}

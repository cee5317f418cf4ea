package main

// The flags of a cluster.

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestClusterChecksItsFlags(t *testing.T) {
	nats := storage{NATS: "nats://127.0.0.1:1"}
	for says, c := range map[string]serve{
		"--node-url needs --nats": {network: network{clustered: clustered{NodeURL: "http://10.0.0.1:8080"}}}, "--node-name needs --node-url": {network: network{clustered: clustered{NodeName: "one"}}},
		"--node-url: want the address": {storage: nats, network: network{clustered: clustered{NodeURL: "10.0.0.1:8080"}}},
	} {
		gomega.NewWithT(t).Expect(c.checkNode()).To(gomega.MatchError(gomega.ContainSubstring(says)))
	}
	for _, c := range []serve{{}, {storage: nats}, {storage: nats, network: network{clustered: clustered{NodeURL: "http://10.0.0.1:8080", NodeName: "one"}}}} {
		gomega.NewWithT(t).Expect(c.checkNode()).To(gomega.Succeed())
	}
}

package reach

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// Rules of the router that drop packets of clients.
const (
	noUDP    = "meta l4proto udp drop"
	noIPv4   = "meta nfproto ipv4 drop"
	only443  = "iifname lan meta l4proto udp drop\niifname lan tcp dport != 443 drop"
	noDirect = "iifname lan udp dport 7000 drop"
	// These read where the magic cookie of STUN stands in the payload: at its beginning, and after the length of a frame.
	noTURN = "tcp dport 443 @ih,32,32 0x2112a442 drop"
	noICE  = "tcp dport 443 @ih,48,32 0x2112a442 drop"
)

// TestCallsThroughNetworks checks that a client hears an answer through each network.
func TestCallsThroughNetworks(t *testing.T) {
	const open = "0.0.0.0:80"
	for _, row := range []struct {
		name   string
		nat    string
		block  string
		server string // its namespace; "server" if empty
		job    serverJob
		url    string
	}{
		{name: "cone NAT", nat: cone, job: serverJob{Listen: open}, url: "http://203.0.113.10"},
		{name: "symmetric NAT", nat: symmetric, job: serverJob{Listen: open}, url: "http://203.0.113.10"},
		{name: "IPv6", nat: cone, block: noIPv4, job: serverJob{Listen: "[::]:80"}, url: "http://[2001:db8::10]"},
		{
			name: "the server behind 1:1 NAT", nat: symmetric, server: "inner",
			job: serverJob{Listen: open, Public: []string{"203.0.113.20"}}, url: "http://203.0.113.20",
		},
		{name: "UDP blocked: ICE over TCP", nat: symmetric, block: noUDP, job: serverJob{Listen: open, ICETCP: "0.0.0.0:7000"}, url: "http://203.0.113.10"},
		{name: "the media port blocked: TURN over UDP", nat: symmetric, block: noDirect, job: serverJob{Listen: open, Turn: "203.0.113.11:3478", Public: []string{"203.0.113.11"}}, url: "http://203.0.113.10"},
		{name: "UDP blocked: TURN over TCP", nat: symmetric, block: noUDP, job: serverJob{Listen: open, Turn: "0.0.0.0:3478"}, url: "http://203.0.113.10"},
		{
			name: "the media port of a server behind 1:1 NAT blocked: TURN", nat: symmetric, block: noDirect, server: "inner",
			job: serverJob{Listen: open, Turn: "0.0.0.0:3478", Public: []string{"203.0.113.20"}}, url: "http://203.0.113.20",
		},
		{
			name: "UDP to a server behind 1:1 NAT blocked: TURN over TCP", nat: symmetric, block: noUDP, server: "inner",
			job: serverJob{Listen: open, Turn: "0.0.0.0:3478", Public: []string{"203.0.113.20"}}, url: "http://203.0.113.20",
		},
		{
			name: "IPv6, UDP blocked: ICE over TCP", nat: cone, block: noIPv4 + "\n" + noUDP,
			job: serverJob{Listen: "[::]:80", ICETCP: "[::]:7000"}, url: "http://[2001:db8::10]",
		},
		{
			name: "TCP port 443 alone: TURN on another address", nat: symmetric, block: only443,
			job: serverJob{Listen: "203.0.113.10:443", Turn: "203.0.113.11:443", Public: []string{"203.0.113.11"}}, url: "http://203.0.113.10:443",
		},
		{
			name: "TCP port 443 alone: ICE over TCP on another address", nat: cone, block: only443,
			job: serverJob{Listen: "203.0.113.10:443", ICETCP: "203.0.113.11:443"}, url: "http://203.0.113.10:443",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			route(t, row.nat, row.block)
			oneToOne(t)
			if row.server == "" {
				row.server = "server"
			}
			start(t, g, row.server, "server", row.job).says("serving")
			client := start(t, g, "client", "client", clientJob{URL: row.url})
			client.says("connected")
			client.ask("good morning")
		})
	}
}

// TestBlockedNetworks checks that no call connects through these networks if the server offers UDP alone: the rules of the other tests
// block what they say.
func TestBlockedNetworks(t *testing.T) {
	for name, block := range map[string]string{"UDP blocked": noUDP, "the media port blocked": noDirect} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			route(t, cone, block)
			start(t, g, "server", "server", serverJob{Listen: "0.0.0.0:80"}).says("serving")
			start(t, g, "client", "client", clientJob{URL: "http://203.0.113.10", Once: true}).ends("connected")
		})
	}
}

// TestChromium checks that a browser connects through networks that let no UDP through, and over IPv6 through the relay.
func TestChromium(t *testing.T) {
	const v4, v6, one = "203.0.113.10", "[2001:db8::10]", "0.0.0.0:443"
	for i, row := range []struct {
		name   string
		job    serverJob
		server string // its namespace; "server" if empty
		host   string
		block  string
		want   string // the type of the client's address, and over which protocol the client reaches the relay or the server
	}{
		{"TURN over TCP", serverJob{Listen: "0.0.0.0:80", Turn: "0.0.0.0:3478"}, "", v4, noUDP, "relay tcp"},
		{"ICE over TCP", serverJob{Listen: "0.0.0.0:80", ICETCP: "0.0.0.0:7000"}, "", v4, noUDP, "prflx tcp"},
		{"port 443: TURN over TLS", serverJob{Listen: one, OnePort: true}, "", v4, only443 + "\n" + noTURN + "\n" + noICE, "relay tls"},
		{"port 443: TURN over TCP", serverJob{Listen: one, OnePort: true}, "", v4, only443 + "\n" + noICE, "relay tcp"},
		{"port 443: ICE over TCP", serverJob{Listen: one, OnePort: true}, "", v4, only443, "prflx tcp"},
		{"IPv6, the media port blocked: TURN over UDP", serverJob{Listen: "[::]:80", Turn: "[::]:3478"}, "", v6, noIPv4 + "\n" + noDirect, "relay udp"},
		{"IPv6, UDP blocked: TURN over TCP", serverJob{Listen: "[::]:80", Turn: "[::]:3478"}, "", v6, noIPv4 + "\n" + noUDP, "relay tcp"},
		{"a server without IPv4: TURN over TCP", serverJob{Listen: "[::]:80", Turn: "[::]:3478"}, "server6", "[2001:db8::12]", noUDP, "relay tcp"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			route(t, symmetric, row.block)
			if row.server == "" {
				row.server = "server"
			}
			served := start(t, g, row.server, "server", row.job)
			served.says("serving")
			scheme := "http://"
			if row.job.OnePort {
				scheme = "https://"
			}
			dir := fmt.Sprint("/run/chromium", i) // it goes with the namespaces, whenever the browser's last process ends
			browser := exec.Command("ip", "netns", "exec", "client", "chromium", "--headless=new", "--no-sandbox", "--no-first-run", "--disable-gpu",
				"--ignore-certificate-errors", "--user-data-dir="+dir, scheme+row.host+"/")
			browser.Env = append(os.Environ(), "HOME="+dir)
			begin(t, g, browser)
			served.says("page: session.created " + row.want)
		})
	}
}

// coturn starts Debian's TURN server at 203.0.113.40, and waits until it listens. It shares the secret "shared" with our server.
func coturn(t *testing.T, g *gomega.WithT, flags ...string) {
	t.Helper()
	begin(t, g, exec.Command("ip", append([]string{
		"netns", "exec", "turn", "turnserver", "-n", "--use-auth-secret", "--static-auth-secret=shared",
		"--realm=example.org", "--listening-ip=203.0.113.40", "--relay-ip=203.0.113.40", "--no-cli", "--no-tls", "--no-dtls", "--log-file=stdout",
		"--userdb=/run/turn.db", "--pidfile=/run/turn.pid",
	}, flags...)...))
	g.Eventually(func() string {
		sockets, _ := exec.Command("ip", "netns", "exec", "turn", "ss", "-Hltn").Output() // the wait shows the failure
		return string(sockets)
	}, patience).Should(gomega.ContainSubstring("203.0.113.40:3478"))
}

// TestCallsThroughCoturn checks that a client reaches the server through a TURN server of others, which shares a secret with the server.
func TestCallsThroughCoturn(t *testing.T) {
	const udp, tcp = "turn:203.0.113.40:3478?transport=udp", "turn:203.0.113.40:3478?transport=tcp"
	for _, row := range []struct {
		name  string
		block string
		flag  string // of coturn
		urls  []string
	}{
		{"over UDP and TCP", "iifname lan ip daddr 203.0.113.10 meta l4proto udp drop", "--verbose", []string{udp, tcp}},
		{"over TCP alone", noUDP, "--no-udp", []string{tcp}},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			route(t, symmetric, row.block)
			coturn(t, g, row.flag)
			start(t, g, "server", "server", serverJob{Listen: "0.0.0.0:80", ICEURLs: row.urls, Secret: "shared"}).says("serving")
			client := start(t, g, "client", "client", clientJob{URL: "http://203.0.113.10"})
			client.says("connected")
			client.ask("good morning")
		})
	}
}

// TestAddressChangesInMidCall checks that a call goes on when the client gets another address, and when the router forgets its ports.
func TestAddressChangesInMidCall(t *testing.T) {
	// noticed bounds the time until the connection is back: the client takes about 2 s, the server's own limit is 20 s.
	const noticed = 10 * time.Second
	for name, commands := range map[string]string{
		"the client moves":          "ip -n client addr del 192.168.50.2/24 dev net; ip -n client addr add 192.168.50.3/24 dev net; ip -n client route add default via 192.168.50.1",
		"the router gets a new one": "ip -n router addr del 203.0.113.30/24 dev net; ip -n router addr add 203.0.113.31/24 dev net",
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			route(t, symmetric)
			start(t, g, "server", "server", serverJob{Listen: "0.0.0.0:80"}).says("serving")
			client := start(t, g, "client", "client", clientJob{URL: "http://203.0.113.10"})
			client.says("connected")
			client.ask("good morning")
			run(t, commands)
			began := time.Now()
			client.write("is somebody there") // nobody knows yet that the sound of the answer is lost
			var said string
			g.Eventually(client.lines, patience).Should(gomega.Receive(&said, gomega.Or(gomega.Equal("back"), gomega.HavePrefix("heard "))))
			if said == "back" { // a router may forward to the old address for a while: then nothing is lost
				back := time.Since(began)
				t.Logf("back %v after the change", back)
				g.Expect(back).To(gomega.BeNumerically("<", noticed), "the client notices the silence, not the server's time limit")
				g.Eventually(client.lines, patience).Should(gomega.Receive(&said, gomega.HavePrefix("heard ")))
			}
			g.Expect(said).To(gomega.Equal("heard true"), "the server sends again what the client has not received")
			client.ask("good evening")
		})
	}
}

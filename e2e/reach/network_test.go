package reach

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// The network of the tests:
//
//	server 203.0.113.10 and .11 ─┐
//	server6 2001:db8::12 ────────┤
//	1:1 NAT 203.0.113.20 ────────┼─ bridge ─ 203.0.113.30 router 192.168.50.1 ─ client 192.168.50.2
//	  └ 10.9.0.2 server          │
//	coturn 203.0.113.40 ─────────┘
//
// The bridge is the internet: it forwards to the addresses of 203.0.113.0/24 and 2001:db8::/64 alone. What coturn sends to other addresses
// goes to the bridge's own address, and vanishes there.
const layout = `
mount -t tmpfs tmpfs /run
ip link set lo up
ip link add internet type bridge
ip addr add 203.0.113.1/24 dev internet
ip link set internet up
for n in server server6 inner gateway router client turn; do
	ip netns add $n
	ip netns exec $n ip link set lo up
done
on() { n=$1; shift; ip netns exec $n "$@"; }
# plug NAMESPACE ADDRESS...: connects a namespace to the internet.
plug() {
	n=$1; shift
	ip link add $n type veth peer name net netns $n
	ip link set $n master internet up
	on $n ip link set net up
	for a in "$@"; do on $n ip addr add $a dev net nodad 2>/dev/null || on $n ip addr add $a dev net; done
}
plug server 203.0.113.10/24 203.0.113.11/24 2001:db8::10/64
plug server6 2001:db8::12/64
plug gateway 203.0.113.20/24
plug router 203.0.113.30/24 2001:db8::30/64
plug turn 203.0.113.40/24
on turn ip route add default via 203.0.113.1
on gateway ip link add inside type veth peer name net netns inner
on gateway ip addr add 10.9.0.1/24 dev inside
on gateway ip link set inside up
on inner ip addr add 10.9.0.2/24 dev net
on inner ip link set net up
on inner ip route add default via 10.9.0.1
on router ip link add lan type veth peer name net netns client
on router ip addr add 192.168.50.1/24 dev lan
on router ip addr add fd50::1/64 dev lan nodad
on router ip link set lan up
on client ip link set net up
on client ip addr add 192.168.50.2/24 dev net
on client ip addr add fd50::2/64 dev net nodad
on client ip route add default via 192.168.50.1
on client ip -6 route add default via fd50::1
for n in gateway router; do
	on $n sysctl -qw net.ipv4.ip_forward=1
	on $n sysctl -qw net.ipv6.conf.all.forwarding=1
done
`

// run runs a shell script in the namespaces of the tests.
func run(t *testing.T, script string) {
	t.Helper()
	out, err := exec.Command("sh", "-euc", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s\n%s (scripts/setup.sh test installs iproute2 and nftables)", err, out, script)
	}
}

// route makes the router of the client's network: nat is an option of masquerade, and block are rules that drop packets.
func route(t *testing.T, nat string, block ...string) {
	t.Helper()
	run(t, fmt.Sprintf(`ip netns exec router nft -f - <<END
flush ruleset
table inet router {
	chain post { type nat hook postrouting priority srcnat; oifname "net" masquerade %s; }
	chain forward { type filter hook forward priority filter; %s
}
}
END
`, nat, strings.Join(block, "\n")))
}

// oneToOne makes the gateway before the inner server a 1:1 NAT.
func oneToOne(t *testing.T) {
	t.Helper()
	run(t, `ip netns exec gateway nft -f - <<END
flush ruleset
table ip nat {
	chain pre { type nat hook prerouting priority dstnat; ip daddr 203.0.113.20 dnat to 10.9.0.2; }
	chain post { type nat hook postrouting priority srcnat; ip saddr 10.9.0.2 oifname "net" snat to 203.0.113.20; }
}
END
`)
}

// forward makes the gateway before the inner server a symmetric NAT that forwards the ports alone, such as "tcp dport 8080". block are
// rules that drop packets.
func forward(t *testing.T, ports []string, block ...string) {
	t.Helper()
	to := ""
	for _, port := range ports {
		to += "ip daddr 203.0.113.20 " + port + " dnat to 10.9.0.2;\n"
	}
	run(t, fmt.Sprintf(`ip netns exec gateway nft -f - <<END
flush ruleset
table ip nat {
	chain pre { type nat hook prerouting priority dstnat; %s }
	chain post { type nat hook postrouting priority srcnat; oifname "net" masquerade fully-random; }
}
table inet filter {
	chain forward { type filter hook forward priority filter; policy drop; %s
		ct state established,related accept; ct status dnat accept; iifname "inside" accept;
	}
}
END
`, to, strings.Join(block, "\n")))
}

// Kinds of NAT: Linux keeps a client's port for all destinations if it can (a cone), and takes another port for each one with
// fully-random (symmetric).
const cone, symmetric = "", "fully-random"

// inside starts each test again, all at once, in network namespaces of its own, and ends with their status. With -run it starts the chosen tests
// in one program.
func inside() {
	args := []string{"--net", "--mount"}
	if os.Getuid() != 0 {
		args = append(args, "--user", "--map-root-user")
	}
	chosen := []string{""}
	if flag.Parse(); flag.Lookup("test.run").Value.String() == "" {
		list := exec.Command(os.Args[0], "-test.list", ".")
		list.Env = append(os.Environ(), roleVariable+"=list")
		names, err := list.Output()
		if err != nil {
			end(err)
		}
		chosen = strings.Fields(string(names))
	}
	ended := make(chan error)
	for _, name := range chosen {
		cmd := exec.Command("unshare", slices.Concat(args, os.Args)...)
		if name != "" {
			cmd.Args = append(cmd.Args, "-test.run=^"+name+"$")
		}
		cmd.Env = append(os.Environ(), roleVariable+"=tests")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		go func() {
			out, err := cmd.CombinedOutput()
			_, _ = os.Stdout.Write(out) // nobody else could tell
			ended <- err
		}()
	}
	var failed error
	for range chosen {
		failed = errors.Join(failed, <-ended)
	}
	end(failed)
}

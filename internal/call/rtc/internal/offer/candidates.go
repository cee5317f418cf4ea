package offer

import (
	"cmp"
	"net"
	"net/netip"
	"slices"

	"github.com/pion/ice/v4"
	"github.com/pion/sdp/v3"
)

// The client's addresses in an offer: chooses those that the server sends connectivity checks to.

// maxChecked is how many of the client's addresses the server checks. A client that has more is found by its own checks.
const maxChecked = 12

// Remotes says which of the client's addresses the server checks. The client writes them, so without a rule it could make the server
// send packets into the server's own network. A client in a private network does not need its private address checked: its own
// checks reach the server, and the server answers to where they come from.
type Remotes struct {
	// Loopback permits loopback addresses.
	Loopback bool
	// Private permits private and link-local addresses of every network. Without it, only private addresses of the networks of this
	// machine's own interfaces are permitted.
	Private bool
}

// permits reports whether the server checks an address.
func (r Remotes) permits(a netip.Addr) bool {
	a = a.Unmap()
	switch {
	case a.IsMulticast(), a.IsUnspecified(), a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return false
	case a.IsLoopback():
		return r.Loopback
	case a.IsLinkLocalUnicast():
		return r.Private
	case !a.IsPrivate() && !shared.Contains(a):
		return true
	}
	return r.Private || onOwnNetwork(a)
}

// shared is the address space between carriers and their customers, which is not reachable from the internet (RFC 6598).
var shared = netip.MustParsePrefix("100.64.0.0/10")

// onOwnNetwork reports whether an interface of this machine is in the same network as a.
func onOwnNetwork(a netip.Addr) bool {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	return slices.ContainsFunc(addrs, func(own net.Addr) bool {
		prefix, err := netip.ParsePrefix(own.String())
		return err == nil && prefix.Contains(a)
	})
}

// limitCandidates removes the candidates that the server does not check from an offer, and returns how many it has removed. It keeps the
// maxChecked candidates of each section with the highest priorities.
func limitCandidates(d *sdp.SessionDescription, remotes Remotes) (removed int) {
	for _, m := range d.MediaDescriptions {
		kept := keptCandidates(m, remotes)
		m.Attributes = slices.DeleteFunc(m.Attributes, func(a sdp.Attribute) bool {
			drop := a.IsICECandidate() && !slices.Contains(kept, a.Value)
			if drop {
				removed++
			}
			return drop
		})
	}
	return removed
}

// keptCandidates returns the candidate attributes of a section that limitCandidates keeps.
func keptCandidates(m *sdp.MediaDescription, remotes Remotes) (kept []string) {
	var found []ice.Candidate
	text := map[ice.Candidate]string{}
	for _, a := range m.Attributes {
		if !a.IsICECandidate() {
			continue
		}
		c, err := ice.UnmarshalCandidate(a.Value)
		if err != nil || !c.NetworkType().IsUDP() {
			continue // the server dials no client over TCP
		}
		addr, err := netip.ParseAddr(c.Address())
		if err != nil || !remotes.permits(addr) {
			continue // a name is not looked up
		}
		found, text[c] = append(found, c), a.Value
	}
	slices.SortStableFunc(found, func(a, b ice.Candidate) int { return cmp.Compare(b.Priority(), a.Priority()) })
	for _, c := range found[:min(len(found), maxChecked)] {
		kept = append(kept, text[c])
	}
	return kept
}

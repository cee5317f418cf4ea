package httpguard

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// The address of a client, also behind reverse proxies.

// Proxies are the addresses of reverse proxies whose header X-Forwarded-For is true.
type Proxies []netip.Prefix

// ParseProxies reads addresses ("192.0.2.7") and networks ("10.0.0.0/8").
func ParseProxies(list []string) (Proxies, error) {
	var all Proxies
	for _, text := range list {
		if addr, err := netip.ParseAddr(text); err == nil {
			addr = addr.Unmap()
			all = append(all, netip.PrefixFrom(addr, addr.BitLen()))
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an IP address nor a network such as 10.0.0.0/8", text)
		}
		all = append(all, prefix.Masked())
	}
	return all, nil
}

// contains reports whether addr is the address of a trusted proxy.
func (p Proxies) contains(addr netip.Addr) bool {
	for _, prefix := range p {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// client returns the address of the client that sent a request. If a trusted proxy delivered the request, client reads X-Forwarded-For from its end and takes the first
// address that is not a trusted proxy's: a client may have written all before that address.
func (p Proxies) client(r *http.Request) netip.Addr {
	addr := hostAddr(r.RemoteAddr)
	if !p.contains(addr) {
		return addr
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && p.contains(addr); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		addr = hop.Unmap().WithZone("")
	}
	return addr
}

// hostAddr returns the address of a HOST:PORT. It returns the zero Addr for an address without an IP, such as that of a Unix socket.
func hostAddr(hostport string) netip.Addr {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		return netip.Addr{}
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

// Network returns what counts as one client: an IPv4 address, and the /64 network of an IPv6 address, because one host can use all
// addresses of its network. It returns the zero Prefix for an address that is no IP address.
func Network(addr netip.Addr) netip.Prefix {
	bits := addr.BitLen()
	if addr.Is6() {
		bits = 64
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}

// clientKey is the key of the client's address in a request's context.
type clientKey struct{}

// Client returns the address of the client that sent a request, as the Guard found it. Without a Guard it is the address of the connection.
func Client(r *http.Request) netip.Addr {
	if addr, ok := r.Context().Value(clientKey{}).(netip.Addr); ok {
		return addr
	}
	return hostAddr(r.RemoteAddr)
}

// WithClient returns a request whose context has the client's address.
func WithClient(r *http.Request, addr netip.Addr) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), clientKey{}, addr))
}

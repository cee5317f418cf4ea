// Package phones has the configuration of telephone calls: who may call, and who answers.
package phones

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/sip"
	"github.com/antiphon-rt/antiphon/internal/webhook"
)

// Config says which telephone calls a server takes. The zero value takes none.
type Config struct {
	// Listen is the HOST:PORT of SIP over UDP and TCP, and ListenTLS that of SIP over TLS with the certificate of TLS; empty for none.
	Listen, ListenTLS string
	TLS               *tls.Config
	// Trunks are who may call. Without one, only this machine calls, and only if Listen is a loopback address.
	Trunks []sip.Trunk
	// Numbers say which session answers which number: the first that fits. Without Numbers the session of the server answers all; with some, other numbers are refused.
	Numbers []Number
	// Principal has the calls: its keys control them. It is required if there are keys.
	Principal string
	// Greeting is what the agent says first: nil for nothing, "" for what the model wants to say. A call on which Webhook decides has none.
	Greeting *string
	// Webhook is asked who answers each call; nil: the server does.
	Webhook *webhook.Hook
	// Refer are patterns of the targets to which calls may be transferred; nil allows none.
	Refer []string
	// Outlets say which calls go out; nil for none.
	Outlets []Outlet
	// FirstPort and LastPort are the UDP ports of the audio; 0 takes any.
	FirstPort, LastPort uint16
	// Quiet is how long a caller may send nothing before the call ends; 0 takes 30 s.
	Quiet time.Duration
}

// Number says which session answers a number.
type Number struct {
	// Number is a number or a name, in which * stands for any characters. Trunk is the name of the trunk, or empty for all.
	Number, Trunk string
	// Session is merged into the session of the server; nil for nothing.
	Session json.RawMessage
	// Greeting takes the place of Config.Greeting; nil does not.
	Greeting *string
}

// On reports whether there is SIP.
func (p *Config) On() bool { return p.Listen != "" || p.ListenTLS != "" }

// errNobodyCalls is the error for telephones that nobody may call.
var errNobodyCalls = errors.New("no trunk may call: name one under phones: trunks: in antiphon.yaml, or listen on a loopback address for telephones of this machine")

// Callers returns the trunks: those of the configuration, or this machine.
func (p *Config) Callers() ([]sip.Trunk, error) {
	if len(p.Trunks) > 0 {
		return p.Trunks, nil
	}
	for _, at := range []string{p.Listen, p.ListenTLS} {
		host, _, err := net.SplitHostPort(at)
		if ip := net.ParseIP(host); at != "" && (err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback())) {
			return nil, errNobodyCalls
		}
	}
	local := sip.Trunk{Name: "loopback", Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
	addresses, _ := net.InterfaceAddrs() // without them, telephones call from a loopback address
	for _, a := range addresses {
		if n, err := netip.ParsePrefix(a.String()); err == nil { // a telephone on this machine may call from any of its addresses
			local.Networks = append(local.Networks, netip.PrefixFrom(n.Addr(), n.Addr().BitLen()))
		}
	}
	return []sip.Trunk{local}, nil
}

// Check returns what is wrong.
func (p *Config) Check() error {
	if err := sip.Check(p.Trunks); err != nil {
		return err
	}
	for _, n := range p.Numbers {
		known := n.Trunk == ""
		for _, t := range p.Trunks {
			known = known || t.Name == n.Trunk
		}
		if !known {
			return fmt.Errorf("numbers: %s: there is no trunk %s", n.Number, n.Trunk)
		}
	}
	for i := range p.Outlets {
		if err := p.Outlets[i].check(p); err != nil {
			return err
		}
	}
	if p.LastPort < p.FirstPort {
		return fmt.Errorf("ports: %d to %d is no range: give the first and the last port", p.FirstPort, p.LastPort)
	}
	return nil
}

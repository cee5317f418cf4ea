package outbound

import (
	"context"
	"errors"
	"net"
	"syscall"

	"github.com/emiago/sipgo/sip"
)

// What the SIP stack would open by itself has no bounds, and its certificate would be checked without the trunk's roots.

// errEnded is what the stack gets in place of a connection.
var errEnded = errors.New("the connection has ended")

// Transports are the stack's transports that open no connection. Lines and listeners give it all that it has.
func Transports() sip.TransportsConfig {
	refuses := func(net.Addr) net.Dialer {
		return net.Dialer{Control: func(string, string, syscall.RawConn) error { return errEnded }}
	}
	return sip.TransportsConfig{
		TCP: &sip.TransportTCP{DialerCreate: refuses},
		TLS: &sip.TransportTLS{TransportTCP: &sip.TransportTCP{DialerCreate: refuses}},
	}
}

// Resolver is the stack's resolver, which asks nobody: the stack would look up what strangers write into Via.
func Resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errEnded }}
}

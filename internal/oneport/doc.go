// Package oneport shares one TCP port between HTTP, ICE over TCP (RFC 6544) and TURN over TCP and TLS (RFC 8656), for clients whose network
// lets nothing but TCP port 443 through. It tells the protocols apart by the first bytes of a connection. Inside of TLS the protocol that the
// client names decides (ALPN, RFC 7443); if the client names none, the first bytes inside of TLS do.
//
// A Port owns one goroutine, and one for each connection whose protocol is not known yet. Closing Port.HTTP joins them.
package oneport

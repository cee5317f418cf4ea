package oneport

import "net"

// The first bytes of a connection, which tell its protocol.

// protocol is what a connection carries.
type protocol int

const (
	overHTTP protocol = iota // or something unknown
	overTLS
	overTURN // STUN messages as they are (RFC 8489 section 6.2.2)
	overICE  // STUN messages with a length before each (RFC 4571)
)

const (
	handshake = 22 // the first byte of TLS: a record of the handshake (RFC 8446 section 5.1)
	// atMost is how many first bytes decide: the length of a frame (2), and of a STUN message its type (2), its length (2) and the magic cookie.
	atMost = 10
)

// cookie is the magic cookie of STUN (RFC 8489 section 5).
var cookie = [4]byte{0x21, 0x12, 0xA4, 0x42}

// tell returns the protocol of a connection that begins with b. sure is false if more bytes must decide.
func tell(b []byte) (is protocol, sure bool) {
	switch {
	case len(b) == 0:
		return overHTTP, false
	case b[0] == handshake:
		return overTLS, true
	case b[0] > 1:
		return overHTTP, true // requests of STUN, and lengths of their frames, begin with 0 or 1
	}
	turn, ice := cookieAt(b, 4), cookieAt(b, 6)
	switch {
	case turn && len(b) >= 8:
		return overTURN, true
	case ice && !turn && len(b) >= atMost:
		return overICE, true
	}
	return overHTTP, !turn && !ice
}

// cookieAt reports whether the bytes from a position on are those of the cookie, as far as they are there.
func cookieAt(b []byte, at int) bool {
	for i, want := range cookie {
		if at+i < len(b) && b[at+i] != want {
			return false
		}
	}
	return true
}

// peeked is a connection whose first bytes were read. Read returns them again.
type peeked struct {
	net.Conn
	first []byte
}

// protocol reads until the first bytes tell the protocol. Errors: those of the connection.
func (c *peeked) protocol() (protocol, error) {
	b := make([]byte, 0, atMost)
	for {
		n, err := c.Conn.Read(b[len(b):atMost])
		b = b[:len(b)+n]
		if is, sure := tell(b); sure {
			c.first = b
			return is, nil
		}
		if err != nil {
			return overHTTP, err
		}
	}
}

// Read implements net.Conn.
func (c *peeked) Read(p []byte) (int, error) {
	if len(c.first) == 0 {
		return c.Conn.Read(p)
	}
	n := copy(p, c.first)
	c.first = c.first[n:]
	return n, nil
}

// NetConn returns the connection below, as tls.Conn does.
func (c *peeked) NetConn() net.Conn { return c.Conn }

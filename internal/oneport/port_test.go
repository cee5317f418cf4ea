package oneport

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/httpguard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	patience = 20 * time.Second
	moment   = 50 * time.Millisecond // a time limit that a test waits out
)

// request returns a STUN message of a type without attributes.
func request(kind uint16) []byte {
	b := make([]byte, 20)
	binary.BigEndian.PutUint16(b, kind)
	copy(b[4:], cookie[:])
	return b
}

// framed returns a message as ICE over TCP sends it.
func framed(message []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...)
}

const (
	binding  = 0x0001
	allocate = 0x0003
	get      = "GET / HTTP/1.1\r\nHost: talk.test\r\nConnection: close\r\n\r\n"
)

// TestTell checks each beginning of a connection: fewer bytes are not sure, unless they can mean nothing else.
func TestTell(t *testing.T) {
	for name, row := range map[string]struct {
		bytes []byte
		is    protocol
		after int // how many bytes decide
	}{
		"nothing":                 {nil, overHTTP, 1},
		"HTTP":                    {[]byte(get), overHTTP, 1},
		"the preface of HTTP/2":   {[]byte("PRI * HTTP/2.0\r\n\r\n"), overHTTP, 1},
		"TLS":                     {[]byte{22, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3}, overTLS, 1},
		"STUN":                    {request(binding), overTURN, 8},
		"TURN":                    {request(allocate), overTURN, 8},
		"ICE":                     {framed(request(binding)), overICE, 10},
		"a long frame of ICE":     {append([]byte{1, 0xFC}, request(binding)...), overICE, 10},
		"zeros":                   {make([]byte, 20), overHTTP, 7},
		"half a cookie of TURN":   {[]byte{0, 1, 0, 0, 0x21, 0x12, 0, 0, 0, 0, 0, 0}, overHTTP, 7},
		"half a cookie of ICE":    {[]byte{0, 20, 0, 1, 0, 0, 0x21, 0x12, 0xA4, 0x43}, overHTTP, 10},
		"bytes that are no text":  {[]byte{0xFF, 0xFE, 0, 0}, overHTTP, 1},
		"an SSH client":           {[]byte("SSH-2.0-x\r\n"), overHTTP, 1},
		"STUN without the cookie": {append([]byte{0, 1, 0, 0}, make([]byte, 16)...), overHTTP, 7},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			for n := range len(row.bytes) + 1 {
				is, sure := tell(row.bytes[:n])
				g.Expect(sure).To(gomega.Equal(n >= row.after), "after %d bytes", n)
				if sure {
					g.Expect(is).To(gomega.Equal(row.is), "after %d bytes", n)
				}
			}
		})
	}
}

// shared is a port of a test. Its HTTP server answers "hello"; what ICE and TURN accept comes back in capital letters, with the name of the
// protocol before it.
type shared struct {
	t       *testing.T
	g       *gomega.WithT
	address string
	trust   *x509.CertPool
}

// share shares a port until the test ends.
func share(t *testing.T, cfg Config, limits httpguard.Limits) *shared {
	t.Helper()
	g := gomega.NewWithT(t)
	s := &shared{t: t, g: g, trust: x509.NewCertPool()}
	if cfg.TLS != nil {
		cert := certificate(g)
		cfg.TLS.Certificates, cfg.TLS.NextProtos = []tls.Certificate{cert}, []string{"h2", "http/1.1"}
		s.trust.AddCert(cert.Leaf)
	}
	inner, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	s.address = inner.Addr().String()
	p := Share(httpguard.Listen(inner, limits), cfg)
	web := httpguard.Server(httpguard.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello over "+r.Proto)
	}), httpguard.Config{}), slog.New(slog.DiscardHandler))
	web.TLSConfig = cfg.TLS
	served := make(chan error, 1)
	go func() { served <- web.Serve(p.HTTP) }()
	ended := make(chan struct{}, 2)
	for name, l := range map[string]net.Listener{"ICE ": p.ICE, "TURN ": p.TURN} {
		go func() {
			defer func() { ended <- struct{}{} }()
			echo(t, name, l)
		}()
	}
	t.Cleanup(func() {
		g.Expect(web.Close()).To(gomega.Succeed())
		g.Expect(<-served).To(gomega.MatchError(http.ErrServerClosed))
		<-ended
		<-ended
	})
	return s
}

// echo answers the first message of each connection, and holds the connections until the test ends.
func echo(t *testing.T, name string, l net.Listener) {
	if l == nil {
		return
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		t.Cleanup(func() { _ = c.Close() })
		b := make([]byte, 100)
		n, _ := c.Read(b) // the answer shows a failure
		_, _ = c.Write(append([]byte(name), b[:n]...))
	}
}

// certificate makes a certificate for 127.0.0.1.
func certificate(g *gomega.WithT) tls.Certificate {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	text, err := x509.CreateCertificate(rand.Reader, about, about, private.Public(), private)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	leaf, err := x509.ParseCertificate(text)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: private, Leaf: leaf}
}

// dial connects, and sends each of the parts in a segment of its own.
func (s *shared) dial(parts ...[]byte) net.Conn {
	s.t.Helper()
	c, err := new(net.Dialer).DialContext(s.t.Context(), "tcp", s.address)
	s.g.Expect(err).NotTo(gomega.HaveOccurred())
	s.t.Cleanup(func() { _ = c.Close() }) // the port may have closed it
	s.g.Expect(c.SetDeadline(time.Now().Add(patience))).To(gomega.Succeed())
	for _, b := range parts {
		_, err := c.Write(b)
		s.g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	return c
}

// secured connects over TLS and names protocols.
func (s *shared) secured(protocols ...string) *tls.Conn {
	s.t.Helper()
	c := tls.Client(s.dial(), &tls.Config{RootCAs: s.trust, ServerName: "127.0.0.1", NextProtos: protocols})
	s.g.Expect(c.HandshakeContext(s.t.Context())).To(gomega.Succeed())
	return c
}

// answer returns what the port sends before it waits or closes.
func (s *shared) answer(c net.Conn) string {
	b := make([]byte, 1000)
	n, err := c.Read(b)
	s.g.Expect(n > 0 || errors.Is(err, io.EOF) || strings.Contains(err.Error(), "reset")).To(gomega.BeTrue(), "%v", err)
	return string(b[:n])
}

// each splits bytes.
func each(b []byte) (parts [][]byte) {
	for i := range b {
		parts = append(parts, b[i:i+1])
	}
	return parts
}

// TestProtocols checks that each connection comes to its listener with all of its bytes, in one piece and byte by byte.
func TestProtocols(t *testing.T) {
	stun, ice := request(allocate), framed(request(binding))
	s := share(t, Config{ICE: true, TURN: true}, httpguard.Limits{})
	for name, row := range map[string]struct {
		send []byte
		want string
	}{
		"HTTP": {[]byte(get), "HTTP/1.1 200 OK"}, "TURN": {stun, "TURN " + string(stun[:8])}, "ICE": {ice, "ICE " + string(ice[:10])},
		"garbage": {[]byte("\x00\x01\x02\x03garbage\r\n"), "HTTP/1.1 400"}, "TLS": {[]byte("\x16\x03\x01\x00\x05hello\r\n"), "HTTP/1.1 400"},
	} {
		for how, parts := range map[string][][]byte{"whole": {row.send}, "byte by byte": each(row.send)} {
			t.Run(name+" "+how, func(t *testing.T) {
				s := &shared{t, gomega.NewWithT(t), s.address, s.trust}
				s.g.Expect(s.answer(s.dial(parts...))).To(gomega.HavePrefix(row.want))
			})
		}
	}
}

// TestProtocolsOverTLS checks the same inside of TLS, by the protocol that the client names or by the first bytes.
func TestProtocolsOverTLS(t *testing.T) {
	stun, ice := string(request(allocate)), string(framed(request(binding)))
	port := share(t, Config{TLS: &tls.Config{}, ICE: true, TURN: true}, httpguard.Limits{})
	for name, row := range map[string]struct {
		names []string
		send  string
		want  string
	}{
		"HTTP/1.1":          {[]string{"http/1.1"}, get, "HTTP/1.1 200 OK"},
		"HTTP without name": {nil, get, "HTTP/1.1 200 OK"},
		"TURN":              {[]string{"stun.turn"}, stun, "TURN " + stun},
		"TURN among others": {[]string{"http/1.1", "stun.turn"}, stun, "TURN " + stun},
		"TURN without name": {nil, stun, "TURN " + stun[:8]},
		"ICE":               {nil, ice + "\r\n", "HTTP/1.1 400"},
		"TURN as HTTP":      {[]string{"http/1.1"}, stun + "\r\n", "HTTP/1.1 400"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shared{t, gomega.NewWithT(t), port.address, port.trust}
			c := s.secured(row.names...)
			_, err := c.Write([]byte(row.send))
			s.g.Expect(err).NotTo(gomega.HaveOccurred())
			s.g.Expect(s.answer(c)).To(gomega.HavePrefix(row.want))
		})
	}
	for name, want := range map[string]string{"HTTP without TLS": "HTTP/1.0 400", "TURN": "TURN ", "ICE": "ICE "} {
		t.Run(name+" outside", func(t *testing.T) {
			s := &shared{t, gomega.NewWithT(t), port.address, port.trust}
			send := map[string]string{"HTTP without TLS": get, "TURN": stun, "ICE": ice}[name]
			s.g.Expect(s.answer(s.dial([]byte(send)))).To(gomega.HavePrefix(want))
		})
	}
	t.Run("HTTP/2", func(t *testing.T) {
		g := gomega.NewWithT(t)
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: port.trust}, ForceAttemptHTTP2: true}}
		defer client.CloseIdleConnections()
		r, err := client.Get("https://" + port.address)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		text, err := io.ReadAll(r.Body)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(r.Body.Close()).To(gomega.Succeed())
		g.Expect(string(text)).To(gomega.Equal("hello over HTTP/2.0"))
	})
}

// TestSlowClients checks that a client that does not say in time what it wants is cut off, at each byte and in each handshake, and that others
// are answered meanwhile.
func TestSlowClients(t *testing.T) {
	s := share(t, Config{TLS: &tls.Config{}, ICE: true, TURN: true, timeout: 10 * moment}, httpguard.Limits{})
	hello := []byte{22, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3}
	var slow []net.Conn
	for _, b := range [][]byte{request(allocate)[:7], framed(request(binding))[:9], hello} {
		for n := range b {
			slow = append(slow, s.dial(b[:n]))
		}
	}
	slow = append(slow, s.secured(), s.secured()) // silent after the handshake
	s.g.Expect(s.answer(s.dial(request(allocate)))).To(gomega.HavePrefix("TURN "))
	for _, c := range slow {
		s.g.Expect(s.answer(c)).To(gomega.BeEmpty())
	}
}

// TestPortOfSlowClientsCloses checks that a port closes while clients have not said what they want.
func TestPortOfSlowClientsCloses(t *testing.T) {
	s := share(t, Config{ICE: true, TURN: true}, httpguard.Limits{})
	s.dial()
	s.dial(request(allocate)[:5])
	s.g.Expect(s.answer(s.dial(request(allocate)))).To(gomega.HavePrefix("TURN "), "the port has accepted the others")
}

// TestMediaLeaveRoom checks that connections for ICE and TURN take half of a limit at most, and that they are not closed for others.
func TestMediaLeaveRoom(t *testing.T) {
	for name, limits := range map[string]httpguard.Limits{"of one address": {PerAddress: 4}, "of all": {Connections: 4, PerAddress: 100}} {
		t.Run(name, func(t *testing.T) {
			s := share(t, Config{ICE: true, TURN: true}, limits)
			relayed, call := s.dial(request(allocate)), s.dial(framed(request(binding)))
			s.g.Expect(s.answer(relayed)).To(gomega.HavePrefix("TURN "))
			s.g.Expect(s.answer(call)).To(gomega.HavePrefix("ICE "))
			s.g.Expect(s.answer(s.dial(request(allocate)))).To(gomega.BeEmpty(), "there is no room for a third one")
			for range 5 {
				s.g.Expect(s.answer(s.dial([]byte(get)))).To(gomega.HavePrefix("HTTP/1.1 200"))
				s.dial() // idle
			}
			s.g.Expect(relayed.SetReadDeadline(time.Now().Add(moment))).To(gomega.Succeed())
			_, err := relayed.Read(make([]byte, 1))
			s.g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("timeout")), "it lives")
			s.g.Expect(call.Close()).To(gomega.Succeed())
		})
	}
}

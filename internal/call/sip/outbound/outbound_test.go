package outbound

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"net/netip"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// free is a trunk that may send what it wants.
func free(int) time.Duration { return 0 }

// trunk is a server of a trunk. It has each connection in a channel.
func trunk(t *testing.T) (at netip.AddrPort, come chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	come = make(chan net.Conn, 4)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			come <- c
		}
	}()
	return netip.MustParseAddrPort(l.Addr().String()), come
}

// stack takes the connections of Lines.
func stack(t *testing.T) (l *Lines, taken chan net.Conn) {
	t.Helper()
	l, taken = New(), make(chan net.Conn, 4)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			taken <- c
		}
	}()
	return l, taken
}

// There is one connection to an address, and a new one when it has ended.
func TestOneConnection(t *testing.T) {
	g := NewWithT(t)
	at, come := trunk(t)
	l, taken := stack(t)
	for range 2 {
		g.Expect(l.Connect(context.Background(), at, nil, free)).To(Succeed())
	}
	g.Expect(taken).To(HaveLen(1), "when Connect returns, the stack has the connection")
	first := <-taken
	g.Eventually(come).Should(Receive())
	g.Expect(first.Close()).To(Succeed())
	g.Expect(l.Connect(context.Background(), at, nil, free)).To(Succeed())
	g.Eventually(come).Should(Receive())
}

// A trunk that has sent too much waits, and the end of the connection ends the wait.
func TestTrunkPays(t *testing.T) {
	g := NewWithT(t)
	at, come := trunk(t)
	l, taken := stack(t)
	asked := make(chan int, 1)
	g.Expect(l.Connect(context.Background(), at, nil, func(n int) time.Duration { asked <- n; return time.Hour })).To(Succeed())
	c := <-taken
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = c.Read(make([]byte, 16))
	}()
	_, err := (<-come).Write([]byte("four"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Eventually(asked).Should(Receive(Equal(4)))
	g.Expect(c.Close()).To(Succeed())
	g.Eventually(read).Should(BeClosed())
}

// Nobody waits for a peer that says nothing, or after Close.
func TestConnectEnds(t *testing.T) {
	g := NewWithT(t)
	at, _ := trunk(t)
	l := New()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- l.Connect(ctx, at, &tls.Config{ServerName: "a.example", MinVersion: tls.VersionTLS12}, free)
	}()
	cancel()
	g.Eventually(done).Should(Receive(HaveOccurred()))
	go func() { done <- l.Connect(context.Background(), at, nil, free) }()
	g.Expect(l.Close()).To(Succeed())
	g.Eventually(done).Should(Receive(MatchError(net.ErrClosed)))
	_, err := l.Accept()
	g.Expect(err).To(MatchError(net.ErrClosed))
}

// A connection that the other side has ended is not used, also while the stack has not closed it yet: it is not in the stack's pool.
func TestConnectionThatHasEnded(t *testing.T) {
	g := NewWithT(t)
	at, come := trunk(t)
	l, taken := stack(t)
	g.Expect(l.Connect(context.Background(), at, nil, free)).To(Succeed())
	g.Expect((<-come).Close()).To(Succeed())
	_, err := (<-taken).Read(make([]byte, 1))
	g.Expect(err).To(HaveOccurred())
	g.Expect(l.Connect(context.Background(), at, nil, free)).To(Succeed())
	g.Eventually(come).Should(Receive())
}

// A trunk that does not read loses its connection: each answer that waits holds a goroutine.
func TestATrunkThatDoesNotRead(t *testing.T) {
	g := NewWithT(t)
	near, far := net.Pipe()
	defer func() { _ = far.Close() }()
	c := &conn{Conn: near, closed: make(chan struct{})}
	answers := make(chan error, MaxWaiting/512+1)
	for range cap(answers) {
		go func() {
			_, err := c.Write(make([]byte, 512))
			answers <- err
		}()
	}
	slow := 0
	for range cap(answers) {
		if errors.Is(<-answers, ErrSlow) {
			slow++
		}
	}
	g.Expect(slow).To(BeNumerically(">", 0))
	g.Expect(c.closed).To(BeClosed())
}

// Lines has an address as long as there is a connection, and addresses that nobody uses leave room for others.
func TestAddressesThatNobodyUses(t *testing.T) {
	g := NewWithT(t)
	at, _ := trunk(t)
	l, taken := stack(t)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for port := range uint16(2 * maxLines) {
		g.Expect(l.Connect(over, netip.AddrPortFrom(at.Addr(), 1+port), nil, free)).To(MatchError(context.Canceled))
	}
	g.Expect(l.Has(at)).To(BeFalse())
	g.Expect(l.Connect(context.Background(), at, nil, free)).To(Succeed())
	g.Expect(l.Has(at)).To(BeTrue())
	g.Expect((<-taken).Close()).To(Succeed())
	g.Expect(l.Has(at)).To(BeFalse())
}

// certificate is one of its own for two hosts, and what trusts it.
func certificate(g *WithT) (*tls.Config, *x509.CertPool) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"a.example", "b.example"}, IsCA: true, BasicConstraintsValid: true}
	public, err := x509.CreateCertificate(rand.Reader, about, about, private.Public(), private)
	g.Expect(err).NotTo(HaveOccurred())
	about, err = x509.ParseCertificate(public)
	g.Expect(err).NotTo(HaveOccurred())
	roots := x509.NewCertPool()
	roots.AddCert(about)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{public}, PrivateKey: private}}, MinVersion: tls.VersionTLS12}, roots
}

// Two trunks share a connection to one address only if its certificate is good for both.
func TestTrunksThatShareAnAddress(t *testing.T) {
	g := NewWithT(t)
	at, come := trunk(t)
	l, taken := stack(t)
	own, roots := certificate(g)
	_, others := certificate(g)
	go func() {
		for c := range come {
			_ = tls.Server(c, own).HandshakeContext(t.Context()) // the other side tells
		}
	}()
	for _, row := range []struct {
		host  string
		roots *x509.CertPool
		good  bool
	}{{"a.example", roots, true}, {"a.example", roots.Clone(), true}, {"b.example", roots, true}, {"c.example", roots, false}, {"a.example", others, false}} {
		err := l.Connect(t.Context(), at, &tls.Config{ServerName: row.host, RootCAs: row.roots, MinVersion: tls.VersionTLS12}, free)
		if row.good {
			g.Expect(err).NotTo(HaveOccurred(), row.host)
		} else {
			g.Expect(err).To(MatchError(ContainSubstring("give them one server and one ca_file")), row.host)
		}
	}
	g.Expect(taken).To(HaveLen(1))
	g.Expect((<-taken).Close()).To(Succeed())
}

// A connection over which something has come stays.
func TestSilentConnection(t *testing.T) {
	g := NewWithT(t)
	at, come := trunk(t)
	l, taken := stack(t)
	before := time.Now()
	g.Expect(l.Connect(t.Context(), at, nil, free)).To(Succeed())
	sent, c, far := time.Now(), <-taken, <-come
	_, err := far.Write([]byte("x"))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.Read(make([]byte, 1))
	g.Expect(err).NotTo(HaveOccurred())
	l.Silent(at, sent)
	g.Expect(l.Has(at)).To(BeTrue())
	l.Silent(at, before)
	g.Expect(l.Has(at)).To(BeTrue())
	l.Silent(at, time.Now())
	g.Expect(l.Has(at)).To(BeFalse())
	l.Silent(netip.AddrPort{}, sent)
}

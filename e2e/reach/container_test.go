package reach

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/apikey"
)

// The image of deploy/Dockerfile behind NAT: its root as a chroot, a user without rights, and the ports that the Dockerfile names.

// imageJob says what the image's program does.
type imageJob struct {
	Image rig.Image
	Args  []string
}

// runImage runs the image's program until this program is told to end.
func runImage(j imageJob) error {
	if err := j.Image.Mount(); err != nil {
		return err
	}
	cmd := j.Image.Run(j.Args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		<-told
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	}()
	return cmd.Wait()
}

// certificate makes a certificate of a server at an IP address.
func certificate(address string) (cert tls.Certificate, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, err
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.ParseIP(address)}}
	text, err := x509.CreateCertificate(rand.Reader, about, about, private.Public(), private)
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: private}, err
}

// newImage makes the image with the secrets that the tests' servers read. It returns an API key of the servers, and trusts their certificate.
func newImage(t *testing.T, g *gomega.WithT) (image *rig.Image, key string) {
	t.Helper()
	image, err := rig.NewImage("../..", t.TempDir())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	key, line, err := apikey.New("client")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	cert, err := certificate("203.0.113.20")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	private, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	trusted := filepath.Join(image.Root, "run/secrets/cert")
	for path, text := range map[string]string{
		"/run/secrets/antiphon-keys": line + "\n", "/run/secrets/turn": "shared\n",
		"/run/secrets/cert": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]})),
		"/run/secrets/key":  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})),
	} {
		g.Expect(image.Secret(path, text)).To(gomega.Succeed())
	}
	t.Setenv("SSL_CERT_FILE", trusted)
	return image, key
}

// greetings are what the client says.
var greetings = []string{"good morning 0", "good morning 1"}

// call starts the image's program with these flags behind the gateway, and has the client talk with it.
func (i imageJob) call(t *testing.T, g *gomega.WithT, listens string, job clientJob, texts ...string) {
	t.Helper()
	scheme, _, _ := strings.Cut(job.URL, "://")
	start(t, g, "inner", "image", i).says("listening on " + scheme + "://" + listens)
	client := start(t, g, "client", "client", job)
	client.says("connected")
	for _, text := range texts {
		client.ask(text)
	}
}

// TestContainerBehindNAT checks that a client behind NAT talks with a server in a container behind NAT: over UDP, and through TURN over TCP
// where no UDP passes. The router of the container forwards the ports of the image alone.
func TestContainerBehindNAT(t *testing.T) {
	g := gomega.NewWithT(t)
	image, key := newImage(t, g)
	const web, media = "tcp dport 8080", "udp dport 3478"
	for _, row := range []struct {
		name   string
		args   []string
		ports  []string
		block  string // at the client's router
		closed string // at the container's router
		coturn bool
	}{
		{name: "UDP", ports: []string{web, media}},
		{
			name: "UDP blocked: the server's own TURN over TCP", args: []string{"--turn", "0.0.0.0:3479"},
			ports: []string{web, media, "tcp dport 3479"}, block: noUDP, closed: noUDP,
		},
		{
			name: "UDP of the client blocked: coturn over TCP", coturn: true,
			args:  []string{"--ice-server", "turn:203.0.113.40:3478?transport=tcp", "--turn-secret-file", "/run/secrets/turn"},
			ports: []string{web, media}, block: noUDP, closed: "iifname net ip saddr != 203.0.113.40 meta l4proto udp drop",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			route(t, symmetric, row.block)
			forward(t, row.ports, row.closed)
			if row.coturn {
				coturn(t, g, "--no-udp")
			}
			args := slices.Concat(image.Command, []string{"--pipeline", "scripted", "--public-address", "203.0.113.20"}, row.args)
			imageJob{Image: *image, Args: args}.call(t, g, "0.0.0.0:8080", clientJob{URL: "http://203.0.113.20:8080", Key: key, Speaks: true}, greetings...)
		})
	}
}

// TestTheImageSpeaks checks that the image, with the command of the Dockerfile and the models of make talk, answers aloud.
func TestTheImageSpeaks(t *testing.T) {
	g := gomega.NewWithT(t)
	image, key := newImage(t, g)
	route(t, symmetric, "")
	forward(t, []string{"tcp dport 8080", "udp dport 3478"})
	args := append(image.Command, "--public-address", "203.0.113.20")
	imageJob{Image: *image, Args: args}.call(t, g, "0.0.0.0:8080", clientJob{URL: "http://203.0.113.20:8080", Key: key, Answer: "Two plus two is four."}, "What is two plus two?")
}

// TestOnePort checks that TCP port 443 alone carries a call: HTTPS, and ICE over TCP, TURN over TCP or TURN over TLS beside it. Firewalls that
// read the first bytes leave what they let through.
func TestOnePort(t *testing.T) {
	g := gomega.NewWithT(t)
	image, key := newImage(t, g)
	run(t, "ip netns exec inner sysctl -qw net.ipv4.ip_unprivileged_port_start=0") // as containers have it
	const all = "0.0.0.0:443"
	for _, row := range []struct{ name, block string }{
		{"everything", ""}, {"ICE over TCP", noTURN}, {"TURN over TCP", noICE}, {"TURN over TLS", noTURN + "\n" + noICE},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			route(t, symmetric, only443, row.block)
			forward(t, []string{"tcp dport 443"})
			imageJob{Image: *image, Args: []string{
				"serve", "--listen", all, "--tls-cert", "/run/secrets/cert", "--tls-key", "/run/secrets/key", "--ice-tcp", all, "--turn", all,
				"--udp-port", "3478", "--pipeline", "scripted", "--api-key-file", "/run/secrets/antiphon-keys", "--public-address", "203.0.113.20",
			}}.call(t, g, all, clientJob{URL: "https://203.0.113.20", Key: key, Speaks: true}, greetings...)
		})
	}
}

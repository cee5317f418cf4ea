package deploy

// The reverse proxies of deploy/: WebSocket calls, the client's address, and the body of a request pass through them.

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/httpguard"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/wire"
)

const patience = 20 * time.Second

// upstream serves a server until the test ends, which trusts proxies of this machine. seen gets the client's address of each request
// for /address.
func upstream(t *testing.T) (host string, seen chan string) {
	t.Helper()
	g := gomega.NewWithT(t)
	proxies, err := httpguard.ParseProxies([]string{"127.0.0.1"})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	seen = make(chan string, 1)
	p := scripted.New(scripted.Options{})
	s, err := server.New(server.Config{
		Pipeline: p, LoopbackOnly: true, Access: server.Access{Proxies: proxies, Origins: []string{"http://talk.example.org", "https://talk.example.org"}},
		Page: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- httpguard.Client(r).String() }),
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		g.Expect(s.Close(ctx)).To(gomega.Succeed())
		web.Close()
		g.Expect(p.Close()).To(gomega.Succeed())
	})
	return strings.TrimPrefix(web.URL, "http://"), seen
}

// freePort is a port of 127.0.0.1 that nobody listens on.
func freePort(t *testing.T) (address string) {
	t.Helper()
	address, err := rig.FreeAddress()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return address
}

// run runs a proxy until the test ends, and waits until it listens.
func run(t *testing.T, address string, cmd *exec.Cmd) {
	t.Helper()
	g := gomega.NewWithT(t)
	cmd.Stderr = os.Stderr
	g.Expect(cmd.Start()).To(gomega.Succeed())
	t.Cleanup(func() {
		g.Expect(cmd.Process.Signal(syscall.SIGTERM)).To(gomega.Succeed())
		_ = cmd.Wait() // it was ended
	})
	g.Eventually(func() error { return listens(address) }, patience).Should(gomega.Succeed())
}

// listens returns an error if nobody listens at an address.
func listens(address string) error {
	c, err := net.Dial("tcp", address)
	if err == nil {
		_ = c.Close() // nothing was sent
	}
	return err
}

// example reads a file of deploy/ and replaces pairs of texts.
func example(t *testing.T, name string, pairs ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "deploy", name))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	for i := 0; i < len(pairs); i += 2 {
		gomega.NewWithT(t).Expect(string(text)).To(gomega.ContainSubstring(pairs[i]))
	}
	return strings.NewReplacer(pairs...).Replace(string(text))
}

// A call over a WebSocket passes through each proxy, and the server learns the client's address from the proxy alone.
func TestProxies(t *testing.T) {
	for name, start := range map[string]func(t *testing.T, address, upstream string) (site string, trusts *tls.Config){
		"nginx": func(t *testing.T, address, upstream string) (site string, trusts *tls.Config) {
			folder, plain := t.TempDir(), freePort(t)
			trusts = certificate(t, folder)
			conf := "daemon off; pid " + folder + "/pid; error_log stderr; events {}\nhttp {\naccess_log off;\nclient_body_temp_path " + folder +
				"/body; proxy_temp_path " + folder + "/proxy; fastcgi_temp_path " + folder + "/f; uwsgi_temp_path " + folder + "/u; scgi_temp_path " + folder + "/s;\n" +
				example(t, "nginx.conf", "listen 80;", "listen "+plain+";", "listen 443 ssl;", "listen "+address+" ssl;", "/etc/ssl/talk.example.org", folder, "127.0.0.1:8080;", upstream+";") + "}\n"
			file := filepath.Join(folder, "nginx.conf")
			gomega.NewWithT(t).Expect(os.WriteFile(file, []byte(conf), 0o600)).To(gomega.Succeed())
			run(t, address, exec.Command("nginx", "-c", file, "-e", "stderr"))
			redirects(t, plain)
			return "https://talk.example.org", trusts
		},
		"caddy": func(t *testing.T, address, upstream string) (site string, trusts *tls.Config) {
			folder := t.TempDir()
			site = "http://talk.example.org:" + address[strings.LastIndex(address, ":")+1:]
			file := filepath.Join(folder, "Caddyfile")
			gomega.NewWithT(t).Expect(os.WriteFile(file, []byte("{\nadmin off\n}\n"+example(t, "Caddyfile")), 0o600)).To(gomega.Succeed())
			cmd := exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", file)
			cmd.Env = append(os.Environ(), "HOME="+folder, "ANTIPHON_SITE="+site, "ANTIPHON_SERVER="+upstream)
			run(t, address, cmd)
			return site, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			host, seen := upstream(t)
			address := freePort(t)
			site, trusts := start(t, address, host)
			web := &http.Client{Transport: &http.Transport{
				DisableKeepAlives: true, TLSClientConfig: trusts,
				DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, network, address)
				},
			}}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()

			r, err := http.NewRequestWithContext(ctx, http.MethodGet, site+"/address", nil)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			r.Host = "talk.example.org"
			r.Header.Set("X-Forwarded-For", "203.0.113.7")
			g.Eventually(func() int {
				answer, err := web.Do(r)
				if err != nil {
					return 0
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				return answer.StatusCode
			}, patience).Should(gomega.Equal(http.StatusOK), "caddy asks /readyz first")
			g.Expect(<-seen).To(gomega.Equal("127.0.0.1"), "and not what the client claims")

			withholdsMetrics(g, web, r)
			g.Expect(seen).NotTo(gomega.Receive(), "the server is not asked for its metrics")

			ws, _, err := websocket.Dial(ctx, strings.Replace(site, "http", "ws", 1)+"/v1/realtime", //nolint:bodyclose // a WebSocket has none
				&websocket.DialOptions{HTTPClient: web, Host: "talk.example.org"})
			g.Expect(err).NotTo(gomega.HaveOccurred())
			ws.SetReadLimit(-1)
			_, text, err := ws.Read(ctx)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			e, err := wire.DecodeServer(text)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(e.Type()).To(gomega.Equal("session.created"))
			g.Expect(ws.CloseNow()).To(gomega.Succeed())
		})
	}
}

// certificate writes a certificate and its key into a folder, and returns what a client needs that trusts it.
func certificate(t *testing.T, folder string) *tls.Config {
	t.Helper()
	g := gomega.NewWithT(t)
	s := httptest.NewTLSServer(nil)
	s.Close()
	key, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for name, block := range map[string]*pem.Block{"fullchain.pem": {Type: "CERTIFICATE", Bytes: s.Certificate().Raw}, "privkey.pem": {Type: "PRIVATE KEY", Bytes: key}} {
		g.Expect(os.WriteFile(filepath.Join(folder, name), pem.EncodeToMemory(block), 0o600)).To(gomega.Succeed())
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(s.Certificate())
	return &tls.Config{RootCAs: trusted, ServerName: "example.com"} // the host of the certificate
}

// redirects holds the port for plain HTTP to sending a client to the same path over HTTPS, at the host of the configuration.
func redirects(t *testing.T, address string) {
	t.Helper()
	g := gomega.NewWithT(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/v1/realtime/calls?model=test", nil)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Host = "elsewhere.example.org"
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(answer.Body.Close()).To(gomega.Succeed())
	g.Expect(answer.StatusCode).To(gomega.Equal(http.StatusPermanentRedirect))
	g.Expect(answer.Header.Get("Location")).To(gomega.Equal("https://talk.example.org/v1/realtime/calls?model=test"))
}

// withholdsMetrics holds the proxy to not passing on /metrics, which are not for everybody.
func withholdsMetrics(g *gomega.WithT, web *http.Client, r *http.Request) {
	r.URL.Path = "/metrics"
	answer, err := web.Do(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(answer.Body.Close()).To(gomega.Succeed())
	g.Expect(answer.StatusCode).To(gomega.Equal(http.StatusNotFound))
}

// docs/scaling.md shows the configuration of Caddy as it is.
func TestCaddyIsThatOfTheDocuments(t *testing.T) {
	shown, err := os.ReadFile(filepath.Join("..", "..", "docs", "scaling.md"))
	g := gomega.NewWithT(t)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	file := example(t, "Caddyfile", "{$ANTIPHON_SITE:talk.example.org}", "talk.example.org", "{$ANTIPHON_SERVER:127.0.0.1:8080}", "10.0.0.1:8080 10.0.0.2:8080 10.0.0.3:8080")
	g.Expect(string(shown)).To(gomega.ContainSubstring(file[strings.Index(file, "talk.example.org {"):]))
}

package phones

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// outs calls out over a trunk to a telephone of this machine.
const outs = "phones: {principal: phones, trunks: [{name: provider, addresses: [127.0.0.1], out: {server: \"%s\", user: \"4930123\", key_file: password, ring: 5s, allow: [\"+4930*\"], greeting: Hello%s}}]}\n"

// outgoing starts a server that calls out to an address of this machine, and returns its key.
func outgoing(t *testing.T) (h *house, at, key string) {
	t.Helper()
	at, err := rig.FreeAddress()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	h, key = outgoingTo(t, at, "")
	return h, at, key
}

// outgoingTo starts a server that calls out to an address. more are further keys of the trunk's part out.
func outgoingTo(t *testing.T, at, more string) (h *house, key string) {
	t.Helper()
	g := gomega.NewWithT(t)
	made, err := exec.Command(root+"/bin/antiphon", "key", "phones").Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	lines := strings.Fields(string(made))
	return open(t, fmt.Sprintf(outs, at, more), strings.Join(lines[1:], " ")), lines[0]
}

// calls has the server call a number, and returns the status and the body of the answer.
func (h *house) calls(key, number string) (status int, body map[string]any) {
	r, err := http.NewRequest(http.MethodPost, h.URL+"/v1/realtime/calls", strings.NewReader(`{"target_uri":"`+number+`","trunk":"provider"}`))
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = res.Body.Close() }() // it was read
	h.g.Expect(json.NewDecoder(res.Body).Decode(&body)).To(gomega.Succeed())
	return res.StatusCode, body
}

// tells sends a request about a call, with a body.
func (h *house) tells(key string, id any, what, body string) {
	r, err := http.NewRequest(http.MethodPost, fmt.Sprintf("%s/v1/realtime/calls/%s/%s", h.URL, id, what), strings.NewReader(body))
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header.Set("Authorization", "Bearer "+key)
	res, err := http.DefaultClient.Do(r)
	h.g.Expect(err).NotTo(gomega.HaveOccurred())
	_ = res.Body.Close()
	h.g.Expect(res.StatusCode).To(gomega.Equal(http.StatusOK))
}

// The server calls a telephone of others, which does what its scenario says. The server hangs up the calls that the telephone does not end.
func TestCallsOutToSipp(t *testing.T) {
	for scenario, want := range map[string]struct {
		status int
		state  string
		hangs  bool
	}{
		"out-answered":  {http.StatusCreated, "ringing", true},
		"out-early":     {http.StatusCreated, "early_media", true},
		"out-password":  {http.StatusCreated, "answered", true},
		"out-hangs-up":  {http.StatusCreated, "answered", false},
		"out-hold":      {http.StatusCreated, "answered", false},
		"out-no-answer": {http.StatusCreated, "ringing", false},
		"out-busy":      {http.StatusCreated, "ringing", false},
		"out-declined":  {http.StatusCreated, "ringing", false},
	} {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			h, at, key := outgoing(t)
			_, port, _ := strings.Cut(at, ":")
			sipp := h.sippCommand(t, scenario, "-p", port)
			var said strings.Builder
			sipp.Stdout, sipp.Stderr = &said, &said
			h.g.Expect(sipp.Start()).To(gomega.Succeed())
			t.Cleanup(func() { _ = sipp.Process.Kill() }) // it has ended, unless the test failed
			status, body := h.calls(key, "+4930123")
			h.g.Expect(status).To(gomega.Equal(want.status), "%v", body)
			h.g.Expect(body["state"]).To(gomega.Equal(want.state))
			if want.hangs {
				h.g.Eventually(h.recorded, patience).Should(gomega.ContainSubstring(`"transcript":"Hello"`), "the agent speaks when the call is answered")
				h.tells(key, body["id"], "hangup", "")
			}
			h.g.Expect(sipp.Wait()).To(gomega.Succeed(), "%s", &said)
			h.g.Expect(h.Stop()).To(gomega.Succeed())
		})
	}
}

// The bounds hold: a number that is not allowed, and a caller without a key.
func TestCallsOutThatAreRefused(t *testing.T) {
	t.Parallel()
	h, _, key := outgoing(t)
	status, _ := h.calls(key, "+49900123")
	h.g.Expect(status).To(gomega.Equal(http.StatusForbidden))
	status, _ = h.calls("another-key", "+4930123")
	h.g.Expect(status).To(gomega.Equal(http.StatusUnauthorized))
	h.g.Expect(h.Stop()).To(gomega.Succeed())
}

// A telephone of others answers by itself, plays what the agent says, and gets the keys that a program presses.
func TestCallsOutToBaresip(t *testing.T) {
	for _, codec := range []string{"PCMU", "G722"} {
		t.Run(codec, func(t *testing.T) {
			t.Parallel()
			h, at, key := outgoing(t)
			folder := t.TempDir()
			h.softphone(folder, codec, at, "<sip:+4930123@127.0.0.1>;answermode=auto")
			heard := h.plays(folder, func() {
				status, body := h.calls(key, "+4930123")
				h.g.Expect(status).To(gomega.Equal(http.StatusCreated), "%v", body)
				h.g.Eventually(h.recorded, patience).Should(gomega.ContainSubstring(`"transcript":"Hello"`))
				h.tells(key, body["id"], "keys", `{"digits":"42#"}`)
			})
			for _, pressed := range "42#" {
				h.g.Expect(h.told).To(gomega.ContainSubstring("received event: '%c'", pressed))
			}
			h.g.Expect(loudest(heard)).To(gomega.BeNumerically(">", 1000), "the telephone plays the agent")
			h.g.Expect(h.Stop()).To(gomega.Succeed())
		})
	}
}

func TestCallsOutOverTCP(t *testing.T) {
	t.Parallel()
	at, err := rig.FreeAddress()
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	h, key := outgoingTo(t, at, ", transport: tcp")
	_, port, _ := strings.Cut(at, ":")
	sipp := h.sippCommand(t, "out-answered", "-t", "t1", "-p", port)
	var said strings.Builder
	sipp.Stdout, sipp.Stderr = &said, &said
	h.g.Expect(sipp.Start()).To(gomega.Succeed())
	t.Cleanup(func() { _ = sipp.Process.Kill() }) // it has ended, unless the test failed
	h.g.Eventually(func() error { return takes(at) }, patience).Should(gomega.Succeed())
	status, body := h.calls(key, "+4930123")
	h.g.Expect(status).To(gomega.Equal(http.StatusCreated), "%v", body)
	h.g.Expect(body["state"]).To(gomega.Equal("ringing"))
	h.g.Eventually(h.recorded, patience).Should(gomega.ContainSubstring(`"transcript":"Hello"`))
	h.tells(key, body["id"], "hangup", "")
	h.g.Expect(sipp.Wait()).To(gomega.Succeed(), "%s", &said)
	h.g.Expect(h.Stop()).To(gomega.Succeed())
}

// Over TLS with encrypted audio a telephone of others plays what the agent says. A certificate that nobody trusts ends the call before it begins.
func TestCallsOutOverTLS(t *testing.T) {
	for _, trusted := range []bool{true, false} {
		t.Run(fmt.Sprint("trusted ", trusted), func(t *testing.T) {
			t.Parallel()
			g := gomega.NewWithT(t)
			at, err := rig.FreeAddress()
			g.Expect(err).NotTo(gomega.HaveOccurred())
			first, err := netip.ParseAddrPort(at)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			folder := t.TempDir()
			certificate(g, filepath.Join(folder, "own.pem"))
			trust := ""
			if trusted {
				trust = ", ca_file: " + filepath.Join(folder, "own.pem")
			}
			tlsAt := netip.AddrPortFrom(first.Addr(), first.Port()+1).String() // so baresip does
			h, key := outgoingTo(t, tlsAt, ", transport: tls, srtp: true"+trust)
			h.softphone(folder, "PCMU", at, "<sip:+4930123@127.0.0.1;transport=tls>;answermode=auto;mediaenc=srtp-mand",
				"sip_certificate "+filepath.Join(folder, "own.pem"), "module srtp.so")
			heard := h.telephone(folder, func() {
				h.g.Eventually(func() error { return takes(tlsAt) }, patience).Should(gomega.Succeed())
				status, body := h.calls(key, "+4930123")
				if !trusted {
					h.g.Expect(status).To(gomega.Equal(http.StatusConflict), "%v", body)
					return
				}
				h.g.Expect(status).To(gomega.Equal(http.StatusCreated), "%v", body)
			})
			if trusted {
				h.g.Expect(h.recorded()).To(gomega.ContainSubstring(`"transcript":"Hello"`))
				h.g.Expect(heard).To(gomega.HaveLen(1))
				h.g.Expect(loudest(heard[0])).To(gomega.BeNumerically(">", 1000), "the telephone plays the agent")
			} else {
				h.g.Expect(heard).To(gomega.BeEmpty())
			}
			h.g.Expect(h.Stop()).To(gomega.Succeed())
		})
	}
}

// takes reports that a telephone takes connections.
func takes(at string) error {
	c, err := net.Dial("tcp", at)
	if err != nil {
		return err
	}
	return c.Close()
}

// certificate writes a certificate of 127.0.0.1 and its private key into a file.
func certificate(g *gomega.WithT, path string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	public, err := x509.CreateCertificate(rand.Reader, about, about, private.Public(), private)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	text := append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	g.Expect(os.WriteFile(path, text, 0o600)).To(gomega.Succeed())
}

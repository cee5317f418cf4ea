package deploy

// A machine behind the proxy that is gone without a word.

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"
)

// Caddy has open connections to two machines, and one of them loses its power. The next requests are answered by the other one: none waits for an answer over a connection that is dead.
func TestAMachineThatIsGone(t *testing.T) {
	g := gomega.NewWithT(t)
	var asked [2]atomic.Int32
	var cables [2]*cable
	var upstreams []string
	for i := range cables {
		machine := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" {
				asked[i].Add(1)
			}
		}))
		t.Cleanup(machine.Close)
		var from string
		cables[i], from = newCable(t, machine.Listener.Addr().String())
		upstreams = append(upstreams, from)
	}
	folder, address := t.TempDir(), freePort(t)
	file := filepath.Join(folder, "Caddyfile")
	g.Expect(os.WriteFile(file, []byte("{\nadmin off\ndefault_bind 127.0.0.1\n}\n"+example(t, "Caddyfile")), 0o600)).To(gomega.Succeed())
	caddy := exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", file)
	caddy.Env = append(os.Environ(), "HOME="+folder, "ANTIPHON_SITE=http://"+address, "ANTIPHON_SERVER="+strings.Join(upstreams, " "))
	run(t, address, caddy)
	client := &http.Client{Timeout: patience}
	t.Cleanup(client.CloseIdleConnections)
	get := func() int {
		answer, err := client.Get("http://" + address + "/")
		g.Expect(err).NotTo(gomega.HaveOccurred())
		_ = answer.Body.Close() // its status is enough
		return answer.StatusCode
	}
	g.Eventually(func() bool { return get() == http.StatusOK && asked[0].Load() > 0 && asked[1].Load() > 0 }, patience).Should(gomega.BeTrue())
	cables[0].vanish()
	for range 4 { // each second one is for the machine that is gone
		g.Expect(get()).To(gomega.Equal(http.StatusOK))
	}
}

package deploy

// Two servers on one NATS server of Debian: what they share, and what is left when one of them is killed.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// takenOver bounds the time until a run goes on at another server: its owner counts as dead after 15 s.
const takenOver = 2 * time.Minute

// tripConfig is an antiphon.yaml with a tool that needs an approval.
const tripConfig = `
tools:
  functions:
    - name: book_trip
      url: %s
      background: true
      approval: required
      repeatable: true
`

// A request with a key counts once at two servers. A run that one server has begun is answered at the other, and goes on there when the first is killed.
// The tool gets the call again, with the same key.
func TestTwoServersShareRunsAndKeys(t *testing.T) {
	g := gomega.NewWithT(t)
	g.SetDefaultEventuallyTimeout(takenOver)
	calls, hold := make(chan string, 10), make(chan struct{})
	booking := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the server sees an end of the connection only then
		calls <- r.Header.Get("Idempotency-Key")
		select {
		case <-hold:
			_, _ = io.WriteString(w, "booked") // the client has an error if it fails
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(booking.Close)
	folder, address := t.TempDir(), freePort(t)
	host, port, _ := strings.Cut(address, ":")
	run(t, address, exec.Command("nats-server", "-a", host, "-p", port, "-js", "-sd", filepath.Join(folder, "nats")))
	config := filepath.Join(folder, "antiphon.yaml")
	g.Expect(os.WriteFile(config, []byte(fmt.Sprintf(tripConfig, booking.URL)), 0o600)).To(gomega.Succeed())
	var traces []string
	start := func() *rig.Program {
		traces = append(traces, filepath.Join(folder, fmt.Sprintf("trace%d.jsonl", len(traces))))
		s, err := rig.Start("../..", "--pipeline", "scripted", "--config", config, "--listen", "127.0.0.1:0", "--nats", "nats://"+address, "--trace", traces[len(traces)-1])
		g.Expect(err).NotTo(gomega.HaveOccurred())
		t.Cleanup(s.Kill)
		return s
	}
	first, second := start(), start()

	const begin = `{"tool":"book_trip","input":{"to":"Oslo"}}`
	r := post(g, first.URL+"/v1/runs", begin)
	g.Expect(post(g, second.URL+"/v1/runs", begin).ID).To(gomega.Equal(r.ID), "a try of the same key")
	status := func(s *rig.Program) func() string {
		return func() string { return get(g, s.URL+"/v1/runs/"+r.ID).Status }
	}
	g.Eventually(status(second)).Should(gomega.Equal("waiting_user"))

	post(g, second.URL+"/v1/runs/"+r.ID+"/reply", `{"interaction_id":"ia_1","approve":true}`)
	var key string
	g.Eventually(calls).Should(gomega.Receive(&key))
	g.Expect(key).To(gomega.HavePrefix(r.ID))
	// Which of the two works on the run is not known: end both, one after the other.
	second.Kill()
	second = start()
	first.Kill()
	g.Eventually(calls).Should(gomega.Receive(gomega.Equal(key)), "the call comes again")
	close(hold)
	g.Eventually(status(second)).Should(gomega.Equal("succeeded"))
	for i, id := range numbers(g, second.URL+"/v1/runs/"+r.ID+"/events") {
		g.Expect(id).To(gomega.Equal(strconv.Itoa(i+1)), "no message is missing or doubled")
	}
	g.Expect(second.Stop()).To(gomega.Succeed()) // it writes its trace to the end
	keep(g, "runs", traces...)
}

// aRun is what these tests read of a run.
type aRun struct{ ID, Status string }

// post sends a request with a key that its body decides, and returns the run.
func post(g *gomega.WithT, url, body string) aRun {
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", fmt.Sprint("key-", len(body)))
	return answered(g, r)
}

func get(g *gomega.WithT, url string) aRun {
	r, err := http.NewRequest(http.MethodGet, url, http.NoBody)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return answered(g, r)
}

// answered sends a request and returns the run of the response.
func answered(g *gomega.WithT, r *http.Request) (found aRun) {
	response, err := (&http.Client{Timeout: patience}).Do(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer response.Body.Close()
	g.Expect(response.StatusCode).To(gomega.BeNumerically("<", 300))
	g.Expect(json.NewDecoder(response.Body).Decode(&found)).To(gomega.Succeed())
	return found
}

// numbers returns the ids of the events of a run that has ended.
func numbers(g *gomega.WithT, url string) (ids []string) {
	response, err := (&http.Client{Timeout: patience}).Get(url)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer response.Body.Close()
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if id, is := strings.CutPrefix(lines.Text(), "id: "); is {
			ids = append(ids, id)
		}
	}
	return ids
}

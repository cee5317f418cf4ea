package browser_test

// Work in the background on the Talk page: the model begins it, its card asks for an approval, and a press of a button gives it.

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// serveBookings starts `antiphon serve`, whose agent writes its answers, with a tool that works in the background and needs an approval. booked counts the calls that the tool gets.
func serveBookings(t *testing.T, g *gomega.WithT) (server *rig.Program, booked *atomic.Int32) {
	t.Helper()
	booked = &atomic.Int32{}
	travel := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "Booking %d is made", booked.Add(1))
	}))
	t.Cleanup(travel.Close)
	file := filepath.Join(t.TempDir(), "antiphon.yaml")
	g.Expect(os.WriteFile(file, []byte(`
session:
  output_modalities: [text]
tools:
  functions:
    - name: book_trip
      url: `+travel.URL+`
      background: true
      approval: required
`), 0o600)).To(gomega.Succeed())
	server, err := rig.Start(root, "--pipeline", "scripted", "--config", file, "--listen", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(server.Kill)
	return server, booked
}

// cards returns the text and the state of each card, the newest first.
func (p *talk) cards() ([]card, error) {
	return rig.Evaluate[[]card](p.Tab, `[...document.querySelectorAll(".run")].map(c => ({status: c.dataset.status, text: c.textContent}))`)
}

type card struct{ Status, Text string }

func TestAUserApprovesWorkInTheBackground(t *testing.T) {
	t.Parallel()
	g := matching(t)
	server, booked := serveBookings(t, g)
	p := open(t, g, launch(t, g, rig.Options{Permission: rig.Denied}), server.URL)
	newest := func(status, text string) {
		t.Helper()
		g.Eventually(p.cards).Should(gomega.ContainElement(gomega.And(
			gomega.HaveField("Status", status), gomega.HaveField("Text", gomega.ContainSubstring(text)),
		)))
	}

	p.writes("please book trip")
	newest("waiting_user", "Run book_trip with")
	p.answered("needs the user")
	p.reaches("listening")
	p.fits("runs", size{390, 844})
	p.fits("runs", size{1440, 900})
	g.Expect(booked.Load()).To(gomega.BeZero(), "nobody has approved it")

	g.Expect(p.Press(`[aria-label="Approve book_trip"]`)).To(gomega.Succeed())
	newest("succeeded", "Booking 1 is made")
	p.answered("Booking 1 is made")
	g.Expect(rig.Evaluate[string](p.Tab, `document.activeElement.dataset.status ?? ""`)).To(gomega.Equal("succeeded"), "the focus is on the card")
	p.picture("runs-done")
	p.reaches("listening")

	p.writes("book trip again")
	newest("waiting_user", "Run book_trip with")
	g.Expect(p.Press(`[aria-label="Decline book_trip"]`)).To(gomega.Succeed())
	newest("failed", "has not approved")
	p.answered("has not approved")
	p.reaches("listening")

	p.writes("book trip a third time")
	newest("waiting_user", "Run book_trip with")
	g.Expect(p.Press(`[aria-label="Cancel book_trip"]`)).To(gomega.Succeed())
	newest("canceled", "the user canceled the run")
	p.answered("the user canceled the run")
	g.Expect(booked.Load()).To(gomega.BeEquivalentTo(1))
	p.reaches("listening")
	p.hangUp()
}

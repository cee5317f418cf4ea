package examples

// The example plain-server with a server that is no Antiphon.

import (
	"net/http/httptest"
	"os/exec"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk/sdktest"
	"github.com/antiphon-rt/antiphon/wire"
)

// The client sends only events of the plain protocol to a server that is no Antiphon.
func TestPlainServer(t *testing.T) {
	g := gomega.NewWithT(t)
	program := build(t, "plain-server")
	told := make(chan string, 100)
	stock := httptest.NewServer(sdktest.Handler(true, func(c *sdktest.Conn) {
		session := wire.DefaultSession()
		session.ID, session.Model = "sess_1", "stock"
		c.Send(&wire.SessionCreated{Session: session})
		for {
			e, ok := c.Next()
			if !ok {
				return
			}
			told <- e.Type()
			if e.Type() != "response.create" {
				continue
			}
			item := wire.Item{ID: "item_1", Type: wire.ItemMessage, Role: "assistant", Status: "in_progress"}
			c.Send(
				&wire.ResponseCreated{Response: wire.Response{ID: "resp_1", Status: "in_progress"}},
				&wire.ResponseOutputItemAdded{ResponseID: "resp_1", Item: item},
				&wire.ResponseOutputTextDelta{ResponseID: "resp_1", ItemID: "item_1", Delta: "Fo"},
				&wire.ResponseOutputTextDelta{ResponseID: "resp_1", ItemID: "item_1", Delta: "ur."},
				&wire.ResponseDone{Response: wire.Response{ID: "resp_1", Status: "completed"}},
			)
		}
	}))
	defer stock.Close()
	cmd := exec.CommandContext(t.Context(), program, "-url", stock.URL, "-model", "stock", "What is two plus two?")
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(out)).To(gomega.Equal("Four.\n"))
	for range len(told) {
		g.Expect(<-told).NotTo(gomega.ContainSubstring("antiphon"))
	}

	again := start(t, build(t, "embed-server"), "-listen", "127.0.0.1:0")
	out, err = exec.CommandContext(t.Context(), program, "-url", again, "What is two plus two?").Output()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(string(out)).To(gomega.ContainSubstring("four"))
}

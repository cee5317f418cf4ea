package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/servertest"
	"github.com/antiphon-rt/antiphon/server"
)

// TestTurnServer checks under which URLs clients hear of the TURN server inside of the server, and that Close closes its ports.
func TestTurnServer(t *testing.T) {
	g := gomega.NewWithT(t)
	media, err := servertest.FreePort()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	turn, err := servertest.FreePort()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	tcp, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", turn))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	p := scripted.New(scripted.Options{})
	defer func() { _ = p.Close() }() // it has no calls
	_, err = server.New(server.Config{Pipeline: p, LoopbackOnly: true, Reach: server.Reach{Turn: "127.0.0.1:0"}})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("Config.Turn needs Config.UDPPort")))
	s, err := server.New(server.Config{Pipeline: p, LoopbackOnly: true, Reach: server.Reach{
		UDPPort: media, Turn: "127.0.0.1:0", TurnTCP: tcp, TurnTLS: true, PublicAddresses: []netip.Addr{netip.MustParseAddr("192.0.2.1")},
	}})
	g.Expect(err).NotTo(gomega.HaveOccurred())

	answer := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/v1/antiphon/ice-servers", nil)
	r.Host = "localhost:8443"
	s.ServeHTTP(answer, r)
	var told struct {
		Servers []struct{ URLs []string } `json:"ice_servers"`
	}
	g.Expect(json.Unmarshal(answer.Body.Bytes(), &told)).To(gomega.Succeed(), answer.Body.String)
	_, port, err := net.SplitHostPort(tcp.Addr().String())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(told.Servers).To(gomega.HaveLen(1))
	g.Expect(told.Servers[0].URLs).To(gomega.Equal([]string{
		"turn:192.0.2.1:" + port + "?transport=udp", "turn:192.0.2.1:" + port + "?transport=tcp", "turns:localhost:" + port + "?transport=tcp",
	}), "the certificate has the name of the request")

	g.Expect(s.Close(context.Background())).To(gomega.Succeed())
	again, err := net.Listen("tcp", tcp.Addr().String())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(again.Close()).To(gomega.Succeed())
	udp, err := net.ListenPacket("udp", tcp.Addr().String())
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(udp.Close()).To(gomega.Succeed())
}

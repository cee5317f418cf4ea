package deploy

// Two servers of a cluster: requests about a call reach it through the other server.

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// offer is the offer of a client that never connects.
const offer = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\n" +
	"m=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r\na=rtcp-mux\r\na=mid:0\r\na=sendrecv\r\na=setup:actpass\r\n" +
	"a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\n" +
	"a=fingerprint:sha-256 00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF\r\n" +
	"a=rtpmap:111 opus/48000/2\r\n" +
	"m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=mid:1\r\na=setup:actpass\r\na=sctp-port:5000\r\n" +
	"a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\n" +
	"a=fingerprint:sha-256 00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF\r\n"

// nodes starts a NATS server and that many servers of a cluster on it, with flags in addition, and waits until each knows the others.
func nodes(t *testing.T, count int, flags ...string) (all []*rig.Program) {
	t.Helper()
	g := gomega.NewWithT(t)
	nats := freePort(t)
	host, port, _ := strings.Cut(nats, ":")
	run(t, nats, exec.Command("nats-server", "-a", host, "-p", port, "-js", "-sd", filepath.Join(t.TempDir(), "nats")))
	for range count {
		address := freePort(t)
		s, err := rig.Start("../..", append([]string{"--pipeline", "scripted", "--listen", address, "--nats", "nats://" + nats, "--node-url", "http://" + address}, flags...)...)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		t.Cleanup(s.Kill)
		all = append(all, s)
	}
	for _, s := range all {
		g.Eventually(func() string { return metrics(g, s) }, patience).Should(gomega.ContainSubstring("antiphon_cluster_nodes %d\n", count))
	}
	return all
}

// metrics returns the metrics of a server.
func metrics(g *gomega.WithT, s *rig.Program) string {
	response, err := (&http.Client{Timeout: patience}).Get(s.URL + "/metrics")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return string(text)
}

// postTo sends a request with a body that is an offer or empty.
func postTo(g *gomega.WithT, url, body string) *http.Response {
	response, err := (&http.Client{Timeout: patience}).Post(url, "application/sdp", strings.NewReader(body))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response
}

// socketTo opens a WebSocket.
func socketTo(ctx context.Context, t *testing.T, url string) *websocket.Conn {
	var ws *websocket.Conn
	gomega.NewWithT(t).Eventually(func() (err error) { // a busy machine may take longer than a server waits for another one
		ws, _, err = websocket.Dial(ctx, url, nil) //nolint:bodyclose // Dial has read it
		return err
	}, patience).Should(gomega.Succeed())
	t.Cleanup(func() { _ = ws.CloseNow() }) // the test may have closed it
	return ws
}

// happened is what these tests read of an event.
type happened struct {
	Type, Acknowledges, Resume string
	EventID                    string `json:"event_id"`
}

// until reads events until one of that type, and returns it.
func until(ctx context.Context, g *gomega.WithT, ws *websocket.Conn, name string) (event happened) {
	for event.Type != name {
		_, data, err := ws.Read(ctx)
		g.Expect(err).NotTo(gomega.HaveOccurred(), name)
		event.Acknowledges = ""
		g.Expect(json.Unmarshal(data, &event)).To(gomega.Succeed())
	}
	return event
}

// A side-band, a hangup and a reconnect reach the call through the server that does not have it.
func TestTheWrongServerPassesRequestsOn(t *testing.T) {
	g := gomega.NewWithT(t)
	all := nodes(t, 2)
	owner, other, wrong := all[0].URL, all[1].URL, all[1]
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	call := postTo(g, owner+"/v1/realtime/calls", offer)
	g.Expect(call.StatusCode).To(gomega.Equal(http.StatusCreated))
	location := call.Header.Get("Location")
	id := location[strings.LastIndex(location, "/")+1:]
	if strings.Contains(metrics(g, all[1]), "antiphon_sessions 1\n") { // the first server was so busy that the call went to the second
		owner, other, wrong = all[1].URL, all[0].URL, all[0]
	}
	sideband := socketTo(ctx, t, other+"/v1/realtime?call_id="+id)
	g.Expect(sideband.Write(ctx, websocket.MessageText, []byte(`{"type":"session.update","session":{"type":"realtime","instructions":"Be brief."}}`))).To(gomega.Succeed())
	until(ctx, g, sideband, "session.updated")
	g.Eventually(func() int { return postTo(g, other+location+"/hangup", "").StatusCode }, patience).Should(gomega.Equal(http.StatusOK))
	_, _, err := sideband.Read(ctx)
	for err == nil {
		_, _, err = sideband.Read(ctx)
	}
	g.Expect(ctx.Err()).NotTo(gomega.HaveOccurred(), "the end of the call ends the side-band")
	g.Eventually(func() int { return postTo(g, other+location+"/hangup", "").StatusCode }, patience).Should(gomega.Equal(http.StatusNotFound))

	first := socketTo(ctx, t, owner+"/v1/realtime")
	until(ctx, g, first, "session.created")
	g.Expect(first.Write(ctx, websocket.MessageText, []byte(`{"type":"antiphon.hello","event_id":"hello"}`))).To(gomega.Succeed())
	token := until(ctx, g, first, "antiphon.ack").Resume
	g.Expect(first.CloseNow()).To(gomega.Succeed())
	again := socketTo(ctx, t, other+"/v1/realtime?antiphon_resume="+token)
	g.Expect(until(ctx, g, again, "antiphon.ack").Acknowledges).To(gomega.Equal("hello"), "it is the same session")
	g.Expect(metrics(g, wrong)).To(gomega.MatchRegexp(`antiphon_cluster_requests_total\{result="answered"\} ([3-9]|\d\d)`))
}

// New calls over WebRTC go to the server with room. Whoever has the call answers requests about it.
func TestNewCallsGoToTheServerWithRoom(t *testing.T) {
	g := gomega.NewWithT(t)
	all := nodes(t, 2, "--max-sessions", "2")
	g.Eventually(func() string {
		call := postTo(g, all[0].URL+"/v1/realtime/calls", offer)
		if call.StatusCode == http.StatusCreated {
			g.Expect(call.Header.Get("Location")).To(gomega.HavePrefix("/v1/realtime/calls/rtc_"))
		}
		return metrics(g, all[1])
	}, patience).Should(gomega.MatchRegexp(`antiphon_sessions_total [1-9]`))
}

// A client secret that one server has made begins one call, whichever servers are asked at the same time.
func TestServersShareClientSecrets(t *testing.T) {
	g := gomega.NewWithT(t)
	keys := filepath.Join(t.TempDir(), "keys")
	g.Expect(os.WriteFile(keys, []byte("a-key-of-the-desk-here\n"), 0o600)).To(gomega.Succeed())
	all := nodes(t, 2, "--api-key-file", keys, "--secret-single-use")
	status, _, secret := asked(g, "a-key-of-the-desk-here", all[0].URL+"/v1/realtime/client_secrets", "application/json", "{}")
	g.Expect(status).To(gomega.Equal(http.StatusOK))
	locations := make(chan string, 2*len(all))
	var both sync.WaitGroup
	for i := range cap(locations) {
		both.Go(func() {
			_, location, _ := asked(g, secret, all[i%len(all)].URL+"/v1/realtime/calls", "application/sdp", offer)
			locations <- location
		})
	}
	both.Wait()
	close(locations)
	begun := ""
	for location := range locations {
		if location != "" {
			g.Expect(begun).To(gomega.BeEmpty(), "the secret is for one call")
			begun = location
		}
	}
	g.Expect(begun).NotTo(gomega.BeEmpty())
	for _, s := range all {
		status, _, _ := asked(g, "a-key-of-nobody", s.URL+begun+"/hangup", "", "")
		g.Expect(status).To(gomega.Equal(http.StatusUnauthorized))
	}
	status, _, _ = asked(g, secret, all[1].URL+begun+"/hangup", "", "")
	g.Expect(status).To(gomega.Equal(http.StatusOK), "the used secret ends its own call, through any server")
}

// When a server is killed, its call goes on at the server that the client reaches. Every other server then passes the client on to that one, and nobody claims the call again.
func TestACallGoesOnAtOneServer(t *testing.T) {
	g := gomega.NewWithT(t)
	all := nodes(t, 3)
	ctx, cancel := context.WithTimeout(t.Context(), takenOver)
	defer cancel()
	first := socketTo(ctx, t, all[0].URL+"/v1/realtime")
	until(ctx, g, first, "session.created")
	g.Expect(first.Write(ctx, websocket.MessageText, []byte(`{"type":"antiphon.hello","event_id":"hello"}`))).To(gomega.Succeed())
	known := until(ctx, g, first, "antiphon.ack")
	g.Eventually(all[0].Journalled, patience).Should(gomega.BeTrue())
	all[0].Kill()
	again := func(s *rig.Program) {
		ws := socketTo(ctx, t, s.URL+"/v1/realtime?antiphon_resume="+known.Resume+"&antiphon_resume_after="+known.EventID)
		g.Expect(until(ctx, g, ws, "antiphon.ack").Acknowledges).To(gomega.Equal("hello"), "it is the same session")
		g.Expect(ws.Write(ctx, websocket.MessageText, []byte(`{"type":"input_audio_buffer.clear"}`))).To(gomega.Succeed())
		until(ctx, g, ws, "input_audio_buffer.cleared") // the session is open
		g.Expect(ws.CloseNow()).To(gomega.Succeed())
	}
	claims := func() int {
		return metric(g, all[1], "antiphon_calls_taken_over_total") + metric(g, all[2], "antiphon_calls_taken_over_total")
	}
	again(all[1])
	g.Expect(claims()).To(gomega.Equal(1))
	g.Eventually(func() bool { // a server that does not answer for a second is taken for dead
		before := claims()
		again(all[2])
		again(all[1])
		return claims() == before
	}, takenOver).Should(gomega.BeTrue())
}

package deploy

// Two principals on a cluster: what one of them holds is of no use to the other one, whichever server is asked.

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"
)

// asked is a request with a key or a client secret. It returns the response's status, its Location, and the field value of its body.
func asked(g *gomega.WithT, bearer, url, kind, body string, header ...string) (status int, location, value string) {
	r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Authorization", "Bearer "+bearer)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	response, err := (&http.Client{Timeout: patience}).Do(r)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer response.Body.Close()
	var answer struct{ Value string }
	_ = json.NewDecoder(response.Body).Decode(&answer) // an SDP answer is no JSON
	return response.StatusCode, response.Header.Get("Location"), answer.Value
}

// dial opens a WebSocket with a key or a client secret, and returns the status of the response.
func dial(ctx context.Context, t *testing.T, bearer, url string) (ws *websocket.Conn, status int) {
	t.Helper()
	ws, response, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + bearer}}}) //nolint:bodyclose // Dial has read it
	gomega.NewWithT(t).Expect(response).NotTo(gomega.BeNil(), "%v", err)
	if err == nil {
		t.Cleanup(func() { _ = ws.CloseNow() }) // the test may have closed it
	}
	return ws, response.StatusCode
}

// A second principal with the id and the token of a call gets nothing of it from any server, neither with its key nor with its client secret. A client secret of the same principal gets no more,
// because it began other calls. The owner reconnects.
func TestCallsOfOnePrincipalAreUselessToAnother(t *testing.T) {
	const owner, stranger = "a-key-of-the-desk-here", "a-key-of-the-shop-here"
	g := gomega.NewWithT(t)
	keys := filepath.Join(t.TempDir(), "keys")
	g.Expect(os.WriteFile(keys, []byte(owner+"\n"+stranger+"\n"), 0o600)).To(gomega.Succeed())
	all := nodes(t, 3, "--api-key-file", keys)
	ctx, cancel := context.WithTimeout(t.Context(), takenOver)
	defer cancel()

	status, location, _ := asked(g, owner, all[0].URL+"/v1/realtime/calls", "application/sdp", offer)
	g.Expect(status).To(gomega.Equal(http.StatusCreated))
	id := location[strings.LastIndex(location, "/")+1:]
	first, _ := dial(ctx, t, owner, all[1].URL+"/v1/realtime")
	until(ctx, g, first, "session.created")
	g.Expect(first.Write(ctx, websocket.MessageText, []byte(`{"type":"antiphon.hello","event_id":"hello"}`))).To(gomega.Succeed())
	token := until(ctx, g, first, "antiphon.ack").Resume
	g.Expect(token).NotTo(gomega.BeEmpty())

	secret := func(key string) string {
		status, _, value := asked(g, key, all[2].URL+"/v1/realtime/client_secrets", "application/json", "{}")
		g.Expect(status).To(gomega.Equal(http.StatusOK))
		return value
	}
	for name, bearer := range map[string]string{"its key": stranger, "its client secret": secret(stranger), "a client secret of the owner": secret(owner)} {
		for _, s := range all {
			for what, path := range map[string]string{"hangup": location + "/hangup", "restart": location + "/restart"} {
				status, _, _ := asked(g, bearer, s.URL+path, "application/sdp", "")
				g.Expect(status).To(gomega.Equal(http.StatusNotFound), "%s with %s", what, name)
			}
			_, status := dial(ctx, t, bearer, s.URL+"/v1/realtime?call_id="+id)
			g.Expect(status).To(gomega.Equal(http.StatusNotFound), "a side-band with %s", name)
			_, status = dial(ctx, t, bearer, s.URL+"/v1/realtime?antiphon_resume="+token)
			g.Expect(status).To(gomega.Equal(http.StatusNotFound), "a reconnect over a WebSocket with %s", name)
			status, _, _ = asked(g, bearer, s.URL+"/v1/realtime/calls", "application/sdp", offer, "Antiphon-Resume", token)
			g.Expect(status).To(gomega.Equal(http.StatusNotFound), "a reconnect over WebRTC with %s", name)
		}
	}

	g.Expect(first.CloseNow()).To(gomega.Succeed())
	var again *websocket.Conn
	g.Eventually(func() int { // a busy machine may take longer than a server waits for another one
		again, status = dial(ctx, t, owner, all[2].URL+"/v1/realtime?antiphon_resume="+token)
		return status
	}, patience).Should(gomega.Equal(http.StatusSwitchingProtocols))
	g.Expect(until(ctx, g, again, "antiphon.ack").Acknowledges).To(gomega.Equal("hello"), "the owner's call is still there")
}

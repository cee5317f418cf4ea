package storage_test

// Three servers of a cluster in this process.

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"testing"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/cluster"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/journal"
	"github.com/antiphon-rt/antiphon/internal/store"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/storage"
)

// node is a server of a cluster in this process.
type node struct {
	*server.Server
	url  string
	http *http.Server
	book *journal.Book
}

// startNode starts a server that shares a store with others. It ends with the test.
func startNode(t *testing.T, in *store.Store, name string) *node {
	t.Helper()
	g := gomega.NewWithT(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	n := &node{url: "http://" + l.Addr().String()}
	s, err := storage.OpenNode(t.Context(), in, cluster.Config{URL: n.url, Name: name, Reach: patience})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	n.book = s.Stored.Journal
	p := scripted.New(scripted.Options{})
	n.Server, err = server.New(server.Config{Pipeline: p, Loopback: true, Stored: s.Stored})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(s.Publish(t.Context(), n.Server)).To(gomega.Succeed())
	n.http = &http.Server{Handler: n.Server, ReadHeaderTimeout: patience}
	served := make(chan error, 1)
	go func() { served <- n.http.Serve(l) }()
	t.Cleanup(func() {
		_ = n.http.Close() // the test may have closed it
		g.Expect(<-served).To(gomega.MatchError(http.ErrServerClosed))
		end, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		g.Expect(errors.Join(n.Server.Close(end), s.Close(end), p.Close())).To(gomega.Succeed())
	})
	return n
}

// happened is what these tests read of an event.
type happened struct {
	Type, Acknowledges, Resume string
	EventID                    string `json:"event_id"`
}

// connects opens a WebSocket at a server, and reads events until one of that type.
func (n *node) connects(t *testing.T, query, name string) (ws *websocket.Conn, event happened) {
	t.Helper()
	g := gomega.NewWithT(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	g.Eventually(func() (err error) { // a busy machine may take longer than a server waits for another one
		ws, _, err = websocket.Dial(ctx, n.url+"/v1/realtime?"+query, nil) //nolint:bodyclose // Dial has read it
		return err
	}, patience).Should(gomega.Succeed())
	t.Cleanup(func() { _ = ws.CloseNow() }) // the test may have closed it
	return ws, awaits(ctx, g, ws, name)
}

// awaits reads events until one of that type, and returns it.
func awaits(ctx context.Context, g *gomega.WithT, ws *websocket.Conn, name string) (event happened) {
	for event.Type != name {
		_, data, err := ws.Read(ctx)
		g.Expect(err).NotTo(gomega.HaveOccurred(), name)
		event.Acknowledges = ""
		g.Expect(json.Unmarshal(data, &event)).To(gomega.Succeed())
	}
	return event
}

// When the server of a call has ended, the call goes on at the one that the client reaches. From then on every server passes the client and the requests about the call on to
// that one: also the one that runs again under the name of the first. Nobody takes the call over again.
func TestACallThatWasTakenOverIsFound(t *testing.T) {
	g := gomega.NewWithT(t)
	in, err := store.Open(t.Context(), store.Config{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { g.Expect(in.Close()).To(gomega.Succeed()) })
	first, owner, third := startNode(t, in, "first"), startNode(t, in, "second"), startNode(t, in, "third")
	ws, _ := first.connects(t, "", "session.created")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	g.Expect(ws.Write(ctx, websocket.MessageText, []byte(`{"type":"antiphon.hello","event_id":"hello"}`))).To(gomega.Succeed())
	known := awaits(ctx, g, ws, "antiphon.ack")
	g.Expect(first.http.Close()).To(gomega.Succeed())
	g.Expect(ws.CloseNow()).To(gomega.Succeed())

	again := func(n *node) {
		ws, ack := n.connects(t, "antiphon_resume="+known.Resume+"&antiphon_resume_after="+known.EventID, "antiphon.ack")
		g.Expect(ack.Acknowledges).To(gomega.Equal("hello"), "it is the same session")
		g.Expect(ws.Write(ctx, websocket.MessageText, []byte(`{"type":"input_audio_buffer.clear"}`))).To(gomega.Succeed())
		awaits(ctx, g, ws, "input_audio_buffer.cleared") // the session is open
		g.Expect(ws.CloseNow()).To(gomega.Succeed())
	}
	again(owner)
	restarted := startNode(t, in, "first")
	for _, n := range []*node{third, restarted, owner} {
		again(n)
	}
	adopted := owner.Standing().Adopted
	g.Expect(adopted).To(gomega.HaveLen(2))
	posts := func(n *node, what string) int {
		response, err := http.Post(n.url+"/v1/realtime/calls/ws_"+adopted[0].Mark+what, "application/sdp", http.NoBody)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		g.Expect(response.Body.Close()).To(gomega.Succeed())
		return response.StatusCode
	}
	for _, n := range []*node{owner, third, restarted} {
		g.Eventually(func() int { return posts(n, "/restart") }, patience).Should(gomega.Equal(http.StatusConflict), "the call is there, and has no network path")
	}
	for n, most := range map[*node]uint64{first: 0, owner: 1, third: 0, restarted: 0} {
		taken, _ := n.book.Counts()
		g.Expect(taken).To(gomega.Equal(most), "who has claimed the call")
	}
	g.Eventually(func() int { return posts(third, "/hangup") }, patience).Should(gomega.Equal(http.StatusOK))
	g.Eventually(func() int { calls, _ := owner.Calls(); return calls }, patience).Should(gomega.BeZero())
}

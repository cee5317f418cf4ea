package cluster

// Requests that one server passes on to another: who answers, what the owner of the call sees, and what an owner costs that does not answer.

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/httpguard"
	"github.com/antiphon-rt/antiphon/internal/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// text is as long as those of rand.Text.
const text = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// servers are the servers of one cluster.
type servers struct {
	t     *testing.T
	g     *gomega.WithT
	store *store.Store
}

// opened returns a cluster without servers. Its store is in memory.
func opened(t *testing.T) *servers {
	g := gomega.NewWithT(t)
	in, err := store.Open(t.Context(), store.Config{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	t.Cleanup(func() { g.Expect(in.Close()).To(gomega.Succeed()) })
	return &servers{t, g, in}
}

// member is one server of a cluster.
type member struct {
	*Node
	*httptest.Server
	asked chan string  // what the server has answered itself
	full  atomic.Int32 // the status with which it refuses everything; 0: it does not

	epoch   atomic.Uint32          // of this server as the owner of all calls; 0: it has none but those with its own mark
	journal atomic.Pointer[string] // the owner of all calls in its journal; nil: it does not know them
}

// join adds a server. It passes the requests for /MARK on, and answers those for its own marks itself, with 404 for a mark with LOST in it, and without reading the body for one with UNREAD. A mark with RESUME in it is for a request
// that reconnects a call.
func (c *servers) join() *member {
	m := &member{asked: make(chan string, 100)}
	m.Server = httptest.NewServer(httpguard.New(http.HandlerFunc(m.answer), httpguard.Config{}))
	c.t.Cleanup(m.Server.Close)
	m.Node = c.node(m.Server.URL)
	return m
}

// node joins the cluster as the server with that address.
func (c *servers) node(url string) *Node {
	n, err := Join(c.t.Context(), Config{Store: c.store, URL: url, Name: "a server"})
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	c.t.Cleanup(func() { c.g.Expect(n.Close()).To(gomega.Succeed()) })
	n.table.mu.Lock()
	n.table.silence, n.table.avoidFor = time.Hour, time.Hour // a machine that is busy changes nothing
	n.table.mu.Unlock()
	n.cfg.Reach = patience
	c.publish(n, Load{Most: 10})
	return n
}

// publish publishes the load of a server.
func (c *servers) publish(n *Node, l Load) {
	c.g.Expect(n.Publish(c.t.Context(), func() Load { return l }, func(string, uint64, uint64) {})).To(gomega.Succeed())
}

// meet has servers look who the others are.
func (c *servers) meet(all ...*Node) {
	for _, n := range all {
		c.g.Expect(n.look(c.t.Context())).To(gomega.Succeed())
	}
}

func (m *member) answer(w http.ResponseWriter, r *http.Request) {
	r = m.Arrived(w, r)
	mark := strings.TrimPrefix(r.URL.Path, "/")
	if strings.HasPrefix(mark, "new") && m.Place(w, r, r.Header.Get("Upgrade") != "") {
		return
	}
	epoch := m.epoch.Load()
	if id, _ := m.key.owner(mark); id == m.id && !strings.Contains(mark, "LOST") {
		epoch = max(epoch, 1)
	}
	var owner func(context.Context) string
	if strings.Contains(mark, "RESUME") {
		owner = func(context.Context) (node string) {
			if known := m.journal.Load(); known != nil {
				node = *known
			}
			return node
		}
	}
	if m.Pass(w, r, mark, epoch, owner) {
		return
	}
	if strings.Contains(mark, "UNREAD") {
		w.WriteHeader(http.StatusConflict)
		return
	}
	body, _ := io.ReadAll(r.Body) // a body that cannot be read is not the one that the test wants
	m.asked <- fmt.Sprint(r.Method, " ", httpguard.Client(r), " ", string(body), r.Header.Get("Idempotency-Key"))
	if status := m.full.Load(); status != 0 {
		w.WriteHeader(int(status))
		return
	}
	if strings.Contains(mark, "LOST") {
		http.NotFound(w, r)
		return
	}
	if r.Header.Get("Upgrade") == "" {
		w.Header().Set("Location", "/here")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "from the owner") // the client has an error if it fails
		return
	}
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	kind, data, err := c.Read(r.Context())
	if err == nil {
		err = c.Write(r.Context(), kind, append([]byte("echo "), data...))
	}
	if err == nil {
		_ = c.Close(websocket.StatusNormalClosure, "") // the client closes, too
	}
}

// post sends a request with a body. Headers come in pairs of name and value.
func (c *servers) post(url, body string, headers ...string) (status int, response string) {
	ctx, cancel := context.WithTimeout(c.t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	return answer.StatusCode, string(all)
}

// A request reaches the owner of its call from any server, with its body and the address of its client.
func TestTheOwnerAnswers(t *testing.T) {
	c := opened(t)
	one, two := c.join(), c.join()
	c.meet(one.Node, two.Node)
	for _, at := range []*member{one, two} {
		status, body := c.post(at.URL+"/"+two.Mark(text)+"?call_id=x&y=%2F", "an offer")
		c.g.Expect(status).To(gomega.Equal(http.StatusCreated))
		c.g.Expect(body).To(gomega.Equal("from the owner"))
		c.g.Expect(two.asked).To(gomega.Receive(gomega.Equal("POST 127.0.0.1 an offer")))
	}
	c.g.Expect(one.asked).NotTo(gomega.Receive())
	nodes, passed := one.Stats()
	c.g.Expect(nodes).To(gomega.Equal(2))
	c.g.Expect(passed).To(gomega.HaveKeyWithValue(resultAnswered, uint64(1)))
}

// A WebSocket reaches the owner of its call, and carries messages both ways.
func TestAWebSocketIsPassedOn(t *testing.T) {
	c := opened(t)
	one, two := c.join(), c.join()
	c.meet(one.Node, two.Node)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, one.URL+"/"+two.Mark(text), nil) //nolint:bodyclose // Dial has read it
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	c.g.Expect(ws.Write(ctx, websocket.MessageText, []byte("hello"))).To(gomega.Succeed())
	_, data, err := ws.Read(ctx)
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	c.g.Expect(string(data)).To(gomega.Equal("echo hello"))
	_, _, err = ws.Read(ctx)
	c.g.Expect(websocket.CloseStatus(err)).To(gomega.Equal(websocket.StatusNormalClosure))
	c.g.Expect(two.asked).To(gomega.Receive())
}

// A WebSocket whose owner hangs ends for the client.
func TestAWebSocketOfAnOwnerThatHangsEnds(t *testing.T) {
	c := opened(t)
	one, two := c.join(), c.join()
	one.transport = newTransport(patience, 2*time.Second)
	c.meet(one.Node, two.Node)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, one.URL+"/"+two.Mark(text), nil) //nolint:bodyclose // Dial has read it
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	_, _, err = ws.Read(ctx) // the owner waits for a message
	c.g.Expect(err).To(gomega.HaveOccurred())
	c.g.Expect(ctx.Err()).NotTo(gomega.HaveOccurred())
}

// A request that the owner does not know, with 404, is answered by the server that got it, which can still read its body.
func TestARefusedRequestIsAnsweredHere(t *testing.T) {
	c := opened(t)
	one, two := c.join(), c.join()
	c.meet(one.Node, two.Node)
	status, _ := c.post(one.URL+"/"+two.Mark("LOST"+text), "an offer")
	c.g.Expect(status).To(gomega.Equal(http.StatusNotFound))
	c.g.Expect(two.asked).To(gomega.Receive())
	c.g.Expect(one.asked).To(gomega.Receive(gomega.Equal("POST 127.0.0.1 an offer")))
}

// A client that writes the cluster's header keeps its own address, and its request stays where it is.
func TestAClientForgesNoHeader(t *testing.T) {
	c := opened(t)
	one, two := c.join(), c.join()
	c.meet(one.Node, two.Node)
	mark := two.Mark(text)
	stolen, err := http.NewRequestWithContext(t.Context(), http.MethodPost, one.URL+"/another", http.NoBody)
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	sealed := one.key.passage(one.id, httpguard.Client(stolen), stolen)
	for _, value := range []string{"x", one.id + " 8.8.8.8 " + strings.Repeat("A", 52), sealed, strings.Replace(sealed, "-", "8.8.8.8", 1), ""} {
		status, _ := c.post(one.URL+"/"+mark, "", header, value, "X-Forwarded-For", "8.8.8.8")
		c.g.Expect(status).To(gomega.Equal(http.StatusCreated), value)
		c.g.Expect(one.asked).To(gomega.Receive(gomega.Equal("POST 127.0.0.1 ")), value)
		c.g.Expect(two.asked).NotTo(gomega.Receive(), value)
	}
}

// A request is passed on once, also by servers that point at each other.
func TestARequestIsPassedOnOnce(t *testing.T) {
	c := opened(t)
	one := c.join()
	wrong := c.node(one.URL) // its address is that of another server
	c.meet(one.Node, wrong)
	status, _ := c.post(one.URL+"/"+wrong.Mark(text), "an offer")
	c.g.Expect(status).To(gomega.Equal(http.StatusCreated))
	c.g.Expect(one.asked).To(gomega.Receive())
	c.g.Expect(one.asked).NotTo(gomega.Receive())
}

// Texts that no server of the cluster has marked cost no request, however many there are.
func TestUnknownMarksCostNothing(t *testing.T) {
	c := opened(t)
	one, two := c.join(), c.join()
	c.meet(one.Node, two.Node)
	mark := two.Mark(text)
	for _, unknown := range []string{"", "x", mark[1:], mark[:len(mark)-1], "A" + mark, mark + "A", strings.ToLower(mark), strings.Replace(mark, "ABC", "ABD", 1), strings.Repeat("A", 1000)} {
		_, ok := one.key.owner(unknown)
		c.g.Expect(ok).To(gomega.BeFalse(), unknown)
	}
	id, ok := one.key.owner(mark)
	c.g.Expect(ok).To(gomega.BeTrue())
	c.g.Expect(id).To(gomega.Equal(two.id))
	for range 100 {
		c.post(one.URL+"/"+strings.Repeat("A", len(mark)), "")
		<-one.asked
	}
	c.g.Expect(two.asked).NotTo(gomega.Receive())
}

// An owner that takes the connection and says nothing is given up once, and then not asked for a while. An owner whose port is closed, too.
func TestAnOwnerThatDoesNotAnswer(t *testing.T) {
	c := opened(t)
	one := c.join()
	one.cfg.Reach = 100 * time.Millisecond
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts: the system does
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	hung, gone := c.node("http://"+silent.Addr().String()), c.node("http://127.0.0.1:1")
	c.meet(one.Node)
	for _, dead := range []*Node{hung, gone} {
		for range 3 {
			status, _ := c.post(one.URL+"/"+dead.Mark(text), "an offer")
			c.g.Expect(status).To(gomega.Equal(http.StatusCreated))
			c.g.Expect(one.asked).To(gomega.Receive(gomega.Equal("POST 127.0.0.1 an offer")))
		}
	}
	_, passed := one.Stats()
	c.g.Expect(passed).To(gomega.HaveKeyWithValue(resultUnreachable, uint64(2)), "each was asked once")
	c.g.Expect(silent.Close()).To(gomega.Succeed())
}

// What a client asks for makes no server unreachable for the requests of others.
func TestAClientCutsNoServerOff(t *testing.T) {
	c := opened(t)
	one, two := c.join(), c.join()
	c.meet(one.Node)
	for _, upgrade := range []string{"websocket, x", "\xff", "x"} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, one.URL+"/"+two.Mark(text), nil)
		c.g.Expect(err).NotTo(gomega.HaveOccurred())
		r.Header = http.Header{
			"Connection": {"Upgrade"}, "Upgrade": {upgrade}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"AAAAAAAAAAAAAAAAAAAAAA=="},
		}
		answer, err := http.DefaultTransport.RoundTrip(r)
		c.g.Expect(err).NotTo(gomega.HaveOccurred())
		c.g.Expect(answer.Body.Close()).To(gomega.Succeed())
		cancel()
	}
	raw, err := net.Dial("tcp", one.Listener.Addr().String())
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	c.g.Expect(raw.SetDeadline(time.Now().Add(patience))).To(gomega.Succeed())
	_, err = io.WriteString(raw, "POST /"+two.Mark(text)+" HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTrailer: a b\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n")
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = io.ReadAll(raw)
	c.g.Expect(err).NotTo(gomega.HaveOccurred())
	c.g.Expect(raw.Close()).To(gomega.Succeed())
	c.g.Eventually(two.asked).WithTimeout(patience).Should(gomega.Receive(gomega.Equal("POST 127.0.0.1 body")))

	status, _ := c.post(one.URL+"/"+two.Mark(text), "an offer")
	c.g.Expect(status).To(gomega.Equal(http.StatusCreated))
	c.g.Eventually(two.asked).WithTimeout(patience).Should(gomega.Receive(gomega.Equal("POST 127.0.0.1 an offer")))
	_, passed := one.Stats()
	c.g.Expect(passed).To(gomega.HaveKeyWithValue(resultUnreachable, uint64(0)))
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}

// An owner that answers before it has read the body, and closes the connection, is there: a client with a long body cuts it off from nobody.
func TestAnUnreadBodyCutsNoServerOff(t *testing.T) {
	c := opened(t)
	one, two := c.join(), c.join()
	c.meet(one.Node)
	for range 50 {
		status, _ := c.post(one.URL+"/"+two.Mark("UNREAD"+text), strings.Repeat("x", maxBody))
		c.g.Expect(status).To(gomega.Equal(http.StatusConflict))
	}
	_, passed := one.Stats()
	c.g.Expect(passed).To(gomega.HaveKeyWithValue(resultUnreachable, uint64(0)))
}

// An address that is no address of a server is refused: other servers would send the keys of clients there.
func TestAddresses(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, wrong := range []string{"", "10.0.0.1:8080", "ftp://x", "http://", "http://x/path", "http://u:p@x", "http://x?y", "http://x#y"} {
		_, err := CheckURL(wrong)
		g.Expect(err).To(gomega.HaveOccurred(), wrong)
	}
	_, err := CheckURL("https://node-1.example.org:8443/")
	g.Expect(err).NotTo(gomega.HaveOccurred())
}

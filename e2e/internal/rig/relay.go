package rig

// The network between a page and the server: it delays and loses packets, refuses requests, and can be cut.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Link describes the simulated network between a page and the server.
type Link struct {
	RTT    time.Duration // half of it each way, for packets and for HTTP alike
	Jitter time.Duration // how much later a packet may be, each way; their order stays
	Loss   float64       // share of the packets that are lost, each way: 0 to 1
	Seed   uint64        // decides which packets are lost, and how late the others are
}

// String returns the link's name in the tables.
func (l Link) String() string {
	return fmt.Sprintf("%d ms, %.0f %%", l.RTT.Milliseconds(), 100*l.Loss)
}

// Relay forwards everything between a page and the server. HTTP goes through URL. The relay changes the addresses in the SDP, so that
// all packets of calls go through its own socket. Close it.
type Relay struct {
	URL string

	link   Link
	http   *http.Server
	served chan error
	front  *net.UDPConn // the page sends to it
	up     *delayed
	joined sync.WaitGroup

	mu     sync.Mutex
	rand   *rand.Rand
	server *net.UDPAddr
	flows  map[string]*flow // by the page's address
	denied string           // requests whose path has this end fail; "" denies none
	pipes  []net.Conn       // the connections of the page's WebSockets
	closed bool
}

// Cut ends the page's present network: the relay forwards no packet of the present addresses any more. Packets of later addresses
// pass.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.flows {
		f.cut.Store(true)
	}
}

// maxPipes bounds the WebSockets that one page may open.
const maxPipes = 64

// pipe keeps a connection that has become a WebSocket.
func (r *Relay) pipe(c net.Conn, state http.ConnState) {
	if state != http.StateHijacked {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pipes) < maxPipes {
		r.pipes = append(r.pipes, c)
	}
}

// Tear breaks all present WebSockets without a close message.
func (r *Relay) Tear() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	for _, c := range r.pipes {
		err = errors.Join(err, c.Close())
	}
	r.pipes = nil
	return err
}

// Deny makes requests fail whose path has this end; "" denies none.
func (r *Relay) Deny(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.denied = path
}

var errDenied = errors.New("denied by the test")

func (r *Relay) denies(q *http.Request) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.denied != "" && strings.HasSuffix(q.URL.Path, r.denied)
}

// maxFlows bounds the addresses that one page may send from.
const maxFlows = 64

// flow is one address of the page. It has its own socket towards the server, as behind a router.
type flow struct {
	page *net.UDPAddr
	back *net.UDPConn
	down *delayed
	cut  atomic.Bool
}

// NewRelay makes a relay before a server.
func NewRelay(server string, link Link) (*Relay, error) {
	target, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	front, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, front.Close())
	}
	r := &Relay{
		URL: "http://" + listener.Addr().String(), link: link, front: front, served: make(chan error, 1), flows: map[string]*flow{},
		rand: rand.New(rand.NewPCG(link.Seed, 1)),
	}
	r.up = newDelayed(link.RTT/2, r.later)
	proxy := &httputil.ReverseProxy{
		Rewrite:        func(p *httputil.ProxyRequest) { p.SetURL(target); p.Out.Host = target.Host },
		Transport:      r,
		ModifyResponse: r.answered,
		FlushInterval:  -1,
	}
	r.http = &http.Server{Handler: proxy, ReadHeaderTimeout: 10 * time.Second, ConnState: r.pipe}
	go func() { r.served <- r.http.Serve(listener) }()
	r.joined.Go(r.up.run)
	r.joined.Go(r.carryUp)
	return r, nil
}

// Close ends the relay and joins everything.
func (r *Relay) Close() error {
	err := r.http.Close()
	if served := <-r.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	r.mu.Lock()
	r.closed = true
	err = errors.Join(err, r.front.Close())
	for _, f := range r.flows {
		err = errors.Join(err, f.back.Close())
		f.down.close()
	}
	r.mu.Unlock()
	r.up.close()
	r.joined.Wait()
	return err
}

// ownAddress matches a line of SDP, plain or within JSON, in which one end gives its own address.
var ownAddress = regexp.MustCompile(`a=candidate:[^\r\n\\]*(\r\n|\\r\\n)`)

// RoundTrip implements http.RoundTripper: it removes the page's addresses from an offer, so that the server knows no other path back.
func (r *Relay) RoundTrip(q *http.Request) (*http.Response, error) {
	if err := q.Context().Err(); err != nil {
		return nil, err
	}
	<-time.After(r.link.RTT / 2)
	if r.denies(q) {
		return nil, errDenied
	}
	if q.Method == http.MethodPost && q.Body != nil {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return nil, err
		}
		body = ownAddress.ReplaceAll(body, nil)
		q.Body, q.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	return http.DefaultTransport.RoundTrip(q)
}

// answered replaces the server's address in an answer by the relay's.
func (r *Relay) answered(answer *http.Response) error {
	<-time.After(r.link.RTT / 2)
	return reroute(answer, func(server *net.UDPAddr) (*net.UDPConn, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.server = server
		return r.front, nil
	})
}

func (r *Relay) lost() bool {
	if r.link.Loss == 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rand.Float64() < r.link.Loss
}

// carryUp carries packets from the page to the server.
func (r *Relay) carryUp() {
	buf := make([]byte, 1<<16)
	for {
		n, page, err := r.front.ReadFromUDP(buf)
		if err != nil {
			return
		}
		f, server := r.flow(page)
		if f == nil || server == nil || f.cut.Load() || r.lost() {
			continue
		}
		r.up.send(f.back, server, buf[:n])
	}
}

// flow returns the flow of an address of the page, and the server's address.
func (r *Relay) flow(page *net.UDPAddr) (*flow, *net.UDPAddr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := page.String()
	if f := r.flows[key]; f != nil || r.closed || len(r.flows) >= maxFlows {
		return f, r.server
	}
	back, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, nil
	}
	f := &flow{page: page, back: back, down: newDelayed(r.link.RTT/2, r.later)}
	r.flows[key] = f
	r.joined.Go(f.down.run)
	r.joined.Go(func() { r.carryDown(f) })
	return f, r.server
}

// carryDown carries packets from the server to one address of the page.
func (r *Relay) carryDown(f *flow) {
	buf := make([]byte, 1<<16)
	for {
		n, _, err := f.back.ReadFromUDP(buf)
		if err != nil {
			return
		}
		if !f.cut.Load() && !r.lost() {
			f.down.send(r.front, f.page, buf[:n])
		}
	}
}

// later returns how much later than the others a packet is.
func (r *Relay) later() time.Duration {
	if r.link.Jitter <= 0 {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return time.Duration(r.rand.Int64N(int64(r.link.Jitter)))
}

// delayed delays packets by the link's delay and keeps their order.
type delayed struct {
	by    time.Duration
	later func() time.Duration
	queue chan parcel
	stop  chan struct{}
}

type parcel struct {
	due  time.Time
	by   *net.UDPConn
	to   *net.UDPAddr
	data []byte
}

func newDelayed(by time.Duration, later func() time.Duration) *delayed {
	return &delayed{by: by, later: later, queue: make(chan parcel, 4096), stop: make(chan struct{})}
}

// send queues a packet. A packet for which there is no room is lost, as in a real network.
func (d *delayed) send(by *net.UDPConn, to *net.UDPAddr, data []byte) {
	select {
	case d.queue <- parcel{time.Now().Add(d.by + d.later()), by, to, bytes.Clone(data)}:
	default:
	}
}

func (d *delayed) close() { close(d.stop) }

func (d *delayed) run() {
	for {
		var p parcel
		select {
		case p = <-d.queue:
		case <-d.stop:
			return
		}
		if wait := time.Until(p.due); wait > 0 {
			select {
			case <-time.After(wait):
			case <-d.stop:
				return
			}
		}
		_, _ = p.by.WriteTo(p.data, p.to) // a packet that cannot be sent is lost
	}
}

//go:build linux

package faults

// A thousand hostile connections: idle sockets, slow bodies, bad offers, offers that never connect, and floods over WebSockets.

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// crowd is a thousand hostile connections. Half of them show a valid key, of another principal than the good callers. Those that the
// server ends come again.
type crowd struct {
	p   *program
	key string

	connections atomic.Int64 // that are open now
	most        atomic.Int64
	attempts    atomic.Int64
	refused     atomic.Int64 // requests that the server answered with an error

	mu    sync.Mutex
	calls []string // the paths of calls that began
	all   sync.WaitGroup
}

// kinds are the hostile clients and how many there are of each.
func (h *crowd) kinds() map[int][]func(context.Context, *http.Client, int) error {
	return map[int][]func(context.Context, *http.Client, int) error{
		400: {h.idle},
		200: {h.slowHeader, h.slowBody},
		100: {h.garbageOffer},
		40:  {h.neverConnects, h.idleSocket},
		12:  {h.floods},
		2:   {h.garbagePackets},
	}
}

// begin lets the crowd loose until ctx is done. The last of them come after four seconds.
func (h *crowd) begin(ctx context.Context) {
	n := 0
	for many, kinds := range h.kinds() {
		for _, attack := range kinds {
			for range many {
				n++
				from := n
				h.all.Go(func() {
					pause(ctx, mrand.N(4*time.Second))
					h.again(ctx, from, attack)
				})
			}
		}
	}
}

// again attacks until ctx is done, with a pause after each time.
func (h *crowd) again(ctx context.Context, from int, attack func(context.Context, *http.Client, int) error) {
	client := h.client(from)
	defer client.CloseIdleConnections()
	for ctx.Err() == nil {
		h.attempts.Add(1)
		_ = attack(ctx, client, from) // whatever the server does to it
		pause(ctx, 500*time.Millisecond+mrand.N(time.Second))
	}
}

// pause waits for d, or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	}
}

// dial connects to the server from one of eight addresses of this machine.
func (h *crowd) dial(ctx context.Context, from int) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+from%8))}, Timeout: 5 * time.Second}
	c, err := d.DialContext(ctx, "tcp", strings.TrimPrefix(h.p.url, "http://"))
	if err != nil {
		return nil, err
	}
	for now := h.connections.Add(1); ; {
		most := h.most.Load()
		if now <= most || h.most.CompareAndSwap(most, now) {
			break
		}
	}
	counted := &countedConn{Conn: c, open: &h.connections}
	context.AfterFunc(ctx, func() { _ = counted.Close() })
	return counted, nil
}

// countedConn counts until it is closed.
type countedConn struct {
	net.Conn
	open *atomic.Int64
	once sync.Once
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// client returns an HTTP client for one attacker.
func (h *crowd) client(from int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return h.dial(ctx, from) }, IdleConnTimeout: time.Second,
	}}
}

// hold keeps a connection open until the server closes it.
func (h *crowd) hold(ctx context.Context, from int, first string, every time.Duration, then byte) error {
	c, err := h.dial(ctx, from)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, first); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, c)
	}()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return nil
		case <-ctx.Done():
			_ = c.Close()
			<-ended
			return nil
		case <-tick.C:
			if then != 0 {
				_, _ = c.Write([]byte{then})
			}
		}
	}
}

func (h *crowd) idle(ctx context.Context, _ *http.Client, from int) error {
	return h.hold(ctx, from, "", time.Minute, 0)
}

func (h *crowd) slowHeader(ctx context.Context, _ *http.Client, from int) error {
	return h.hold(ctx, from, "POST /v1/realtime/calls HTTP/1.1\r\nHost: x\r\nX-A: ", time.Second, 'a')
}

func (h *crowd) slowBody(ctx context.Context, _ *http.Client, from int) error {
	key := "nobody-has-this-key"
	if from%2 == 0 {
		key = h.key
	}
	return h.hold(ctx, from, "POST /v1/realtime/calls HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+key+
		"\r\nContent-Type: application/sdp\r\nContent-Length: 100000\r\n\r\nv=0\r\n", time.Second, 'a')
}

// post sends an offer and notes the call that it begins.
func (h *crowd) post(ctx context.Context, client *http.Client, offer []byte) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, h.p.url+"/v1/realtime/calls", bytes.NewReader(offer))
	if err != nil {
		return err
	}
	q.Header.Set("Content-Type", "application/sdp")
	q.Header.Set("Authorization", "Bearer "+h.key)
	r, err := client.Do(q)
	if err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, r.Body)
	_ = r.Body.Close()
	if r.StatusCode >= http.StatusBadRequest {
		h.refused.Add(1)
	}
	h.began(r.Header.Get("Location"))
	return nil
}

// began notes the path of a call.
func (h *crowd) began(path string) {
	if path == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.calls = append(h.calls, path)
}

func (h *crowd) garbageOffer(ctx context.Context, client *http.Client, _ int) error {
	offer := make([]byte, mrand.N(60_000))
	_, _ = rand.Read(offer) // never fails, see crypto/rand
	if mrand.N(2) == 0 {
		offer = []byte("v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n" + strings.Repeat("m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:0\r\n", mrand.N(500)))
	}
	return h.post(ctx, client, offer)
}

// validOffer is an offer of audio and a data channel. Nobody has its certificate and its address.
const validOffer = `v=0
o=- 1 1 IN IP4 0.0.0.0
s=-
t=0 0
a=fingerprint:sha-256 00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF
a=group:BUNDLE 0 1
m=audio 9 UDP/TLS/RTP/SAVPF 111
c=IN IP4 0.0.0.0
a=setup:actpass
a=mid:0
a=ice-ufrag:abcdefgh
a=ice-pwd:abcdefghijklmnopqrstuvwx
a=rtcp-mux
a=rtpmap:111 opus/48000/2
a=sendrecv
a=candidate:1 1 udp 2130706431 127.0.0.1 9 typ host
m=application 9 UDP/DTLS/SCTP webrtc-datachannel
c=IN IP4 0.0.0.0
a=setup:actpass
a=mid:1
a=sendrecv
a=sctp-port:5000
a=ice-ufrag:abcdefgh
a=ice-pwd:abcdefghijklmnopqrstuvwx
`

// neverConnects sends a valid offer and does nothing with the answer.
func (h *crowd) neverConnects(ctx context.Context, client *http.Client, _ int) error {
	return h.post(ctx, client, []byte(strings.ReplaceAll(validOffer, "\n", "\r\n")))
}

// socket opens a WebSocket.
func (h *crowd) socket(ctx context.Context, client *http.Client) (*websocket.Conn, error) {
	ws, r, err := websocket.Dial(ctx, strings.Replace(h.p.url, "http", "ws", 1)+"/v1/realtime", &websocket.DialOptions{ //nolint:bodyclose // a WebSocket has none
		HTTPClient: client, HTTPHeader: http.Header{"Authorization": {"Bearer " + h.key}},
	})
	if err != nil {
		h.refused.Add(1)
		return nil, err
	}
	h.began(r.Header.Get("Location"))
	ws.SetReadLimit(-1)
	return ws, nil
}

func (h *crowd) idleSocket(ctx context.Context, client *http.Client, _ int) error {
	ws, err := h.socket(ctx, client)
	if err != nil {
		return err
	}
	defer func() { _ = ws.CloseNow() }()
	_, _, err = ws.Read(ctx)
	<-ctx.Done() // it answers no ping
	return err
}

// floods sends events as fast as the server takes them, and reads nothing for a while. At the end it goes without a word.
func (h *crowd) floods(ctx context.Context, client *http.Client, from int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second+mrand.N(10*time.Second))
	defer cancel()
	ws, err := h.socket(ctx, client)
	if err != nil {
		return err
	}
	defer func() { _ = ws.CloseNow() }()
	if from%2 == 0 {
		go func() {
			for {
				if _, _, err := ws.Read(ctx); err != nil {
					return
				}
			}
		}()
	}
	for n := 0; ; n++ {
		if err := ws.Write(ctx, websocket.MessageText, flood[n%len(flood)]()); err != nil {
			return err
		}
	}
}

// flood are the events of floods.
var flood = []func() []byte{
	func() []byte { return []byte(`{"type":"response.create"}`) },
	func() []byte { return []byte(`{"type":"` + strings.Repeat("\\u0000", 1000) + `"}`) },
	func() []byte { return []byte(strings.Repeat("[", 20_000)) },
	func() []byte { return []byte(strings.Repeat(`{"a":`, 5_000) + "1" + strings.Repeat("}", 5_000)) },
	func() []byte {
		return []byte(`{"type":"input_audio_buffer.append","audio":"` + strings.Repeat("AAAA", 4_000) + `"}`)
	},
	func() []byte { return []byte(`{"type":"input_audio_buffer.commit"}`) },
	func() []byte {
		return []byte(`{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"say 1000 words"}]}}`)
	},
	func() []byte {
		return []byte(`{"type":"session.update","session":{"type":"realtime","instructions":"` + strings.Repeat("x", 10_000) + `"}}`)
	},
	func() []byte {
		return []byte(`{"type":"response.cancel","response_id":"resp_` + strings.Repeat("9", 3_000) + `"}`)
	},
	func() []byte {
		return []byte(`{"type":"conversation.item.truncate","item_id":"x","content_index":-9,"audio_end_ms":1e308}`)
	},
}

// garbagePackets sends packets that look like STUN, DTLS, SRTP and nothing to the server's UDP port.
func (h *crowd) garbagePackets(ctx context.Context, _ *http.Client, from int) error {
	c, err := net.Dial("udp4", fmt.Sprintf("127.0.0.1:%d", h.p.media))
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for n := range 500 {
		packet := make([]byte, 1+mrand.N(1400))
		_, _ = rand.Read(packet) // never fails, see crypto/rand
		packet[0] = []byte{0, 22, 128, 200}[(n+from)%4]
		_, _ = c.Write(packet) // a packet that cannot be sent is lost
		pause(ctx, 10*time.Millisecond)
	}
	return nil
}

// hangUp ends the calls that began, so that a short campaign need not wait until the server gives them up.
func (h *crowd) hangUp(ctx context.Context) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, path := range h.calls {
		q, err := http.NewRequestWithContext(ctx, http.MethodPost, h.p.url+path+"/hangup", nil)
		if err != nil {
			return
		}
		q.Header.Set("Authorization", "Bearer "+h.key)
		if r, err := http.DefaultClient.Do(q); err == nil {
			_ = r.Body.Close() // most of the calls have ended
		}
	}
}

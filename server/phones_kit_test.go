package server_test

// Telephones over a WebSocket. The far sides are programs of these tests, written from the documentation of Asterisk, Twilio and Telnyx: there is
// neither an Asterisk nor an account here.

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Twilio signs with it
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/phone/stream"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/servertest"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/wire"
)

const (
	phoneKey   = "a-key-for-telephones"
	phonesPath = "/v1/antiphon/phones/"
	twilioURL  = "wss://voice.example.org/v1/antiphon/phones/twilio"
)

// phones has a door for each kind of telephone.
func phones(c *server.Config) {
	c.Streams = []server.PhoneStream{
		{Name: "pbx", Kind: stream.Asterisk, Key: phoneKey, Calls: 3},
		{Name: "twilio", Kind: stream.Twilio, AuthToken: "token of the account", URL: twilioURL},
		{Name: "telnyx", Kind: stream.Telnyx, Key: phoneKey, Session: json.RawMessage(`{"type":"realtime","instructions":"Be brief."}`)},
	}
}

// inbox has the events that the server records.
type inbox struct {
	*servertest.Inbox
	t    *testing.T
	mu   sync.Mutex
	rest []byte
}

// Write implements io.Writer.
func (b *inbox) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rest = append(b.rest, p...)
	for {
		line, rest, whole := bytes.Cut(b.rest, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		b.rest = rest
		var l struct {
			Dir   string
			Event json.RawMessage
		}
		if json.Unmarshal(line, &l) != nil || l.Dir != "server" {
			continue
		}
		e, err := wire.DecodeServer(l.Event)
		if err != nil {
			b.t.Errorf("the server has sent %.200s: %v", l.Event, err)
			continue
		}
		b.Put(e)
	}
}

// desk is a server that takes telephone calls.
type desk struct {
	*host
	events *inbox
}

func answering(t *testing.T, change func(*server.Config)) *desk {
	t.Helper()
	d := &desk{events: &inbox{Inbox: servertest.NewInbox(t), t: t}}
	d.host = serve(t, scripted.New(scripted.Options{}), func(c *server.Config) {
		phones(c)
		c.Record = d.events
		if change != nil {
			change(c)
		}
	})
	return d
}

// telephone is the far side of a call: it speaks and plays 20 ms every 20 ms.
type telephone struct {
	t    *testing.T
	g    *gomega.WithT
	ws   *websocket.Conn
	kind string // pbx (plain text), json (Asterisk's JSON), twilio, telnyx
	rate int
	stop chan struct{}
	over chan struct{} // closed when the server has closed the connection

	mu     sync.Mutex
	mic    []int16
	echo   func(heard []int16) []int16
	queue  [][]int16
	marks  map[int][]string // by how many frames are to be played first
	paused bool
	early  bool // it sends marks back before it has played what they follow
	played []int16
	did    []string
	why    error
}

// dials opens a WebSocket of a telephone.
func (d *desk) dials(path string, header http.Header) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	return websocket.Dial(ctx, "ws://server.test"+phonesPath+path, &websocket.DialOptions{Subprotocols: []string{"media"}, HTTPClient: d.web, HTTPHeader: header})
}

func basic(key string) http.Header {
	return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte("asterisk:"+key))}}
}

func signature(token, url string) http.Header {
	h := hmac.New(sha1.New, []byte(token))
	h.Write([]byte(url))
	return http.Header{"X-Twilio-Signature": {base64.StdEncoding.EncodeToString(h.Sum(nil))}}
}

var starts = map[string]string{
	"pbx":  "MEDIA_START connection_id:e226e283 channel:WebSocket/antiphon/0x1 format:slin16 optimal_frame_size:640",
	"json": `{"event":"MEDIA_START","connection_id":"e226e283","channel":"WebSocket/antiphon/0x1","channel_id":"pbx1-1.9","format":"slin16","optimal_frame_size":640,"ptime":20,"channel_variables":{"A":"b"}}`,
	"twilio": `{"event":"start","sequenceNumber":"1","start":{"accountSid":"AC1","streamSid":"MZ1","callSid":"CA1","tracks":["inbound"],"mediaFormat":{"encoding":"audio/x-mulaw","sampleRate":8000,"channels":1},` +
		`"customParameters":{"a":"b"}},"streamSid":"MZ1"}`,
	"telnyx": `{"event":"start","sequence_number":"1","start":{"user_id":"u","call_control_id":"v2:1","media_format":{"encoding":"PCMA","sample_rate":8000,"channels":1}},"stream_id":"s-1"}`,
}

// calls places a call of a telephone of that kind, and waits until the session answers it.
func (d *desk) calls(kind string) *telephone {
	d.t.Helper()
	path, header := map[string]string{"pbx": "pbx", "json": "pbx", "twilio": "twilio", "telnyx": "telnyx/" + phoneKey}[kind], http.Header{}
	switch kind {
	case "pbx", "json":
		header = basic(phoneKey)
	case "twilio":
		header = signature("token of the account", twilioURL)
	}
	ws, _, err := d.dials(path, header) //nolint:bodyclose // a WebSocket has none
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	ws.SetReadLimit(-1)
	p := &telephone{t: d.t, g: d.g, ws: ws, kind: kind, rate: 16000, stop: make(chan struct{}), over: make(chan struct{}), marks: map[int][]string{}}
	if p.provider() {
		p.rate = 8000
		p.text(`{"event":"connected","protocol":"Call","version":"1.0.0"}`)
	}
	p.text(starts[kind])
	var both sync.WaitGroup
	both.Go(p.listen)
	both.Go(p.live)
	d.t.Cleanup(func() {
		p.hangUp()
		both.Wait()
	})
	d.events.First("session.created")
	return p
}

func (p *telephone) provider() bool { return p.kind == "twilio" || p.kind == "telnyx" }

func (p *telephone) text(s string) { p.write(websocket.MessageText, []byte(s)) }

func (p *telephone) write(kind websocket.MessageType, data []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = p.ws.Write(ctx, kind, data) // the server may have hung up
}

// hangUp ends the call at the telephone's side.
func (p *telephone) hangUp() {
	select {
	case <-p.stop:
	default:
		close(p.stop)
		_ = p.ws.Close(websocket.StatusNormalClosure, "") // the server may have closed it
		_ = p.ws.CloseNow()
	}
}

// listen takes what the server sends.
func (p *telephone) listen() {
	defer close(p.over)
	for {
		kind, data, err := p.ws.Read(context.Background())
		p.mu.Lock()
		switch {
		case err != nil:
			p.why = err
			p.mu.Unlock()
			return
		case kind == websocket.MessageBinary:
			p.queue = append(p.queue, voice.BytesToPCM16(nil, data))
		case p.provider():
			p.fromServer(data)
		default:
			p.command(string(data))
		}
		p.mu.Unlock()
	}
}

func (p *telephone) command(text string) {
	var c struct{ Command, Correlation_ID string } // as Asterisk spells it
	if p.kind == "json" {
		p.g.Expect(json.Unmarshal([]byte(text), &c)).To(gomega.Succeed())
		text = c.Command
	}
	switch text {
	case "PAUSE_MEDIA":
		p.paused = true
	case "CONTINUE_MEDIA":
		p.paused = false
	case "FLUSH_MEDIA":
		p.queue, p.paused = nil, false
	case "MARK_MEDIA":
		p.marksAfter(c.Correlation_ID)
		return
	}
	p.did = append(p.did, text)
}

// marksAfter notes a mark that follows what is queued. A telephone without marks forgets it.
func (p *telephone) marksAfter(name string) {
	n := len(p.queue)
	if p.early {
		n = 0
	}
	if p.marks != nil {
		p.marks[n] = append(p.marks[n], name)
	}
}

func (p *telephone) fromServer(data []byte) {
	var m struct {
		Event     string
		StreamSid string
		Stream_ID string // as Telnyx spells it
		Media     struct{ Payload []byte }
		Mark      struct{ Name string }
	}
	p.g.Expect(json.Unmarshal(data, &m)).To(gomega.Succeed())
	p.g.Expect(m.StreamSid + m.Stream_ID).To(gomega.Equal(map[string]string{"twilio": "MZ1", "telnyx": "s-1"}[p.kind]))
	switch m.Event {
	case "media":
		p.queue = append(p.queue, p.decode(m.Media.Payload))
	case "mark":
		p.marksAfter(m.Mark.Name)
	default:
		p.did = append(p.did, m.Event)
		p.queue = nil
	}
}

func (p *telephone) decode(b []byte) []int16 {
	if p.kind == "telnyx" {
		return voice.ALawToPCM16(nil, b)
	}
	return voice.MuLawToPCM16(nil, b)
}

// live speaks and plays until the call is over.
func (p *telephone) live() {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-p.over:
			return
		case <-tick.C:
		}
		p.frame()
	}
}

func (p *telephone) frame() {
	p.mu.Lock()
	size := p.rate / 50
	said, heard := make([]int16, size), make([]int16, size)
	p.mic = p.mic[copy(said, p.mic):]
	if len(p.queue) > 0 && !p.paused {
		heard = p.queue[0]
		p.queue = p.queue[1:]
		p.played = append(p.played, heard...)
		if p.marks != nil {
			passed := map[int][]string{}
			for n, names := range p.marks {
				passed[max(0, n-1)] = append(passed[max(0, n-1)], names...)
			}
			p.marks = passed
		}
	}
	if p.echo != nil {
		said = p.echo(heard)
	}
	back := p.marks[0]
	delete(p.marks, 0)
	p.mu.Unlock()
	switch p.kind {
	case "twilio":
		p.text(fmt.Sprintf(`{"event":"media","sequenceNumber":"4","media":{"track":"inbound","chunk":"2","timestamp":"5","payload":%q},"streamSid":"MZ1"}`, base64.StdEncoding.EncodeToString(voice.AppendMuLaw(nil, said))))
	case "telnyx":
		p.text(fmt.Sprintf(`{"event":"media","sequence_number":"4","media":{"track":"inbound","chunk":"2","timestamp":"5","payload":%q},"stream_id":"s-1"}`, base64.StdEncoding.EncodeToString(voice.AppendALaw(nil, said))))
	default:
		p.write(websocket.MessageBinary, voice.PCM16ToBytes(nil, said))
	}
	for _, name := range back {
		if p.kind == "json" {
			p.text(fmt.Sprintf(`{"event":"MEDIA_MARK_PROCESSED","channel_id":"c","correlation_id":%q}`, name))
		} else {
			p.text(fmt.Sprintf(`{"event":"mark","sequenceNumber":"4","mark":{"name":%q}}`, name))
		}
	}
}

// says speaks pcm, which has 24 kHz, and returns when it is said.
func (p *telephone) says(pcm []int16) {
	down, err := voice.NewResampler(24000, p.rate)
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	narrow := down.FlushPCM16(down.AppendPCM16(nil, pcm))
	p.mu.Lock()
	p.mic = append(p.mic, narrow...)
	left := len(p.mic)
	p.mu.Unlock()
	wait(time.Duration(left) * time.Second / time.Duration(p.rate))
}

// asks speaks a sentence after a pause, and is quiet after it.
func (p *telephone) asks(text string) {
	p.says(quiet(400))
	p.says(scripted.Tones(text))
	p.says(quiet(900))
}

func (p *telephone) presses(keys string) {
	for _, k := range keys {
		switch p.kind {
		case "json":
			p.text(fmt.Sprintf(`{"event":"DTMF_END","channel_id":"c","digit":"%c"}`, k))
		case "twilio":
			p.text(fmt.Sprintf(`{"event":"dtmf","streamSid":"MZ1","sequenceNumber":"5","dtmf":{"track":"inbound_track","digit":"%c"}}`, k))
		case "telnyx":
			p.text(fmt.Sprintf(`{"event":"dtmf","stream_id":"s-1","occurred_at":"2026-11-28T00:00:00Z","sequence_number":"5","dtmf":{"digit":"%c"}}`, k))
		default:
			p.text(fmt.Sprintf("DTMF_END digit:%c", k))
		}
		wait(200 * time.Millisecond)
	}
}

// heard returns what the telephone has played, and what it was told.
func (p *telephone) heard() (played []int16, did []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.played), slices.Clone(p.did)
}

// ended waits until the server has closed the connection, and returns the code and reason.
func (p *telephone) ended() websocket.CloseError {
	p.t.Helper()
	select {
	case <-p.over:
	case <-time.After(patience):
		p.t.Fatal("the connection is still open")
	}
	var e websocket.CloseError
	p.g.Expect(p.why).To(gomega.BeAssignableToTypeOf(p.why))
	if status := websocket.CloseStatus(p.why); status >= 0 {
		e.Code = status
	}
	return e
}

// none waits until the server has no call.
func (d *desk) none() {
	d.t.Helper()
	for range 200 {
		if now, _ := d.server.Calls(); now == 0 {
			return
		}
		wait(50 * time.Millisecond)
	}
	d.t.Fatal("the server still has a call")
}

func kinds() []string { return []string{"pbx", "json", "twilio", "telnyx"} }

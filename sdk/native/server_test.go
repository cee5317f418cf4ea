//go:build !js

package native

// A server for the tests of the native client: it answers over WebRTC and WebSocket.

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/pion/webrtc/v4"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// testServer is a server for tests. It answers each response.create with the word "tone" and half a second of a tone, and writes down
// the client's events and sound.
type testServer struct {
	*httptest.Server

	mu      sync.Mutex
	got     []wire.ClientEvent
	links   []io.Closer
	lines   []*websocket.Conn
	speaker *Speaker // gets the client's sound
	n       int

	calling *testCall // the last call over WebRTC
	numbers []uint16  // of the packets of the client's sound
	during  func()    // what a restart waits for
}

func newTestServer(t *testing.T) *testServer {
	t.Helper()
	s := &testServer{speaker: NewSpeaker(0)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/realtime/calls", s.call)
	mux.HandleFunc("POST /v1/realtime/calls/test/restart", s.restart)
	mux.HandleFunc("GET /v1/realtime", s.socket)
	mux.HandleFunc("GET /v1/antiphon/pipeline", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"pipeline":"test","components":[{"stage":"model","name":"tone","state":"ready","detail":"","install":""}]}`)
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer right" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"the key is wrong"}}`)
			return
		}
		w.Header().Set(versionHeader, "test")
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.stop)
	return s
}

func (s *testServer) stop() {
	s.hangUp()
	s.CloseClientConnections()
	s.Close()
}

// hangUp ends all calls, as a server that is stopped does.
func (s *testServer) hangUp() {
	s.mu.Lock()
	links := s.links
	s.links = nil
	s.mu.Unlock()
	for _, l := range links {
		_ = l.Close()
	}
}

// tear breaks all WebSockets, as a network failure does.
func (s *testServer) tear() {
	s.mu.Lock()
	lines := s.lines
	s.lines = nil
	s.mu.Unlock()
	for _, l := range lines {
		_ = l.CloseNow()
	}
}

func (s *testServer) keep(l io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links = append(s.links, l)
}

// heard returns the types of the client's events so far, without those with sound.
func (s *testServer) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var types []string
	for _, e := range s.got {
		types = append(types, e.Type())
	}
	return types
}

// last returns the client's last event; nil when there is none.
func (s *testServer) last() wire.ClientEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.got) == 0 {
		return nil
	}
	return s.got[len(s.got)-1]
}

// take decodes one message and returns the event; nil for sound, which goes to speaker.
func (s *testServer) take(text []byte) wire.ClientEvent {
	e, err := wire.DecodeClient(text)
	if err != nil {
		panic(err)
	}
	if a, ok := e.(*wire.InputAudioBufferAppend); ok {
		s.speaker.Hear(voice.BytesToPCM16(nil, a.Audio))
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, e)
	return e
}

func (s *testServer) greeting() wire.ServerEvent {
	session := wire.DefaultSession()
	session.ID, session.Model = "sess_test", "tone"
	session.Audio.Input.Transcription = &wire.Transcription{}
	return &wire.SessionCreated{EventID: "e", Session: session}
}

// response returns the events of one response. sound is nil when the sound goes another way.
func (s *testServer) response(sound []int16) []wire.ServerEvent {
	s.mu.Lock()
	s.n++
	id := string(rune('0' + s.n))
	s.mu.Unlock()
	r, item, conversation := "r"+id, "a"+id, "c"
	message := wire.Item{ID: item, Type: wire.ItemMessage, Role: "assistant", Status: "in_progress"}
	response := wire.Response{ID: r, Status: "in_progress", ConversationID: &conversation}
	done := response
	done.Status = "completed"
	events := []wire.ServerEvent{
		&wire.ResponseCreated{EventID: "e", Response: response},
		&wire.ResponseOutputItemAdded{EventID: "e", ResponseID: r, Item: message},
		&wire.ResponseOutputAudioTranscriptDelta{EventID: "e", ResponseID: r, ItemID: item, Delta: "tone"},
	}
	for len(sound) > 0 {
		n := min(len(sound), 5*FrameSize)
		events = append(events, &wire.ResponseOutputAudioDelta{
			EventID: "e", ResponseID: r, ItemID: item, Delta: voice.PCM16ToBytes(nil, sound[:n]),
		})
		sound = sound[n:]
	}
	return append(events, &wire.ResponseDone{EventID: "e", Response: done})
}

// call answers one offer.
func (s *testServer) call(w http.ResponseWriter, r *http.Request) {
	offer, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	var settings webrtc.SettingEngine
	settings.SetIncludeLoopbackCandidate(true)
	pc, err := webrtc.NewAPI(webrtc.WithSettingEngine(settings)).NewPeerConnection(webrtc.Configuration{})
	must(err)
	c := &testCall{server: s, pc: pc, stop: make(chan struct{})}
	s.keep(c)
	s.mu.Lock()
	s.calling = c
	s.mu.Unlock()
	must(pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: string(offer)}))
	c.track, err = webrtc.NewTrackLocalStaticRTP(opusCapability(), "agent", "test")
	must(err)
	_, err = pc.AddTrack(c.track)
	must(err)
	pc.OnTrack(func(track *webrtc.TrackRemote, _ *webrtc.RTPReceiver) { c.listen(track) })
	pc.OnDataChannel(func(d *webrtc.DataChannel) { c.open(d) })
	w.Header().Set("Location", "/v1/realtime/calls/test")
	c.answer(w, http.StatusCreated)
}

// restart answers the offer of a restart of the last call.
func (s *testServer) restart(w http.ResponseWriter, r *http.Request) {
	offer, err := io.ReadAll(r.Body)
	must(err)
	s.mu.Lock()
	c, during := s.calling, s.during
	s.mu.Unlock()
	must(c.pc.SetRemoteDescription(webrtc.SessionDescription{Type: webrtc.SDPTypeOffer, SDP: string(offer)}))
	during()
	c.answer(w, http.StatusOK)
}

func (c *testCall) answer(w http.ResponseWriter, status int) {
	answer, err := c.pc.CreateAnswer(nil)
	must(err)
	gathered := webrtc.GatheringCompletePromise(c.pc)
	must(c.pc.SetLocalDescription(answer))
	<-gathered
	w.WriteHeader(status)
	_, _ = io.WriteString(w, c.pc.LocalDescription().SDP)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// testCall is the server's end of one WebRTC call.
type testCall struct {
	server *testServer
	pc     *webrtc.PeerConnection
	track  *webrtc.TrackLocalStaticRTP
	stop   chan struct{}
	once   sync.Once
	work   sync.WaitGroup
}

func (c *testCall) Close() error {
	c.once.Do(func() { close(c.stop) })
	err := c.pc.GracefulClose()
	c.work.Wait()
	return err
}

func (c *testCall) listen(track *webrtc.TrackRemote) {
	dec, err := newDecoder()
	must(err)
	for {
		packet, _, err := track.ReadRTP()
		if err != nil {
			return
		}
		c.server.mu.Lock()
		c.server.numbers = append(c.server.numbers, packet.SequenceNumber)
		c.server.mu.Unlock()
		must(dec.decode(packet.SequenceNumber, packet.Payload, c.server.speaker.Hear))
	}
}

func (c *testCall) open(d *webrtc.DataChannel) {
	send := func(e wire.ServerEvent) { _ = d.SendText(string(wire.AppendServer(nil, e))) }
	var speech Microphone
	d.OnOpen(func() {
		send(c.server.greeting())
		c.work.Go(func() { c.speak(&speech) })
	})
	d.OnMessage(func(m webrtc.DataChannelMessage) {
		if _, ok := c.server.take(m.Data).(*wire.ResponseCreate); !ok {
			return
		}
		said, err := speech.Speak(tone(500*time.Millisecond, 440))
		must(err)
		events := c.server.response(nil)
		response := events[len(events)-1].(*wire.ResponseDone).Response.ID
		for _, e := range events {
			send(e)
		}
		send(&wire.OutputAudioBufferStarted{EventID: "e", ResponseID: response})
		c.work.Go(func() {
			select {
			case <-said:
				send(&wire.OutputAudioBufferStopped{EventID: "e", ResponseID: response})
			case <-c.stop:
			}
		})
	})
}

func (c *testCall) speak(from *Microphone) {
	enc, err := newEncoder()
	must(err)
	pcm := make([]int16, FrameSize)
	number, stamp := uint16(0), uint32(0)
	pace(c.stop, func() {
		from.Frame(pcm)
		coded, err := enc.encode(pcm)
		must(err)
		_ = c.track.WriteRTP(rtpPacket(number, stamp, coded))
		number, stamp = number+1, stamp+960
	})
}

// socket answers one WebSocket.
func (s *testServer) socket(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{"realtime"}})
	must(err)
	s.keep(closer(func() error { return conn.Close(websocket.StatusGoingAway, "") }))
	s.mu.Lock()
	s.lines = append(s.lines, conn)
	s.mu.Unlock()
	send := func(e wire.ServerEvent) {
		_ = conn.Write(r.Context(), websocket.MessageText, wire.AppendServer(nil, e))
	}
	send(s.greeting())
	for {
		_, text, err := conn.Read(r.Context())
		if err != nil {
			_ = conn.CloseNow()
			return
		}
		switch e := s.take(text).(type) {
		case *wire.ResponseCreate:
			for _, one := range s.response(tone(500*time.Millisecond, 440)) {
				send(one)
			}
		case *wire.ConversationItemCreate:
			send(&wire.ConversationItemAdded{EventID: "e", Item: e.Item})
		case *wire.AntiphonHello:
			send(&wire.AntiphonAck{EventID: "e", Acknowledges: e.EventID})
		case *wire.SessionUpdate:
			send(&wire.InputAudioBufferSpeechStarted{EventID: "e", ItemID: "u1"})
		}
	}
}

type closer func() error

func (c closer) Close() error { return c() }

func tone(d time.Duration, hz float64) []int16 {
	pcm := make([]int16, int(d.Seconds()*Rate))
	for i := range pcm {
		pcm[i] = int16(8000 * math.Sin(2*math.Pi*hz*float64(i)/Rate))
	}
	return pcm
}

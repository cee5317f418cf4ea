package wyoming

// A stand-in of a service, which behaves as wyoming-faster-whisper and wyoming-piper do.

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is one connection of a stand-in.
type peer struct {
	net.Conn
	in   *bufio.Reader
	seen []event // all events but audio
	pcm  int     // bytes of audio
}

// send writes an event. A connection that the client has closed is no fault of the test.
func (p *peer) send(kind string, data any, payload []byte) {
	b, err := encode(kind, data, payload)
	if err != nil {
		panic(err)
	}
	_, _ = p.Write(b)
}

// until reads events up to one of a kind. It reports false at the end of the connection.
func (p *peer) until(kind string) bool {
	for {
		e, err := decode(p.in)
		if err != nil {
			return false
		}
		if e.kind == "audio-chunk" {
			p.pcm += len(e.payload)
			continue
		}
		p.seen = append(p.seen, e)
		if e.kind == kind {
			return true
		}
	}
}

// field returns a field of the last event of a kind.
func (p *peer) field(kind, name string) any {
	for i := len(p.seen) - 1; i >= 0; i-- {
		if p.seen[i].kind == kind {
			all := map[string]any{}
			if err := p.seen[i].into(&all); err != nil {
				panic(err)
			}
			return all[name]
		}
	}
	return nil
}

// serve starts a stand-in that ends with the test. handle gets each connection after its first event, unless that is "describe": then it
// answers with about.
func serve(t *testing.T, about any, handle func(p *peer, first event)) Service {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			all.Go(func() {
				defer c.Close()
				p := &peer{Conn: c, in: bufio.NewReader(c)}
				e, err := decode(p.in)
				switch {
				case err != nil:
				case e.kind == "describe":
					p.send("info", about, nil)
				default:
					p.seen = append(p.seen, e)
					handle(p, e)
				}
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return Service{URL: "tcp://" + l.Addr().String(), FirstByte: 5 * time.Second, Idle: 5 * time.Second}
}

// asr describes a recogniser as wyoming-faster-whisper does.
func asr(streams bool) map[string]any {
	return map[string]any{"asr": []any{map[string]any{
		"name": "faster-whisper", "installed": true, "version": "3.1.0", "supports_transcript_streaming": streams,
		"models": []any{map[string]any{"name": "base", "languages": []string{"en"}, "installed": true, "attribution": map[string]string{"name": "x", "url": "y"}}},
	}}, "tts": []any{}}
}

// piper describes a synthesizer as wyoming-piper does.
func piper(streams bool) map[string]any {
	return map[string]any{"tts": []any{map[string]any{
		"name": "piper", "version": "2.0.0", "supports_synthesize_streaming": streams,
		"voices": []any{
			map[string]any{"name": "en_US-joe-medium", "installed": true, "speakers": nil},
			map[string]any{"name": "en_US-amy-low", "installed": true},
			map[string]any{"name": "de_DE-far", "installed": false},
		},
	}}}
}

func TestEventsGoThere(t *testing.T) {
	g := gomega.NewWithT(t)
	b, err := encode("synthesize", map[string]any{"text": "a\nb", "voice": map[string]string{"name": "x"}}, []byte{1, 2, 3})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	e, err := decode(bufio.NewReader(strings.NewReader(string(b))))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(e.kind).To(gomega.Equal("synthesize"))
	g.Expect(e.payload).To(gomega.Equal([]byte{1, 2, 3}))
	var data struct{ Text string }
	g.Expect(e.into(&data)).To(gomega.Succeed())
	g.Expect(data.Text).To(gomega.Equal("a\nb"))
}

// TestDataComesInBothPlaces: older services put data into the line, newer ones behind it, and the latter counts.
func TestDataComesInBothPlaces(t *testing.T) {
	g := gomega.NewWithT(t)
	e, err := decode(bufio.NewReader(strings.NewReader(`{"type":"transcript","data":{"text":"old","language":"en"},"data_length":14}` + "\n" + `{"text":"new"}`)))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var data struct{ Text, Language string }
	g.Expect(e.into(&data)).To(gomega.Succeed())
	g.Expect(data).To(gomega.Equal(struct{ Text, Language string }{"new", "en"}))
}

func TestNoEvents(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "EOF",
		"{\"type\":\"a\"":                      "unexpected EOF",
		"HTTP/1.1 400 Bad Request\r\n":         `"HTTP/1.1 400 Bad Request\r" is no line of an event`,
		"{}\n":                                 `"{}" is no line of an event`,
		"7\n":                                  "is no line of an event",
		strings.Repeat("a", maxLine+2):         "a line of more than 65536 bytes",
		`{"type":"a","data_length":-1}` + "\n": "data of -1 bytes",
		`{"type":"a","data_length":99999999}` + "\n":       "data of 99999999 bytes; 4194304 are allowed",
		`{"type":"a","payload_length":1048577}` + "\n":     "a payload of 1048577 bytes; 1048576 are allowed",
		`{"type":"a","data_length":9}` + "\n{}":            "unexpected EOF",
		`{"type":"a","payload_length":9}` + "\nxx":         "unexpected EOF",
		`{"type":"a","data_length":1e99}` + "\n":           "is no line of an event",
		`{"type":"a","data_length":2,"data":[1]}` + "\n{}": "",
	} {
		_, err := decode(bufio.NewReader(strings.NewReader(in)))
		g := gomega.NewWithT(t)
		if want == "" {
			g.Expect(err).NotTo(gomega.HaveOccurred(), in)
			continue
		}
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(want)), in[:min(len(in), 50)])
	}
}

// FuzzDecode: nothing that a service sends makes the client panic or take more memory than the limits, and what was read can be written.
func FuzzDecode(f *testing.F) {
	for _, e := range []struct {
		kind    string
		data    any
		payload []byte
	}{{"audio-chunk", input, []byte{1, 2}}, {"transcript", map[string]string{"text": "a"}, nil}, {"audio-stop", nil, nil}} {
		b, err := encode(e.kind, e.data, e.payload)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add(`{"type":"a","data":{"x":1},"data_length":2,"payload_length":1}` + "\n{}x")
	f.Fuzz(func(t *testing.T, in string) {
		r := bufio.NewReader(strings.NewReader(in))
		for {
			e, err := decode(r)
			if err != nil {
				return
			}
			if len(e.payload) > maxPayload || len(e.data) > 2 {
				t.Fatalf("%d bytes of payload, %d pieces of data", len(e.payload), len(e.data))
			}
			var o output
			o.emit = func([]int16) error { return nil }
			_ = o.take(e)
			var h hearing
			_ = h.take(e, nil)
			if len(e.data) == 1 && json.Valid(e.data[0]) {
				b, err := encode(e.kind, e.data[0], e.payload)
				if err != nil {
					t.Fatal(err)
				}
				again, err := decode(bufio.NewReader(strings.NewReader(string(b))))
				if err != nil || again.kind != strings.ToValidUTF8(e.kind, "\ufffd") && again.kind != e.kind || string(again.payload) != string(e.payload) {
					t.Fatalf("%v: %q became %q", err, e.kind, again.kind)
				}
			}
		}
	})
}

func TestWrongSettings(t *testing.T) {
	for url, want := range map[string]string{
		"":                    "url: no address",
		"http://a:1":          `url: "http://a:1" is no address of a Wyoming service`,
		"tcp://a":             "is no address of a Wyoming service",
		"127.0.0.1:10300":     "url: ",
		"tcp://me:secret@a:1": "has more than host and port",
		"unix://host/path":    "is no address of a Wyoming service",
		"tcp://a:1/path":      "is no address of a Wyoming service",
	} {
		_, err := NewTranscriber(RecogniserOptions{Service: Service{URL: url}})
		gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.And(gomega.ContainSubstring(want), gomega.Not(gomega.ContainSubstring("secret")))), url)
	}
	_, err := NewSynthesizer(SynthesizerOptions{Service: Service{URL: "tcp://a:1"}, Speaker: "x"})
	gomega.NewWithT(t).Expect(err).To(gomega.MatchError(gomega.ContainSubstring("speaker: it belongs to a voice")))
}

// text answers a recognition with what was asked and heard.
func text(p *peer) string {
	return fmt.Sprintf("%v %v %.1f seconds", p.field("transcribe", "name"), p.field("transcribe", "language"), float64(p.pcm)/32000)
}

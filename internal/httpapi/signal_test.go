package httpapi

// Calls over HTTP: good ones, bad ones, paths, and a full or stopping server.

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/call/rtc"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/offers"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second

// offer is what a browser sends: one audio section and the data channel.
const offer = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0 1\r\n" +
	"m=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r\na=rtcp-mux\r\na=mid:0\r\na=sendrecv\r\na=setup:actpass\r\n" +
	"a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\n" +
	"a=fingerprint:sha-256 00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF\r\n" +
	"a=rtpmap:111 opus/48000/2\r\n" +
	"m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=mid:1\r\na=setup:actpass\r\na=sctp-port:5000\r\n" +
	"a=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\n" +
	"a=fingerprint:sha-256 00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF\r\n"

// harness is a Handler and its test.
type harness struct {
	t *testing.T
	g *gomega.WithT
	h *Handler
}

func open(t *testing.T, change func(*Config)) *harness {
	t.Helper()
	g := gomega.NewWithT(t)
	engine, err := rtc.New(rtc.Config{Loopback: true})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	cfg := Config{Engine: engine, Pipeline: scripted.New(scripted.Options{}), Settings: wire.DefaultSession(), Version: "1.2.3"}
	if change != nil {
		change(&cfg)
	}
	h := New(cfg)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		g.Expect(h.Close(ctx)).To(gomega.Succeed())
		g.Expect(engine.Close()).To(gomega.Succeed())
	})
	return &harness{t, g, h}
}

// in returns the harness for a subtest.
func (d *harness) in(t *testing.T) *harness {
	t.Helper()
	return &harness{t, gomega.NewWithT(t), d.h}
}

// ask sends a request; headers come in pairs of name and value.
func (d *harness) ask(method, path string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(d.t.Context(), method, "http://talk.test"+path, body)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	d.h.ServeHTTP(w, r)
	described(d.t, r, w.Code, w.Body.Bytes())
	return w
}

// refused checks an error response: its status, its code, and a part of its message.
func (d *harness) refused(w *httptest.ResponseRecorder, status int, code, says string) {
	d.t.Helper()
	var body struct {
		Error struct {
			Type, Code, Message string
			Param               *string
		}
	}
	d.g.Expect(json.Unmarshal(w.Body.Bytes(), &body)).To(gomega.Succeed(), w.Body.String())
	d.g.Expect(w.Code).To(gomega.Equal(status))
	d.g.Expect(w.Header().Get("Content-Type")).To(gomega.Equal("application/json"))
	d.g.Expect(body.Error.Type).To(gomega.Equal("invalid_request_error"))
	d.g.Expect(body.Error.Code).To(gomega.Equal(code), body.Error.Message)
	d.g.Expect(body.Error.Message).To(gomega.ContainSubstring(says))
}

// part is one part of a form. name is its field, file a file name or "".
type part struct{ name, file, kind, body string }

func form(parts ...part) (body io.Reader, kind string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		h := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + p.name + `"`}}
		if p.file != "" {
			h.Set("Content-Disposition", `form-data; name="`+p.name+`"; filename="`+p.file+`"`)
		}
		if p.kind != "" {
			h.Set("Content-Type", p.kind)
		}
		to, _ := w.CreatePart(h) // a buffer does not fail
		_, _ = to.Write([]byte(p.body))
	}
	_ = w.Close()
	return &b, w.FormDataContentType()
}

func TestCalls(t *testing.T) {
	d := open(t, nil)
	settings := `{"type":"realtime","instructions":"Be brief."}`
	for _, row := range []struct {
		name  string
		parts []part // nil for the offer alone
	}{
		{"the offer alone", nil},
		{"a form of fields", []part{{"sdp", "", "", offer}, {"session", "", "", settings}}},
		{"a form of files, as browsers send Blobs", []part{{"sdp", "blob", "application/sdp", offer}, {"session", "blob", "application/json", settings}}},
		{"a form in another order, with a part that nobody knows", []part{{"x", "", "", "y"}, {"session", "", "", settings}, {"sdp", "", "", offer}}},
		{"a form without settings", []part{{"sdp", "", "", offer}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			d, g := d.in(t), gomega.NewWithT(t)
			body, kind := io.Reader(strings.NewReader(offer)), "application/sdp; charset=utf-8"
			if row.parts != nil {
				body, kind = form(row.parts...)
			}
			w := d.ask(http.MethodPost, "/v1/realtime/calls?model=x", body, "Content-Type", kind)
			g.Expect(w.Code).To(gomega.Equal(http.StatusCreated), w.Body.String())
			// LocalAI#11776: GA clients fail at signalling where JSON comes in place of SDP, or no Location.
			g.Expect(w.Header().Get("Content-Type")).To(gomega.Equal("application/sdp"))
			g.Expect(w.Body.String()).To(gomega.HavePrefix("v=0\r\n"))
			g.Expect(w.Body.String()).To(gomega.ContainSubstring("a=candidate:"))
			location := w.Header().Get("Location")
			g.Expect(location).To(gomega.MatchRegexp(`^/v1/realtime/calls/rtc_\w{20,}$`))
			g.Expect(w.Header().Get("Antiphon-Version")).To(gomega.Equal("1.2.3"))

			g.Expect(d.ask(http.MethodPost, location+"/hangup", nil).Code).To(gomega.Equal(http.StatusOK))
			g.Eventually(func() int {
				now, _ := d.h.Calls()
				return now
			}, patience).Should(gomega.BeZero())
			d.refused(d.ask(http.MethodPost, location+"/hangup", nil), http.StatusNotFound, "call_not_found", "has ended")
		})
	}
	_, total := d.h.Calls()
	gomega.NewWithT(t).Expect(total).To(gomega.Equal(uint64(5)))
}

// A call that was hung up is over for every further request, also while its session still ends.
func TestHangupTwice(t *testing.T) {
	d := open(t, nil)
	location := d.ask(http.MethodPost, "/v1/realtime/calls?model=x", strings.NewReader(offer), "Content-Type", "application/sdp").Header().Get("Location")
	id := path.Base(location)
	d.h.mu.Lock()
	c := d.h.calls[id]
	d.h.mu.Unlock()
	d.g.Expect(d.ask(http.MethodPost, location+"/hangup", nil).Code).To(gomega.Equal(http.StatusOK))
	<-c.session.Done()
	d.h.joined.Wait()
	d.h.mu.Lock()
	d.h.calls[id] = c // as long as its session ends
	d.h.mu.Unlock()
	d.refused(d.ask(http.MethodPost, location+"/hangup", nil), http.StatusNotFound, "call_not_found", "has ended")
	d.h.mu.Lock()
	delete(d.h.calls, id)
	d.h.mu.Unlock()
}

func TestBadCalls(t *testing.T) {
	d := open(t, nil)
	sdp := part{"sdp", "", "", offer}
	for _, row := range []struct {
		name       string
		body, kind string
		parts      []part // in place of body and kind
		status     int
		code, says string
	}{
		{"no content type", offer, "", nil, 415, "unsupported_media_type", "application/sdp"},
		{"text", offer, "text/plain", nil, 415, "unsupported_media_type", "multipart/form-data"},
		{"JSON without a telephone", `{"sdp":"v=0"}`, "application/json", nil, 400, "invalid_value", "want a number"},
		{"a form without a boundary", offer, "multipart/form-data", nil, 415, "unsupported_media_type", "sdp and session"},
		{"an invalid content type", offer, "application/", nil, 415, "unsupported_media_type", ""},
		{"an empty offer", "", "application/sdp", nil, 400, "invalid_offer", "empty"},
		{"a broken offer", "hello", "application/sdp", nil, 400, "invalid_offer", "SDP"},
		{"an offer without audio", offer[:strings.Index(offer, "m=audio")], "application/sdp", nil, 400, "invalid_offer", "microphone"},
		{"an offer that is too large", strings.Repeat("x", offers.Most+1), "application/sdp", nil, 413, "body_too_large", "65536"},
		{"a form with an offer that is too large", "", "", []part{{"sdp", "", "", strings.Repeat("x", offers.Most+1)}}, 413, "body_too_large", "65536"},
		{"a form that is too large", "", "", []part{sdp, {"session", "", "", strings.Repeat("x", maxBody)}}, 413, "body_too_large", "1048576"},
		{"a form that is cut off", "--x\r\nContent-Disposition: form-data; name=\"sdp\"\r\n\r\nv=0", "multipart/form-data; boundary=x", nil, 400, "invalid_body", "cannot be read"},
		{"a body that is no form", "hello", "multipart/form-data; boundary=x", nil, 400, "missing_field", "sdp"},
		{"a form without an offer", "", "", []part{{"session", "", "", `{"type":"realtime"}`}}, 400, "missing_field", "sdp"},
		{"a form with two sessions", "", "", []part{sdp, {"session", "", "", `{"type":"realtime"}`}, {"session", "", "", `{"type":"realtime"}`}}, 400, "repeated_field", "send one"},
		{"a form with two offers", "", "", []part{sdp, sdp}, 400, "repeated_field", "send one"},
		{"a form with a blank offer", "", "", []part{{"sdp", "", "", " \n"}}, 400, "missing_field", "sdp"},
		{"settings that are no JSON", "", "", []part{sdp, {"session", "", "", `{"type"`}}, 400, "invalid_json", ""},
		{"settings that are no object", "", "", []part{sdp, {"session", "", "", `[]`}}, 400, "invalid_type", ""},
		{"settings of the wrong type", "", "", []part{sdp, {"session", "", "", `{"type":"realtime","instructions":7}`}}, 400, "invalid_type", ""},
		{"settings that the protocol does not have", "", "", []part{sdp, {"session", "", "", `{"type":"telephone"}`}}, 400, "invalid_value", "realtime"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := d.in(t)
			body, kind := io.Reader(strings.NewReader(row.body)), row.kind
			if row.parts != nil {
				body, kind = form(row.parts...)
			}
			d.refused(d.ask(http.MethodPost, "/v1/realtime/calls", body, "Content-Type", kind), row.status, row.code, row.says)
			now, _ := d.h.Calls()
			d.g.Expect(now).To(gomega.BeZero(), "the book has no entry")
		})
	}
	now, total := d.h.Calls()
	gomega.NewWithT(t).Expect(now).To(gomega.BeZero())
	gomega.NewWithT(t).Expect(total).To(gomega.BeZero(), "a refused request is no call")
}

func TestPaths(t *testing.T) {
	d := open(t, nil)
	for _, row := range []struct {
		name, method, path string
		status             int
		code, says         string
	}{
		{"an unknown path", http.MethodGet, "/v1/embeddings", 404, "unknown_url", "POST /v1/realtime/calls"},
		{"taking a telephone call", http.MethodPost, "/v1/realtime/calls/rtc_x/accept", 404, "no_sip_call", "no SIP call waits"},
		{"refusing a telephone call", http.MethodPost, "/v1/realtime/calls/rtc_x/reject", 404, "no_sip_call", "no SIP call waits"},
		{"passing a telephone call on", http.MethodPost, "/v1/realtime/calls/rtc_x/refer", 404, "no_sip_call", "no SIP call waits"},
		{"getting a hang-up", http.MethodGet, "/v1/realtime/calls/rtc_x/hangup", 405, "method_not_allowed", "takes POST"},
		{"getting client secrets", http.MethodGet, "/v1/realtime/client_secrets", 405, "method_not_allowed", "takes POST"},
		{"getting a call", http.MethodGet, "/v1/realtime/calls", 405, "method_not_allowed", "takes POST"},
		{"posting to the WebSocket", http.MethodPost, "/v1/realtime", 405, "method_not_allowed", "takes GET"},
		{"a WebSocket without an upgrade", http.MethodGet, "/v1/realtime", 426, "upgrade_required", "/v1/realtime/calls"},
		{"hanging up an unknown call", http.MethodPost, "/v1/realtime/calls/rtc_x/hangup", 404, "call_not_found", "no such call"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := d.in(t)
			d.refused(d.ask(row.method, row.path, nil), row.status, row.code, row.says)
		})
	}
	upgrade := []string{"Connection", "Upgrade", "Upgrade", "websocket", "Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="}
	for _, row := range []struct {
		path       string
		status     int
		code, says string
	}{
		{"/v1/realtime?call_id=rtc_x", 404, "call_not_found", "no such call"},
		{"/v1/realtime?call_id=rtc_x&intent=realtime", 400, "unsupported_parameter", "leave intent out"},
		{"/v1/realtime?intent=dictation", 400, "invalid_value", "want realtime or transcription"},
	} {
		t.Run(row.path, func(t *testing.T) {
			d := d.in(t)
			d.refused(d.ask(http.MethodGet, row.path, nil, upgrade...), row.status, row.code, row.says)
		})
	}
	t.Run("a WebSocket of another subprotocol", func(t *testing.T) {
		d := d.in(t)
		w := d.ask(http.MethodGet, "/v1/realtime", nil, append([]string{"Sec-WebSocket-Protocol", "chat, superchat"}, upgrade...)...)
		d.refused(w, http.StatusBadRequest, "invalid_subprotocol", "realtime")
	})
	t.Run("a failed WebSocket handshake leaves no session", func(t *testing.T) {
		d, g := d.in(t), gomega.NewWithT(t)
		w := d.ask(http.MethodGet, "/v1/realtime", nil, upgrade...) // a recorder cannot be hijacked
		g.Expect(w.Code).To(gomega.BeNumerically(">=", 400))
		now, total := d.h.Calls()
		g.Expect(now).To(gomega.BeZero())
		g.Expect(total).To(gomega.BeZero())
	})
}

func TestComponents(t *testing.T) {
	where := "no answer from asr-1.internal:8000"
	d := open(t, func(c *Config) {
		components := c.Pipeline.Components
		c.Pipeline.Components = func() []pipeline.Component {
			all := components()
			all[0].Detail = where
			return all
		}
	})
	w := d.ask(http.MethodGet, "/v1/antiphon/pipeline", nil)
	var body struct {
		Pipeline   string
		Components []struct{ Stage, Name, State, Detail string }
	}
	d.g.Expect(json.Unmarshal(w.Body.Bytes(), &body)).To(gomega.Succeed())
	d.g.Expect(body.Pipeline).To(gomega.Equal("scripted"))
	d.g.Expect(body.Components).To(gomega.HaveLen(3))
	d.g.Expect(body.Components[0].State).To(gomega.Equal("ready"))
	d.g.Expect(body.Components[0].Detail).To(gomega.Equal(room.Public(where)))
	d.g.Expect(w.Header().Get("Cache-Control")).To(gomega.Equal("no-store"))
}

func TestFull(t *testing.T) {
	d := open(t, func(c *Config) { c.MaxSessions = 1 })
	call := func() *httptest.ResponseRecorder {
		return d.ask(http.MethodPost, "/v1/realtime/calls", strings.NewReader(offer), "Content-Type", "application/sdp")
	}
	first := call()
	d.g.Expect(first.Code).To(gomega.Equal(http.StatusCreated))
	full := call()
	d.refused(full, http.StatusTooManyRequests, "too_many_sessions", "try again later")
	d.g.Expect(full.Header().Get("Retry-After")).To(gomega.Equal("10"))
	d.ask(http.MethodPost, first.Header().Get("Location")+"/hangup", nil)
	d.g.Eventually(func() int { return call().Code }, patience).Should(gomega.Equal(http.StatusCreated))
}

func TestStopping(t *testing.T) {
	d := open(t, nil)
	d.g.Expect(d.ask(http.MethodPost, "/v1/realtime/calls", strings.NewReader(offer), "Content-Type", "application/sdp").Code).
		To(gomega.Equal(http.StatusCreated))
	location := d.offered("/v1/realtime/calls", "").begun()
	side := d.connect(d.serve()+"/v1/realtime?call_id="+location[strings.LastIndex(location, "/")+1:], "")
	side.next("session.created")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d.g.Expect(d.h.Close(ctx)).To(gomega.Succeed())
	d.g.Expect(side.ended()).To(gomega.Equal(websocket.StatusGoingAway))
	now, _ := d.h.Calls()
	d.g.Expect(now).To(gomega.BeZero())
	d.refused(d.ask(http.MethodPost, "/v1/realtime/calls", strings.NewReader(offer), "Content-Type", "application/sdp"),
		http.StatusServiceUnavailable, "server_stopping", "in a moment")
}

// local returns a request that came to that address, as net/http notes it in the context.
func local(r *http.Request, addr string) *http.Request {
	a, _ := net.ResolveTCPAddr("tcp", addr) // it is a literal
	return r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(a)))
}

package signal

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/wire"
)

// answered is the answer to an offer.
type answered struct {
	d *desk
	*httptest.ResponseRecorder
}

// begun checks that the call has begun, and gives its address.
func (a answered) begun() (location string) {
	a.d.t.Helper()
	a.d.g.Expect(a.Code).To(gomega.Equal(http.StatusCreated), a.Body.String())
	return a.Header().Get("Location")
}

func (a answered) refused(status int, code string) {
	a.d.t.Helper()
	a.d.refused(a.ResponseRecorder, status, code, "")
}

// plug is a WebSocket to the desk.
type plug struct {
	d      *desk
	ws     *websocket.Conn
	answer *http.Response
	seen   map[string]int // events that next has read, by name
	told   string         // the token of the answer to its hello
	last   string         // that answer
}

// house serves the desk on a port of its own until the test ends, and gives its address.
func (d *desk) house() (address string) {
	s := httptest.NewServer(d.h)
	d.t.Cleanup(s.Close)
	return "ws" + strings.TrimPrefix(s.URL, "http")
}

// plug opens a WebSocket, with a key as its subprotocol as a page does it.
func (d *desk) plug(address, bearer string) *plug {
	d.t.Helper()
	p, answer, err := d.dial(address, bearer)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	d.t.Cleanup(func() { _ = p.CloseNow() }) // the test may have closed it
	p.SetReadLimit(-1)
	return &plug{d, p, answer, map[string]int{}, "", ""}
}

func (d *desk) dial(address, bearer string) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	return websocket.Dial(ctx, address, &websocket.DialOptions{ //nolint:bodyclose // Dial has read it
		Subprotocols: []string{"realtime", keyProtocol + bearer, "openai-organization.x", "openai-project.y", "openai-agents-sdk.1.2.3"},
		HTTPClient:   &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, CompressionMode: websocket.CompressionContextTakeover,
	})
}

// unplugged checks that a WebSocket is refused.
func (d *desk) unplugged(address, bearer string, status int, code string) {
	d.t.Helper()
	_, answer, err := d.dial(address, bearer) //nolint:bodyclose // Dial has read it
	d.g.Expect(err).To(gomega.HaveOccurred())
	text, err := io.ReadAll(answer.Body)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	d.g.Expect(answer.StatusCode).To(gomega.Equal(status), string(text))
	d.g.Expect(string(text)).To(gomega.ContainSubstring(`"` + code + `"`))
}

func (p *plug) send(text string) {
	p.d.t.Helper()
	ctx, cancel := context.WithTimeout(p.d.t.Context(), patience)
	defer cancel()
	p.d.g.Expect(p.ws.Write(ctx, websocket.MessageText, []byte(text))).To(gomega.Succeed())
}

// next reads until an event of that name.
func (p *plug) next(name string) wire.ServerEvent {
	p.d.t.Helper()
	ctx, cancel := context.WithTimeout(p.d.t.Context(), patience)
	defer cancel()
	for {
		_, text, err := p.ws.Read(ctx)
		p.d.g.Expect(err).NotTo(gomega.HaveOccurred(), name)
		e, err := wire.DecodeServer(text)
		p.d.g.Expect(err).NotTo(gomega.HaveOccurred(), string(text))
		p.seen[e.Type()]++
		if e.Type() == name {
			return e
		}
	}
}

// first reads one event.
func (p *plug) first() wire.ServerEvent {
	p.d.t.Helper()
	ctx, cancel := context.WithTimeout(p.d.t.Context(), patience)
	defer cancel()
	_, text, err := p.ws.Read(ctx)
	p.d.g.Expect(err).NotTo(gomega.HaveOccurred())
	e, err := wire.DecodeServer(text)
	p.d.g.Expect(err).NotTo(gomega.HaveOccurred(), string(text))
	return e
}

// refused waits for an error event.
func (p *plug) refused(code string) wire.Error {
	p.d.t.Helper()
	e, _ := p.next("error").(*wire.ErrorEvent)
	p.d.g.Expect(e.Error.Code).To(gomega.Equal(code), e.Error.Message)
	return e.Error
}

// ended reads until the server closes, and gives its code.
func (p *plug) ended() websocket.StatusCode {
	ctx, cancel := context.WithTimeout(p.d.t.Context(), patience)
	defer cancel()
	for {
		if _, _, err := p.ws.Read(ctx); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

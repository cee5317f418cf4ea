package httpapi

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/coder/websocket"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/httpapi/internal/bearer"
	"github.com/antiphon-rt/antiphon/wire"
)

// The test kit: HTTP requests to a Handler, and WebSocket clients.

const keyProtocol = bearer.KeyProtocol

// answered is the response to an offer.
type answered struct {
	d *harness
	*httptest.ResponseRecorder
}

// begun checks that the call has begun, and returns its location.
func (a answered) begun() (location string) {
	a.d.t.Helper()
	a.d.g.Expect(a.Code).To(gomega.Equal(http.StatusCreated), a.Body.String())
	return a.Header().Get("Location")
}

func (a answered) refused(status int, code string) {
	a.d.t.Helper()
	a.d.refused(a.ResponseRecorder, status, code, "")
}

// socketClient is a WebSocket client of a harness.
type socketClient struct {
	d      *harness
	ws     *websocket.Conn
	answer *http.Response
	seen   map[string]int // events that next has read, by name
	told   string         // the token in the acknowledgement of its hello
	last   string         // event_id of that acknowledgement
}

// serve serves the handler on a port of its own until the test ends, and returns the WebSocket address.
func (d *harness) serve() (address string) {
	s := httptest.NewServer(d.h)
	d.t.Cleanup(s.Close)
	return "ws" + strings.TrimPrefix(s.URL, "http")
}

// connect opens a WebSocket. It sends the key as a subprotocol, as a page does.
func (d *harness) connect(address, bearer string) *socketClient {
	d.t.Helper()
	p, answer, err := d.dial(address, bearer)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	d.t.Cleanup(func() { _ = p.CloseNow() }) // the test may have closed it
	p.SetReadLimit(-1)
	return &socketClient{d, p, answer, map[string]int{}, "", ""}
}

func (d *harness) dial(address, bearer string) (*websocket.Conn, *http.Response, error) {
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	return websocket.Dial(ctx, address, &websocket.DialOptions{ //nolint:bodyclose // Dial has read it
		Subprotocols: []string{"realtime", keyProtocol + bearer, "openai-organization.x", "openai-project.y", "openai-agents-sdk.1.2.3"},
		HTTPClient:   &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, CompressionMode: websocket.CompressionContextTakeover,
	})
}

// connectRefused checks that the server refuses a WebSocket.
func (d *harness) connectRefused(address, bearer string, status int, code string) {
	d.t.Helper()
	_, answer, err := d.dial(address, bearer) //nolint:bodyclose // Dial has read it
	d.g.Expect(err).To(gomega.HaveOccurred())
	text, err := io.ReadAll(answer.Body)
	d.g.Expect(err).NotTo(gomega.HaveOccurred())
	d.g.Expect(answer.StatusCode).To(gomega.Equal(status), string(text))
	d.g.Expect(string(text)).To(gomega.ContainSubstring(`"` + code + `"`))
}

func (p *socketClient) send(text string) {
	p.d.t.Helper()
	ctx, cancel := context.WithTimeout(p.d.t.Context(), patience)
	defer cancel()
	p.d.g.Expect(p.ws.Write(ctx, websocket.MessageText, []byte(text))).To(gomega.Succeed())
}

// next reads events until one of that type, and returns it.
func (p *socketClient) next(name string) wire.ServerEvent {
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

// first reads and returns one event.
func (p *socketClient) first() wire.ServerEvent {
	p.d.t.Helper()
	ctx, cancel := context.WithTimeout(p.d.t.Context(), patience)
	defer cancel()
	_, text, err := p.ws.Read(ctx)
	p.d.g.Expect(err).NotTo(gomega.HaveOccurred())
	e, err := wire.DecodeServer(text)
	p.d.g.Expect(err).NotTo(gomega.HaveOccurred(), string(text))
	return e
}

// refused waits for an error event with that code.
func (p *socketClient) refused(code string) wire.Error {
	p.d.t.Helper()
	e, _ := p.next("error").(*wire.ErrorEvent)
	p.d.g.Expect(e.Error.Code).To(gomega.Equal(code), e.Error.Message)
	return e.Error
}

// ended reads until the server closes the connection, and returns the close code.
func (p *socketClient) ended() websocket.StatusCode {
	ctx, cancel := context.WithTimeout(p.d.t.Context(), patience)
	defer cancel()
	for {
		if _, _, err := p.ws.Read(ctx); err != nil {
			return websocket.CloseStatus(err)
		}
	}
}

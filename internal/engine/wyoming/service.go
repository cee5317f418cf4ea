package wyoming

// A service: its address, its deadlines, and what it says about itself.

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Defaults of the deadlines of a Service.
const (
	DefaultConnect   = 3 * time.Second
	DefaultFirstByte = 30 * time.Second
	DefaultIdle      = 15 * time.Second
)

// Service says where a service is.
type Service struct {
	// URL is "tcp://host:port", with the usual ports 10300 for recognisers and 10200 for synthesizers, or "unix:///path".
	URL string

	Connect   time.Duration // limit of the connection; 0: DefaultConnect
	FirstByte time.Duration // longest wait for the begin of an answer; 0: DefaultFirstByte
	Idle      time.Duration // longest pause within an answer, and longest time for a write; 0: DefaultIdle
}

// service calls a Service for one stage.
type service struct {
	Service
	stage         string
	network, dial string
	info          atomic.Pointer[info] // the last answer to "describe"; nil before the first
	last          remote.Outcome       // of the last call
}

// newService checks the settings of a service.
func newService(stage string, s Service) (*service, error) {
	u, err := url.Parse(s.URL)
	v := &service{Service: s, stage: stage}
	switch {
	case s.URL == "":
		return nil, errors.New("url: no address; want one such as tcp://127.0.0.1:10300")
	case err != nil:
		return nil, errors.New("url: the address cannot be read; want one such as tcp://127.0.0.1:10300")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("url: the address has more than host and port; want one such as tcp://127.0.0.1:10300")
	case u.Scheme == "tcp" && u.Port() != "" && strings.Trim(u.Path, "/") == "":
		v.network, v.dial = "tcp", u.Host
	case u.Scheme == "unix" && u.Host == "" && u.Path != "":
		v.network, v.dial = "unix", u.Path
	default:
		return nil, fmt.Errorf("url: %q is no address of a Wyoming service; want one such as tcp://127.0.0.1:10300 or unix:///run/wyoming.sock", s.URL)
	}
	v.Connect = cmp.Or(s.Connect, DefaultConnect)
	v.FirstByte = cmp.Or(s.FirstByte, DefaultFirstByte)
	v.Idle = cmp.Or(s.Idle, DefaultIdle)
	return v, nil
}

// component returns the present state of the stage.
func (s *service) component(detail string) pipeline.Component {
	at := s.URL
	if detail != "" {
		at = detail + " at " + s.URL
	}
	return s.last.Component(s.stage, "wyoming", at)
}

// conn is a connection to a service. It ends with its context.
type conn struct {
	net.Conn
	service *service
	ctx     context.Context //nolint:containedctx // the connection ends with it
	stop    func() bool
	in      *bufio.Reader
	asked   string // the last event that was sent
	begun   bool   // the service has answered it
}

// open connects to the service. The caller closes the connection.
func (s *service) open(ctx context.Context) (*conn, error) {
	c := &conn{service: s, ctx: ctx}
	wait, cancel := context.WithTimeout(ctx, s.Connect)
	defer cancel()
	var d net.Dialer
	raw, err := d.DialContext(wait, s.network, s.dial)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &pipeline.StageError{
			Stage: s.stage, Err: fmt.Errorf("%s cannot be reached: %w", s.URL, err), Hint: "check that the service runs, and the url in the configuration",
		}
	}
	c.Conn, c.in = raw, bufio.NewReader(raw)
	c.stop = context.AfterFunc(ctx, func() { _ = raw.Close() }) // ends what waits for the service
	return c, nil
}

func (c *conn) Close() error {
	c.stop()
	return c.Conn.Close()
}

func (c *conn) send(kind string, data any, payload []byte) error {
	b, err := encode(kind, data, payload)
	if err == nil {
		c.asked, c.begun = kind, false
		err = c.SetWriteDeadline(time.Now().Add(c.service.Idle))
	}
	if err == nil {
		_, err = c.Write(b)
	}
	return c.fail(err)
}

// next returns the next event. The first one after a send has more time. An event "error" is an error.
func (c *conn) next() (event, error) {
	limit := c.service.Idle
	if !c.begun {
		limit = max(limit, c.service.FirstByte)
	}
	if err := c.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return event{}, c.fail(err)
	}
	e, err := c.read()
	c.begun = true
	if errors.Is(err, os.ErrDeadlineExceeded) && c.ctx.Err() == nil {
		return event{}, c.wrong(fmt.Errorf("sent nothing for %v after %s", limit, c.asked))
	}
	return e, c.fail(err)
}

// read returns the next event, without a limit of time. Its errors are for fail.
func (c *conn) read() (event, error) {
	e, err := decode(c.in)
	if err != nil || e.kind != "error" {
		return e, err
	}
	var said struct{ Text, Code string }
	if err := e.into(&said); err != nil {
		return e, err
	}
	return e, c.wrong(fmt.Errorf("answered with an error: %s", remote.Line(cmp.Or(said.Text, said.Code))))
}

// fail turns an error of the connection into one of the stage.
func (c *conn) fail(err error) error {
	var stage *pipeline.StageError
	switch {
	case err == nil:
		return nil
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case errors.As(err, &stage):
		return err
	case errors.Is(err, errProtocol):
		return &pipeline.StageError{Stage: c.service.stage, Err: fmt.Errorf("%s %w", c.service.URL, err), Hint: "check url and kind in the configuration"}
	case errors.Is(err, errAnswer):
		return c.wrong(err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return c.wrong(fmt.Errorf("took no data for %v", c.service.Idle))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return c.wrong(fmt.Errorf("closed the connection before the end of its answer to %s", cmp.Or(c.asked, "the connection")))
	}
	return c.wrong(fmt.Errorf("broke the connection: %w", err))
}

// wrong returns the error of the stage for something that the service did.
func (c *conn) wrong(cause error) error {
	return &pipeline.StageError{Stage: c.service.stage, Err: fmt.Errorf("%s %w", c.service.URL, cause)}
}

// info is what a service says about itself.
type info struct {
	ASR []program `json:"asr"`
	TTS []program `json:"tts"`
}

// program is one program of a service.
type program struct {
	Name        string    `json:"name"`
	Version     string    `json:"version"`
	Models      []variant `json:"models"` // of a recogniser
	Voices      []variant `json:"voices"` // of a synthesizer
	Installed   *bool     `json:"installed"`
	Transcripts bool      `json:"supports_transcript_streaming"`
	Synthesis   bool      `json:"supports_synthesize_streaming"`
}

// variant is a model or a synthesis voice.
type variant struct {
	Name      string   `json:"name"`
	Installed *bool    `json:"installed"`
	Languages []string `json:"languages"`
}

// describe asks the service what it is, and keeps the answer. Each call asks anew.
func (s *service) describe(ctx context.Context) (*info, error) {
	c, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.send("describe", nil, nil); err != nil {
		return nil, err
	}
	for {
		e, err := c.next()
		if err != nil {
			return nil, err
		}
		if e.kind != "info" {
			continue
		}
		i := &info{}
		if err := e.into(i); err != nil {
			return nil, c.fail(err)
		}
		if s.stage == pipeline.StageTranscriber && len(i.ASR) == 0 || s.stage == pipeline.StageSynthesizer && len(i.TTS) == 0 {
			return nil, &pipeline.StageError{
				Stage: s.stage, Err: fmt.Errorf("%s is a Wyoming service of another kind", s.URL), Hint: "the usual ports are 10300 for recognisers and 10200 for synthesizers",
			}
		}
		s.info.Store(i)
		return i, nil
	}
}

// known returns what the service has said about itself, and asks it if it has said nothing yet.
func (s *service) known(ctx context.Context) (*info, error) {
	if i := s.info.Load(); i != nil {
		return i, nil
	}
	return s.describe(ctx)
}

// Describe asks whoever is at the other end of a connection what it is. It returns the names of the recognisers and synthesizers that a service has.
func Describe(conn io.ReadWriter) (recognisers, synthesizers []string, err error) {
	question, err := encode("describe", nil, nil)
	if err == nil {
		_, err = conn.Write(question)
	}
	if err != nil {
		return nil, nil, err
	}
	var i info
	e, err := decode(bufio.NewReader(conn))
	if err == nil {
		err = e.into(&i)
	}
	if err == nil && e.kind != "info" {
		err = errAnswer
	}
	return installed(i.ASR), installed(i.TTS), err
}

// installed returns the names of the programs that are installed.
func installed(all []program) (names []string) {
	for _, p := range all {
		if p.Installed == nil || *p.Installed {
			names = append(names, p.Name)
		}
	}
	return names
}

package rig

// A server in the test's own process, with the Talk page, its record and its trace.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/antiphon-rt/antiphon/internal/protocolcheck"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/web"
)

// Server is a whole server in this process, with the Talk page, on a free port. Close it.
type Server struct {
	URL    string
	Events *Lines // the events of the protocol, as --record writes them
	Steps  *Lines // the steps of the machines, as --trace writes them

	server *server.Server
	http   *httptest.Server
	trace  *os.File // nil, or the file that `make trace-check` reads
	record *os.File // nil, or the record that belongs to the trace

	logbooks string // a folder; each session plays again at the end
}

// Serve starts a server. The caller closes the pipeline. Pages of these origins may call the server, besides its own pages.
func Serve(p *pipeline.Pipeline, logger *slog.Logger, origins ...string) (*Server, error) {
	return ServeWith(server.Config{Pipeline: p, Logger: logger, Access: server.Access{Origins: origins}})
}

// ServeWith starts a server of a configuration.
func ServeWith(cfg server.Config) (*Server, error) {
	s := &Server{Events: &Lines{}, Steps: &Lines{}}
	var err error
	if s.trace, err = protocolcheck.Trace("browser"); err != nil {
		return nil, err
	}
	if s.record, err = protocolcheck.RecordOf(s.trace); err != nil {
		return nil, errors.Join(err, s.trace.Close())
	}
	if s.logbooks, err = os.MkdirTemp("", "logbooks"); err != nil {
		return nil, err
	}
	cfg.Page, cfg.Loopback = web.Handler(web.Options{Console: cfg.Operators != nil}), true
	cfg.Record, cfg.Watch.Trace, cfg.Logbooks = protocolcheck.Both(s.Events, s.record), protocolcheck.Both(s.Steps, s.trace), s.logbooks
	s.server, err = server.New(cfg)
	if err != nil {
		return nil, err
	}
	s.http = httptest.NewServer(s.server)
	s.URL = s.http.URL
	return s, nil
}

func (s *Server) Calls() int {
	now, _ := s.server.Calls()
	return now
}

// Close ends the calls and the server, and joins both.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	err := errors.Join(s.server.Close(ctx), s.http.Config.Shutdown(ctx))
	s.http.Close()
	err = errors.Join(err, Replay(s.logbooks), os.RemoveAll(s.logbooks))
	if s.trace != nil {
		err = errors.Join(err, s.trace.Close(), s.record.Close())
	}
	return err
}

// Lines collects the lines that several goroutines write.
type Lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Lines) All() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Split(strings.TrimSpace(l.text.String()), "\n")
}

func (l *Lines) Reader() io.Reader {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.NewReader(bytes.Clone(l.text.Bytes()))
}

// Recorded is one line of --record.
type Recorded struct {
	T       time.Time
	Session string
	Dir     string
	Event   struct {
		Type       string
		ItemID     string `json:"item_id"`
		ResponseID string `json:"response_id"`
		AudioEndMS int    `json:"audio_end_ms"`
		Transcript string
	}
}

// Recorded returns the events of this type so far; all events for an empty type.
func (s *Server) Recorded(kind string) ([]Recorded, error) {
	all, err := decode[Recorded](s.Events)
	if kind == "" {
		return all, err
	}
	return slices.DeleteFunc(all, func(r Recorded) bool { return r.Event.Type != kind }), err
}

// Playout returns the names of the playout machines' actions so far.
func (s *Server) Playout() ([]string, error) {
	type step struct{ Machine, Action string }
	all, err := decode[step](s.Steps)
	var names []string
	for _, s := range all {
		if s.Machine == "playout" && s.Action != "" {
			names = append(names, s.Action)
		}
	}
	return names, err
}

// decode reads every line so far.
func decode[T any](lines *Lines) ([]T, error) {
	var found []T
	d := json.NewDecoder(lines.Reader())
	for {
		var one T
		switch err := d.Decode(&one); {
		case errors.Is(err, io.EOF):
			return found, nil
		case err != nil:
			return nil, err
		}
		found = append(found, one)
	}
}

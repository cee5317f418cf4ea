package server

// The console of calls, which operators see.

import (
	"fmt"
	"time"

	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/internal/console"
	"github.com/antiphon-rt/antiphon/internal/httpapi"
	"github.com/antiphon-rt/antiphon/wire"
)

// console returns the configuration of the console.
func (w *Watch) console() console.Config {
	return console.Config{Keys: w.Operators, Words: w.ConsoleWords, Node: w.Node, Version: Version, Logbooks: w.Logbooks}
}

// showCalls has the sessions report to the console, too.
func (s *Server) showCalls(sc *httpapi.Config) {
	record, timed, trace := sc.Record, sc.Timed, sc.Trace
	sc.Begins, sc.Ends = s.console.Begins, s.console.Ends
	sc.Record = func(session, dir string, text []byte) {
		s.console.Event(session, dir, text)
		if record != nil {
			record(session, dir, text)
		}
	}
	sc.Timed = func(session string, t *wire.AntiphonTurnMetrics, spoke time.Time) {
		timed(session, t, spoke)
		s.console.Timed(session, t, spoke)
	}
	sc.Trace = func(session string, step coord.Step) {
		trace(session, step)
		s.console.Step(session, step)
	}
}

// checkOperators refuses a key that is both an operator's and an API key: whoever has an API key would see the calls of all.
func checkOperators(operators, keys Keys) error {
	for _, o := range operators {
		for _, k := range keys {
			if o.Sum == k.Sum {
				return fmt.Errorf("server: the operator's key %q is also an API key, whose holder would see the calls of all: make another one with antiphon key", o.Name)
			}
		}
	}
	return nil
}

// EndStreams ends the streams of the console, for which an HTTP server waits when it stops: see http.Server.RegisterOnShutdown.
func (s *Server) EndStreams() {
	if s.console != nil {
		s.console.EndStreams()
	}
}

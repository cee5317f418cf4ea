// Package pionlog is the bridge from pion's loggers to slog.
package pionlog

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"time"

	"github.com/pion/logging"
)

// Factory makes loggers for pion that write to a slog.Logger. pion's errors become warnings, because the client causes most of
// them: a stranger's packet may cause one, so each kind of error is a warning once a minute. Everything else becomes debug messages, without traces.
type Factory struct {
	to     *slog.Logger
	warned *sync.Map // when an error of each format was last a warning
}

// New returns a Factory that writes to a logger.
func New(to *slog.Logger) Factory { return Factory{to, &sync.Map{}} }

// NewLogger implements logging.LoggerFactory.
func (f Factory) NewLogger(scope string) logging.LeveledLogger {
	return &logger{f.to.With("pion", scope), f.warned}
}

type logger Factory

// level returns the level of an error with a format.
func (l *logger) level(format string) slog.Level {
	if last, known := l.warned.Load(format); known && time.Since(last.(time.Time)) < time.Minute {
		return slog.LevelDebug
	}
	l.warned.Store(format, time.Now())
	return slog.LevelWarn
}

func (l *logger) Trace(string)          {}
func (l *logger) Tracef(string, ...any) {}

func (l *logger) Debug(msg string)               { l.log(slog.LevelDebug, msg) }
func (l *logger) Debugf(format string, a ...any) { l.logf(slog.LevelDebug, format, a) }
func (l *logger) Info(msg string)                { l.log(slog.LevelDebug, msg) }
func (l *logger) Infof(format string, a ...any)  { l.logf(slog.LevelDebug, format, a) }
func (l *logger) Warn(msg string)                { l.log(slog.LevelDebug, msg) }
func (l *logger) Warnf(format string, a ...any)  { l.logf(slog.LevelDebug, format, a) }
func (l *logger) Error(msg string)               { l.log(l.level(""), msg) }
func (l *logger) Errorf(format string, a ...any) { l.logf(l.level(format), format, a) }

func (l *logger) log(level slog.Level, msg string) {
	l.to.Log(context.Background(), level, password.ReplaceAllString(msg, "$1***"))
}

// password finds the passwords of ICE in pion's messages and in SDP. Who knows one can send packets in the name of the client.
var password = regexp.MustCompile(`(?i)((?:pwd|passw(?:or)?d)"?\s*[:=]\s*)("[^"]*"|\S+)`)

// logf formats a message only if its level is enabled.
func (l *logger) logf(level slog.Level, format string, a []any) {
	if l.to.Enabled(context.Background(), level) {
		l.log(level, fmt.Sprintf(format, a...))
	}
}

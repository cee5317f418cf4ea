// Package pionlog is the bridge from pion's loggers to slog.
package pionlog

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"

	"github.com/pion/logging"
)

// Factory makes loggers for pion that write to a slog.Logger. pion's errors become warnings, because the client causes most of
// them. Everything else becomes debug messages, without traces.
type Factory struct{ To *slog.Logger }

// NewLogger implements logging.LoggerFactory.
func (f Factory) NewLogger(scope string) logging.LeveledLogger {
	return &logger{to: f.To.With("pion", scope)}
}

type logger struct{ to *slog.Logger }

func (l *logger) Trace(string)          {}
func (l *logger) Tracef(string, ...any) {}

func (l *logger) Debug(msg string)               { l.log(slog.LevelDebug, msg) }
func (l *logger) Debugf(format string, a ...any) { l.logf(slog.LevelDebug, format, a) }
func (l *logger) Info(msg string)                { l.log(slog.LevelDebug, msg) }
func (l *logger) Infof(format string, a ...any)  { l.logf(slog.LevelDebug, format, a) }
func (l *logger) Warn(msg string)                { l.log(slog.LevelDebug, msg) }
func (l *logger) Warnf(format string, a ...any)  { l.logf(slog.LevelDebug, format, a) }
func (l *logger) Error(msg string)               { l.log(slog.LevelWarn, msg) }
func (l *logger) Errorf(format string, a ...any) { l.logf(slog.LevelWarn, format, a) }

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

package rtc

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/pion/logging"
)

// The bridge from pion's loggers to slog.

// loggers makes loggers for pion that write to a slog.Logger. pion's errors become warnings, because the client causes most of
// them. Everything else becomes debug messages, without traces.
type loggers struct{ to *slog.Logger }

func (l loggers) NewLogger(scope string) logging.LeveledLogger {
	return &logger{to: l.to.With("pion", scope)}
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
	l.to.Log(context.Background(), level, msg)
}

// logf formats a message only if its level is enabled.
func (l *logger) logf(level slog.Level, format string, a []any) {
	if l.to.Enabled(context.Background(), level) {
		l.log(level, fmt.Sprintf(format, a...))
	}
}

package rtc

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/pion/logging"
)

// loggers hands pion loggers that write to ours. pion's errors become warnings, for most of them are the other
// side's doing; all else is detail for debugging, and its traces are left out.
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

// logf formats only what somebody will read.
func (l *logger) logf(level slog.Level, format string, a []any) {
	if l.to.Enabled(context.Background(), level) {
		l.log(level, fmt.Sprintf(format, a...))
	}
}

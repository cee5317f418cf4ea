package llm

// One answer while it arrives: its text without thoughts, its tool calls, its end and its usage.

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/engine/remote"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// The ways in which an answer ends.
const (
	finishStop   = "stop"
	finishLength = "length"
	finishFilter = "content_filter"
)

// errThinks: the model has thought for longer than Config.MaxThinking.
var errThinks = errors.New("thinks for longer than")

// answer gets the pieces of one answer and gives the session its events.
type answer struct {
	model   *Model
	emit    func(pipeline.ModelEvent) error
	refused error // what emit returned
	think   thinkFilter
	calls   calls
	usage   *pipeline.Usage // nil until the server says it
	finish  string          // why the answer has ended; empty: it has not

	written int  // bytes of text and arguments
	spoke   bool // there is text or a tool call

	thinking, reported time.Time // when the first thought came, and when the last report of it went out
}

func newAnswer(m *Model, emit func(pipeline.ModelEvent) error) *answer {
	a := &answer{model: m, emit: emit}
	a.think.inside = m.habits.startsThinking()
	a.calls.emit = a.send
	return a
}

func (a *answer) send(e pipeline.ModelEvent) error {
	if err := a.emit(e); err != nil {
		a.refused = err
		return err
	}
	return nil
}

// say takes the next piece of the text, in which thoughts may stand between tags.
func (a *answer) say(piece string) error {
	text := a.think.push(piece)
	if a.think.thinking() {
		if err := a.thought(); err != nil {
			return err
		}
	}
	return a.write(text)
}

// write sends text without thoughts.
func (a *answer) write(text string) error {
	if !a.spoke {
		text = strings.TrimLeft(text, " \t\r\n")
	}
	if text == "" {
		return nil
	}
	a.spoke = true
	if err := a.count(len(text)); err != nil {
		return err
	}
	return a.send(pipeline.TextDelta{Text: text})
}

// count adds bytes to the size of the answer, which has a limit.
func (a *answer) count(n int) error {
	if a.written += n; a.written > maxText {
		return fmt.Errorf("sent an answer of more than %d bytes", maxText)
	}
	return nil
}

// thought notes that the model has sent a thought. The session hears of it at once, and then at times.
func (a *answer) thought() error {
	now := time.Now()
	if a.spoke {
		return nil
	}
	if a.thinking.IsZero() {
		a.thinking = now
	}
	if limit := a.model.config.MaxThinking; now.Sub(a.thinking) > limit {
		return fmt.Errorf("%w %v", errThinks, limit)
	}
	if !a.reported.IsZero() && now.Sub(a.reported) < pulse {
		return nil
	}
	a.reported = now
	return a.send(pipeline.Thinking{})
}

func (a *answer) call(p callPiece) error {
	a.spoke = true
	if err := a.count(len(p.name) + len(p.arguments)); err != nil {
		return err
	}
	return a.calls.add(p)
}

// ends notes why the answer has ended. Only the first call counts.
func (a *answer) ends(why string) {
	if a.finish == "" {
		a.finish = why
	}
}

// end sends what is left at the end of the answer. It returns pipeline.ErrMaxTokens for an answer that was cut at the limit.
func (a *answer) end() error {
	rest := a.think.flush()
	if a.think.orphan {
		a.model.habits.learnThinking()
	}
	if err := a.write(rest); err != nil {
		return err
	}
	switch a.finish {
	case finishLength:
		return pipeline.ErrMaxTokens
	case finishFilter:
		return errors.New("cut the answer with its content filter")
	}
	return a.calls.end()
}

// fails returns the error that an event of the server reports.
func (a *answer) fails(data string) error {
	return fmt.Errorf("reports: %s", remote.FirstLine([]byte(data), a.model.config.Server.Key))
}

// tokens returns the usage of the server, or an estimate.
func (a *answer) tokens(m *Model, r pipeline.Request) pipeline.Usage {
	if a.usage != nil {
		return *a.usage
	}
	return pipeline.Usage{InputTokens: m.CountTokens(text(r)), OutputTokens: (a.written + 3) / 4}
}

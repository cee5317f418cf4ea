package terminal

// This file prints a conversation.

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/antiphon-rt/antiphon/sdk"
)

// screen prints a conversation. On a terminal it prints each finished entry on a line, and below them a status line that it
// repaints. Elsewhere it prints the agent's answers to Out, and what the user said to Err, one line each. Only one goroutine at a time may use it.
type screen struct {
	console Console
	printed map[string]bool // item ids of the entries that are printed
	status  string          // the status line that is on the terminal
	problem string          // the error that was printed last
	last    sdk.Snapshot
}

func newScreen(c Console) *screen { return &screen{console: c, printed: map[string]bool{}} }

func (s *screen) show(now sdk.Snapshot) {
	s.last = now
	s.printEntries(now, now.State == sdk.Listening)
	s.forget(now.Transcript)
	problem := ""
	if now.Err != nil && now.State != sdk.Failed { // Talk returns the error that ends the call
		problem = Clean(now.Err.Error())
	}
	if problem != "" && problem != s.problem {
		s.printLine(s.console.Err, "! "+problem)
	}
	s.problem = problem
	if s.console.OutTerminal {
		s.paintStatus(now)
	}
}

// printEntries prints the finished entries that are not printed yet, in their order. The agent's last entry may still be cut by
// an interruption, so it counts as finished only where over is true.
func (s *screen) printEntries(now sdk.Snapshot, over bool) {
	last := -1
	for i, e := range now.Transcript {
		if e.Role == sdk.Agent {
			last = i
		}
	}
	for i, e := range now.Transcript {
		if e.Live || i == last && !over {
			return
		}
		if !s.printed[e.ItemID] {
			s.printed[e.ItemID] = true
			s.printEntry(e)
		}
	}
}

// forget removes the ids of entries that have left the transcript, so that printed does not grow without limit.
func (s *screen) forget(kept []sdk.Entry) {
	if len(s.printed) < 2*len(kept)+64 {
		return
	}
	printed := make(map[string]bool, len(kept))
	for _, e := range kept {
		printed[e.ItemID] = s.printed[e.ItemID]
	}
	s.printed = printed
}

func (s *screen) printEntry(e sdk.Entry) {
	text := Clean(e.Text)
	if e.Interrupted {
		text += " ..."
	}
	if e.Note != "" {
		text = strings.TrimSpace(text + " (" + Clean(e.Note) + ")")
	}
	switch {
	case text == "" || e.ToolCall != nil:
	case s.console.OutTerminal && e.Role == sdk.Agent:
		s.printLine(s.console.Out, "agent  "+text)
	case s.console.OutTerminal:
		s.printLine(s.console.Out, "you    "+text)
	case e.Role == sdk.Agent:
		fmt.Fprintln(s.console.Out, text)
	case e.Spoken:
		fmt.Fprintln(s.console.Err, "you:", text)
	}
}

// paintStatus repaints the status line if it has changed.
func (s *screen) paintStatus(now sdk.Snapshot) {
	status := now.State.String()
	if now.Interrupting {
		status = "interrupting?"
	}
	if now.Muted {
		status += ", muted"
	}
	for _, e := range now.Transcript {
		if e.Live && e.Text != "" {
			status += ": " + tail(Clean(e.Text))
		}
	}
	if status != s.status {
		s.status = status
		fmt.Fprint(s.console.Out, clearLine+"["+status+"] ")
	}
}

// clearLine moves the cursor to the begin of its line and clears that line.
const clearLine = "\r\x1b[2K"

// printLine prints a line in place of the status line, which the next paintStatus prints again below it.
func (s *screen) printLine(w io.Writer, text string) {
	if s.console.OutTerminal {
		fmt.Fprint(s.console.Out, clearLine)
		s.status = ""
	}
	fmt.Fprintln(w, text)
}

// end prints the entries that are left and clears the status line.
func (s *screen) end() {
	s.printEntries(s.last, true)
	if s.console.OutTerminal {
		fmt.Fprint(s.console.Out, clearLine)
	}
}

// maxTail is how much of a caption the status line shows, in characters.
const maxTail = 60

// tail returns the last maxTail characters of text, with dots before them if there are more.
func tail(text string) string {
	r := []rune(text)
	if len(r) <= maxTail {
		return text
	}
	return "..." + string(r[len(r)-maxTail:])
}

// Clean removes from text what would control a terminal or change the order of its characters: control characters, and the controls of
// bidirectional text. The text comes from the server, which must not control the terminal.
func Clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r >= firstTag && r <= lastTag:
			return -1
		}
		return r
	}, text))
}

// Tag characters spell text that nobody sees.
const firstTag, lastTag = 0xE0000, 0xE007F

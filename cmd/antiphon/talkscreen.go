package main

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/antiphon-rt/antiphon/sdk"
)

// screen shows a conversation: on a terminal what is finished line by line, and under it what is going on; elsewhere the answers, a
// line each. It is told by one goroutine.
type screen struct {
	console
	done    map[string]bool // the entries that are printed
	status  string
	problem string
	last    sdk.Snapshot
}

func newScreen(c console) *screen { return &screen{console: c, done: map[string]bool{}} }

// show prints what is new.
func (s *screen) show(now sdk.Snapshot) {
	s.last = now
	s.entries(now, now.State == sdk.Listening)
	s.forget(now.Transcript)
	problem := ""
	if now.Err != nil && now.State != sdk.Failed { // what the call fails with is told at its end
		problem = clean(now.Err.Error())
	}
	if problem != "" && problem != s.problem {
		s.line(s.err, "! "+problem)
	}
	s.problem = problem
	if s.shown {
		s.paint(now)
	}
}

// entries prints those that are finished. The agent's last one may still be cut short, unless all is over.
func (s *screen) entries(now sdk.Snapshot, over bool) {
	last := -1
	for i, e := range now.Transcript {
		if e.Role == sdk.Agent {
			last = i
		}
	}
	for i, e := range now.Transcript {
		if e.Live || i == last && !over {
			return // in their order
		}
		if !s.done[e.ItemID] {
			s.done[e.ItemID] = true
			s.entry(e)
		}
	}
}

// forget lets go of entries that are not in the transcript any more.
func (s *screen) forget(kept []sdk.Entry) {
	if len(s.done) < 2*len(kept)+64 {
		return
	}
	done := make(map[string]bool, len(kept))
	for _, e := range kept {
		done[e.ItemID] = s.done[e.ItemID]
	}
	s.done = done
}

// entry prints a finished one.
func (s *screen) entry(e sdk.Entry) {
	text := clean(e.Text)
	if e.Interrupted {
		text += " ..."
	}
	if e.Note != "" {
		text = strings.TrimSpace(text + " (" + clean(e.Note) + ")")
	}
	switch {
	case text == "" || e.ToolCall != nil:
	case s.shown && e.Role == sdk.Agent:
		s.line(s.out, "agent  "+text)
	case s.shown:
		s.line(s.out, "you    "+text)
	case e.Role == sdk.Agent:
		fmt.Fprintln(s.out, text)
	case e.Spoken:
		fmt.Fprintln(s.err, "you:", text)
	}
}

// paint renews the line at the bottom.
func (s *screen) paint(now sdk.Snapshot) {
	status := now.State.String()
	if now.Interrupting {
		status = "interrupting?"
	}
	if now.Muted {
		status += ", muted"
	}
	for _, e := range now.Transcript {
		if e.Live && e.Text != "" {
			status += ": " + tail(clean(e.Text))
		}
	}
	if status != s.status {
		s.status = status
		fmt.Fprint(s.out, "\r\x1b[2K["+status+"] ")
	}
}

// line prints one above the line at the bottom.
func (s *screen) line(w interface{ Write([]byte) (int, error) }, text string) {
	if s.shown {
		fmt.Fprint(s.out, "\r\x1b[2K")
		s.status = ""
	}
	fmt.Fprintln(w, text)
}

// end prints what is left, and leaves the terminal as it was.
func (s *screen) end() {
	s.entries(s.last, true)
	if s.shown {
		fmt.Fprint(s.out, "\r\x1b[2K")
	}
}

// maxTail is how much of a caption the line at the bottom has, in characters.
const maxTail = 60

func tail(text string) string {
	r := []rune(text)
	if len(r) <= maxTail {
		return text
	}
	return "..." + string(r[len(r)-maxTail:])
}

// clean takes out what would steer a terminal: the text is the server's.
func clean(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, text))
}

package console

// The logbooks of ended calls, without words: which events came, and which transitions they led to.

import (
	"context"
	"errors"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/call/logbook"
	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
)

// Limits of the logbooks that are shown.
const (
	maxLogbooks = 200
	maxMoments  = 5000 // of a logbook
	maxReading  = 20 * time.Second
)

// Moment is an event of a recorded session that has led to something.
type Moment struct {
	At    time.Time `json:"at"`
	Came  string    `json:"came"` // the type of the event
	Steps []Step    `json:"steps"`
	Sends []string  `json:"sends"` // the types of the events to the client
}

// Recorded is a logbook.
type Recorded struct {
	Since   time.Time `json:"since"`
	Version string    `json:"version"` // of the server
	End     string    `json:"end"`     // why there are no further moments
	Moments []Moment  `json:"moments"`
}

func noLogbook() *answer.Problem {
	return &answer.Problem{Status: http.StatusNotFound, Code: "no_such_logbook", Message: "there is no such logbook: start the server with --logbooks FOLDER; the oldest are removed"}
}

// logbooks answers with the names of the logbooks, the newest first.
func (c *Console) logbooks(w http.ResponseWriter, _ *http.Request) *answer.Problem {
	names, err := logbook.In(c.cfg.Logbooks)
	if c.cfg.Logbooks == "" || err != nil {
		return noLogbook()
	}
	newest := append([]string{}, names[max(0, len(names)-maxLogbooks):]...)
	slices.Reverse(newest)
	answer.JSON(w, http.StatusOK, newest)
	return nil
}

// logbook answers with a logbook. It reads one at a time.
func (c *Console) logbook(w http.ResponseWriter, r *http.Request) *answer.Problem {
	if !c.reading.TryLock() {
		return (&answer.Problem{Status: http.StatusTooManyRequests, Code: "server_busy", Message: "the console is reading another logbook: try again in a moment"}).After(time.Second)
	}
	defer c.reading.Unlock()
	name := r.PathValue("name")
	if c.cfg.Logbooks == "" || !logbook.Named(name) {
		return noLogbook()
	}
	f, err := os.OpenInRoot(c.cfg.Logbooks, name)
	if err != nil {
		return noLogbook()
	}
	defer func() { _ = f.Close() }() // it was only read
	in, err := logbook.NewReader(f)
	if err != nil {
		return &answer.Problem{Status: http.StatusUnprocessableEntity, Code: "unreadable_logbook", Message: err.Error()}
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxReading)
	defer cancel()
	answer.JSON(w, http.StatusOK, recorded(ctx, in))
	return nil
}

// recorded reads a logbook.
func recorded(ctx context.Context, in *logbook.Reader) Recorded {
	all, n := Recorded{Since: in.Header.Began, Version: in.Header.Version, Moments: []Moment{}}, 0
	for len(all.Moments) < maxMoments && ctx.Err() == nil {
		e, err := in.Next()
		if all.End = e.End; err != nil {
			all.End = err.Error()
		}
		if all.End != "" {
			return all
		}
		m := Moment{At: all.Since.Add(time.Duration(e.At) * time.Microsecond), Came: typeOf(string(e.In)), Steps: []Step{}, Sends: []string{}}
		for _, did := range e.Did {
			if text, sends := strings.CutPrefix(did, `sends {"type":"`); sends {
				text, _, _ = strings.Cut(text, `"`)
				m.Sends = append(m.Sends, text)
			} else if s, err := stepOf(did); err == nil {
				n++
				s.N, s.At = n, m.At
				m.Steps = append(m.Steps, s)
			}
		}
		if len(m.Steps)+len(m.Sends) > 0 {
			all.Moments = append(all.Moments, m)
		}
	}
	all.End = "the console shows no more of it: antiphon replay --step has all"
	return all
}

// typeOf returns the type of an event as a logbook has it, such as {"speaking.Delta":...}.
func typeOf(in string) string {
	name, is := strings.CutPrefix(in, `{"`)
	if name, _, _ = strings.Cut(name, `"`); !is || name == "" {
		return "start"
	}
	return name
}

var (
	errNoStep = errors.New("it is no transition")
	name      = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9.]*$`)
)

// stepOf reads a transition as logbook.Deck.Stepped writes it: "turn Idle: Onset{} > Speaking{} + OpenTurn{}". It leaves the fields out.
func stepOf(did string) (s Step, err error) {
	at, rest, is := strings.Cut(did, ": ")
	event, rest, moves := strings.Cut(rest, " > ")
	s.Machine, s.From, _ = strings.Cut(at, " ")
	bare := func(value string) string {
		name, _, _ := strings.Cut(value, "{")
		return name
	}
	to := strings.Split(rest, " + ")
	s.Event, s.To = bare(event), bare(to[0])
	for _, f := range to[1:] {
		s.Effects = append(s.Effects, bare(f))
	}
	names := append([]string{s.Machine, s.From, s.Event, s.To}, s.Effects...)
	if !is || !moves || s.From == s.To && len(s.Effects) == 0 || slices.ContainsFunc(names, func(n string) bool { return !name.MatchString(n) }) {
		return s, errNoStep // or an ignored event, or a text
	}
	return s, nil
}

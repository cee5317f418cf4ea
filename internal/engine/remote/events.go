package remote

// The server-sent events of an answer.

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/tmaxmax/go-sse"
)

// Event is one server-sent event.
type Event struct {
	Type string // the field "event"; empty when the server names none
	Data string // the lines of the fields "data"
}

// Events returns the events of an answer of the type text/event-stream, as each one arrives. An event may have up to limit bytes. An event
// that the end of the answer cuts is left out. The last pair has the error of a *pipeline.StageError or of the context, if there is one.
func (c *Client) Events(answer *http.Response, limit int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for e, err := range sse.Read(answer.Body, &sse.ReadConfig{MaxEventSize: limit}) {
			if errors.Is(err, bufio.ErrTooLong) {
				err = c.Error(answer, fmt.Errorf("sent an event of more than %d bytes", limit), "")
			}
			if err == nil && e.Data == "" {
				continue
			}
			if !yield(Event{e.Type, e.Data}, err) || err != nil {
				return
			}
		}
	}
}

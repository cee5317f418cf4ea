// Package sse reads server-sent events, the form in which model servers stream their answers over HTTP.
//
// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html, section 9.2.6. The fields "id" and "retry" are ignored,
// because an adapter never reconnects to a stream.
package sse

// The reader: turns the lines of a stream into events.

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrTooLong: an event is longer than the limit of the reader.
var ErrTooLong = errors.New("sent an event that is too long")

// Event is one event of a stream.
type Event struct {
	Name string // the field "event"; empty for a plain message
	Data []byte // the field "data"; several lines are joined by line feeds
}

// Reader reads events from a stream. Only one goroutine at a time may use it.
type Reader struct {
	lines *bufio.Reader
	limit int
	begun bool
	after byte // the byte that ended the last line: a line feed after a carriage return belongs to it
}

// NewReader returns a reader of r for events of at most limit bytes each.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{lines: bufio.NewReader(r), limit: limit}
}

// Next returns the next event that has data. At the end of the stream it returns io.EOF; an event without its empty line is lost then,
// as the standard says. An event longer than the limit is ErrTooLong. The caller owns the event.
func (r *Reader) Next() (Event, error) {
	var e Event
	var data []byte
	has, size := false, 0
	for {
		line, err := r.line(r.limit - size)
		if err != nil {
			return Event{}, err
		}
		size += len(line)
		if len(line) == 0 {
			if has {
				e.Data = data
				return e, nil
			}
			e, size = Event{}, 0
			continue
		}
		name, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(name) {
		case "data":
			if has {
				data = append(data, '\n')
			}
			data, has = append(data, value...), true
		case "event":
			e.Name = string(value)
		}
	}
}

// line returns the next line without its end: a carriage return, a line feed, or both. The last line of a stream has no end and is lost.
func (r *Reader) line(limit int) ([]byte, error) {
	if !r.begun {
		r.begun = true
		if mark, _ := r.lines.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
			_, _ = r.lines.Discard(3) // the bytes are in the buffer
		}
	}
	var line []byte
	for {
		b, err := r.lines.ReadByte()
		if err != nil {
			return nil, err
		}
		second := b == '\n' && r.after == '\r'
		r.after = 0
		switch {
		case second:
		case b == '\n' || b == '\r':
			r.after = b
			return line, nil
		case len(line) >= limit:
			return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLong, r.limit)
		default:
			line = append(line, b)
		}
	}
}

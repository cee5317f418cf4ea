// Package logbook writes, reads and plays logbooks. A logbook has everything that came to the session of one call from outside, and what the session did then: its transitions and its events.
// `antiphon replay` plays it again (docs/replay.md). A logbook is JSON, one value a line, in gzip: a Header, an Entry for each event of the session, and an End.
package logbook

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// Format is the number of the logbooks' format. It grows when a logbook of the former format cannot be played.
const Format = 1

// Limits of a logbook.
const (
	MaxBytes  = 64 << 20 // of the file of a logbook that is written
	maxLine   = 64 << 20
	maxRead   = 2 << 30 // of all lines that are read
	maxQueued = 8 << 20 // bytes that wait for the disk
	maxLines  = 4096    // lines that wait for the disk
	flushed   = 64      // lines that a killed process may lose: about a second of a call
)

// Header begins a logbook.
type Header struct {
	Format   int               `json:"antiphon_logbook"` // the format
	Version  string            `json:"version"`          // of the server
	Machines map[string]string `json:"machines"`         // the fingerprints of the tables
	Began    time.Time         `json:"began"`
	Seed     []byte            `json:"seed"` // of the names that the session gives
	Sound    bool              `json:"sound"`
	Config   json.RawMessage   `json:"config"`
}

// Entry is one event of the session: what came, what the session asked for while it handled that, and what it did.
type Entry struct {
	At      int64           `json:"t"` // microseconds since Header.Began
	In      json.RawMessage `json:"in,omitempty"`
	Answers []string        `json:"a,omitempty"`
	Did     []string        `json:"did,omitempty"`
	End     string          `json:"end,omitempty"` // why the logbook has no further entries; the other fields are empty
}

// Ends of a logbook.
const (
	Over = "the session ended"
	Full = "the logbook is full"
	Slow = "the disk was too slow"
)

// Writer writes a logbook, from a goroutine of its own. One goroutine uses it.
type Writer struct {
	out    io.WriteCloser
	lines  chan []byte
	queued atomic.Int64
	ended  bool
	most   int64 // the bytes of the file
	done   chan struct{}
}

// NewWriter returns a Writer that writes to out, and closes it. start starts a goroutine.
func NewWriter(out io.WriteCloser, start func(func())) *Writer {
	w := &Writer{out: out, most: MaxBytes, lines: make(chan []byte, maxLines), done: make(chan struct{})}
	start(w.run)
	return w
}

// Write appends a Header or an Entry. It does not wait: a logbook for which the disk is too slow ends.
func (w *Writer) Write(v any) {
	if w.ended {
		return
	}
	line, err := json.Marshal(v)
	if err != nil {
		w.finish(err.Error())
		return
	}
	if w.queued.Add(int64(len(line))) > maxQueued || len(w.lines) == maxLines-1 {
		w.finish(Slow)
		return
	}
	w.lines <- append(line, '\n') // it alone writes to the channel
}

func (w *Writer) finish(why string) {
	w.ended = true
	line, _ := json.Marshal(Entry{End: why}) // texts always encode
	w.lines <- append(line, '\n')
	close(w.lines)
}

// Close ends the logbook, and returns when it is written.
func (w *Writer) Close() {
	if !w.ended {
		w.finish(Over)
	}
	<-w.done
}

func (w *Writer) run() {
	defer close(w.done)
	count := &counted{to: w.out}
	zip := gzip.NewWriter(count)
	var failed error
	n := 0
	for line := range w.lines {
		w.queued.Add(-int64(len(line)))
		if failed != nil {
			continue
		}
		if _, failed = zip.Write(line); n%flushed == flushed-1 && failed == nil {
			failed = zip.Flush()
		}
		if n++; count.n > w.most && failed == nil {
			failed = errors.New(Full)
			_ = json.NewEncoder(zip).Encode(Entry{End: Full}) // the reader finds a logbook that is cut off
		}
	}
	_ = zip.Close() // the same
	_ = w.out.Close()
}

// counted counts what is written.
type counted struct {
	to io.Writer
	n  int64
}

// Write implements io.Writer.
func (c *counted) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

// Reader reads a logbook, perhaps of a stranger.
type Reader struct {
	Header Header
	lines  *bufio.Scanner
	n      int
}

// NewReader reads the header. Its error says why this is no logbook that can be read.
func NewReader(in io.Reader) (*Reader, error) {
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, errors.New("this is no logbook: it is not in gzip")
	}
	r := &Reader{lines: bufio.NewScanner(io.LimitReader(zip, maxRead))}
	r.lines.Buffer(nil, maxLine)
	if !r.lines.Scan() || json.Unmarshal(r.lines.Bytes(), &r.Header) != nil || r.Header.Format == 0 {
		return nil, errors.New("this is no logbook: the first line is not that of a logbook")
	}
	if r.Header.Format != Format {
		return nil, fmt.Errorf("this logbook has format %d, of antiphon %.40s, and this version plays format %d: nothing of it can be played", r.Header.Format, r.Header.Version, Format)
	}
	return r, nil
}

// Next returns the next entry. The last one has End.
func (r *Reader) Next() (e Entry, err error) {
	if !r.lines.Scan() {
		why := "it has no end"
		if r.lines.Err() != nil {
			why = r.lines.Err().Error()
		}
		return e, fmt.Errorf("the logbook is cut off after %d entries: %s", r.n, why)
	}
	r.n++
	if err := json.Unmarshal(r.lines.Bytes(), &e); err != nil && r.lines.Err() != nil {
		return e, fmt.Errorf("the logbook is cut off after %d entries: %w", r.n-1, r.lines.Err())
	} else if err != nil {
		return e, fmt.Errorf("entry %d of the logbook cannot be read: %w", r.n, err)
	}
	return e, nil
}

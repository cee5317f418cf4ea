package stream

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Asterisk's chan_websocket: audio in binary messages, events and commands in text messages, as plain text or as JSON.

type asterisk struct {
	json    bool // as the telephone writes its events
	started bool // json does not change any more
}

// asteriskEvent has the fields of an event that the server reads.
type asteriskEvent struct {
	Event  string `json:"event"`
	ID     string `json:"connection_id"`
	Format string `json:"format"`
	Frame  int    `json:"optimal_frame_size"`
	Digit  string `json:"digit"`
	Mark   string `json:"correlation_id"`
}

func (a *asterisk) read(data []byte, text bool) (e event, err error) {
	if !text {
		return event{audio: data}, nil
	}
	var m asteriskEvent
	if strings.HasPrefix(strings.TrimSpace(string(data)), "{") {
		if !a.started {
			a.json = true
		}
		if err = json.Unmarshal(data, &m); err != nil {
			return e, fmt.Errorf("an event of Asterisk is no JSON object: %w", err)
		}
	} else {
		m = plainEvent(string(data))
	}
	switch m.Event {
	case "MEDIA_START":
		if a.started {
			break
		}
		c, err := codecOf(m.Format)
		if err != nil {
			return e, err
		}
		if size := len(c.encode(nil, make([]int16, c.rate/50))); m.Frame <= 0 || size%m.Frame != 0 {
			return e, fmt.Errorf("Asterisk wants frames of %d bytes, and 20 ms have %d: let it use a packet time of 20 ms", m.Frame, size) //nolint:staticcheck // a name
		}
		a.started, e.start = true, &Start{Call: m.ID, Format: m.Format}
	case "DTMF_END":
		if len(m.Digit) == 1 {
			e.digit = m.Digit[0]
		}
	case "MEDIA_XOFF":
		e.xoff = true
	case "MEDIA_XON":
		e.xon = true
	case "MEDIA_MARK_PROCESSED":
		e.mark, _ = strconv.ParseUint(m.Mark, 10, 64) // another id is no mark of ours
	case "":
		return e, errors.New("an event of Asterisk has no name")
	} // STATUS, QUEUE_DRAINED, MEDIA_BUFFERING_COMPLETED, and what newer versions send, say nothing that the server needs
	return e, nil
}

// plainEvent reads an event such as "DTMF_END digit:1".
func plainEvent(line string) (m asteriskEvent) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return m
	}
	m.Event = words[0]
	for _, w := range words[1:] {
		name, value, _ := strings.Cut(w, ":")
		switch name {
		case "connection_id":
			m.ID = value
		case "format":
			m.Format = value
		case "optimal_frame_size":
			m.Frame, _ = strconv.Atoi(value) // 0 is refused
		case "digit":
			m.Digit = value
		case "correlation_id":
			m.Mark = value
		}
	}
	return m
}

func (a *asterisk) media(audio []byte) message {
	return message{data: append([]byte(nil), audio...), media: true}
}

// mark returns a mark in JSON: versions with plain text alone have none.
func (a *asterisk) mark(n uint64) *message {
	if !a.json {
		return nil
	}
	return &message{data: fmt.Appendf(nil, `{"command":"MARK_MEDIA","correlation_id":"%d"}`, n), text: true, media: true}
}

func (a *asterisk) command(c command) *message {
	name := map[command]string{answer: "ANSWER", hangUp: "HANGUP", flush: "FLUSH_MEDIA", pause: "PAUSE_MEDIA", goOn: "CONTINUE_MEDIA"}[c]
	if a.json {
		name = `{"command":"` + name + `"}`
	}
	return &message{data: []byte(name), text: true}
}

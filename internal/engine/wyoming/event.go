package wyoming

// The events: how they are written and read, with a limit on each part.

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Limits of the parts of an event that a service sends, in bytes. The list of all voices of wyoming-piper is the longest data: 100 kB.
const (
	maxLine    = 64 << 10
	maxData    = 4 << 20
	maxPayload = 1 << 20
)

var (
	// errProtocol: a service sent something that is no event.
	errProtocol = errors.New("does not speak the Wyoming protocol")
	// errAnswer: a service sent events that are no answer.
	errAnswer = errors.New("sent a wrong answer")
)

// event is one event of the protocol.
type event struct {
	kind    string
	data    []json.RawMessage // objects; a field of a later one replaces that of an earlier one
	payload []byte
}

// head is the line of an event.
type head struct {
	Type    string          `json:"type"`
	Version string          `json:"version,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	DataLen int             `json:"data_length,omitempty"`
	Payload int             `json:"payload_length,omitempty"`
}

// version is the version of the protocol that the events name.
const version = "1.8.0"

func (e *event) into(v any) error {
	for _, data := range e.data {
		if err := json.Unmarshal(data, v); err != nil {
			return fmt.Errorf("%w: the data of its event %q cannot be read", errProtocol, clip(e.kind))
		}
	}
	return nil
}

// clip returns the begin of a name for an error.
func clip(name string) string { return name[:min(len(name), 40)] }

// encode returns an event as bytes. data is nil for none.
func encode(kind string, data any, payload []byte) ([]byte, error) {
	h := head{Type: kind, Version: version, Payload: len(payload)}
	var body []byte
	if data != nil {
		var err error
		if body, err = json.Marshal(data); err != nil {
			return nil, err
		}
		h.DataLen = len(body)
	}
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	return slices.Concat(line, []byte{'\n'}, body, payload), nil
}

// decode reads one event. It returns io.EOF at the end of the stream, and an error that wraps errProtocol for anything that is no event.
func decode(r *bufio.Reader) (event, error) {
	line, err := readLine(r)
	if err != nil {
		return event{}, err
	}
	var h head
	switch err := json.Unmarshal(line, &h); {
	case err != nil || h.Type == "":
		return event{}, fmt.Errorf("%w: %q is no line of an event", errProtocol, clip(string(line)))
	case h.DataLen < 0 || h.DataLen > maxData:
		return event{}, fmt.Errorf("%w: data of %d bytes; %d are allowed", errProtocol, h.DataLen, maxData)
	case h.Payload < 0 || h.Payload > maxPayload:
		return event{}, fmt.Errorf("%w: a payload of %d bytes; %d are allowed", errProtocol, h.Payload, maxPayload)
	}
	e := event{kind: h.Type}
	if len(h.Data) > 0 {
		e.data = append(e.data, h.Data)
	}
	if h.DataLen > 0 {
		data, err := readFull(r, h.DataLen)
		if err != nil {
			return event{}, err
		}
		e.data = append(e.data, data)
	}
	if h.Payload > 0 {
		if e.payload, err = readFull(r, h.Payload); err != nil {
			return event{}, err
		}
	}
	return e, nil
}

// readLine returns the next line without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("%w: a line of more than %d bytes", errProtocol, maxLine)
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// readFull reads n bytes. It takes memory only as the bytes come, so that a service cannot make it take much by naming a length.
func readFull(r io.Reader, n int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && len(data) < n {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}

package stream

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// The media streams of Twilio and Telnyx: JSON in text messages, with audio in base64. They spell names differently, and mean the same.

type provider struct {
	telnyx bool
	id     []byte // the stream's id as JSON; nil before it starts
}

// providerEvent has the fields of an event that the server reads, in both spellings.
type providerEvent struct {
	Event    string `json:"event"`
	Sid      string `json:"streamSid"`
	StreamID string `json:"stream_id"`
	Start    struct {
		CallSid string         `json:"callSid"`
		Control string         `json:"call_control_id"`
		Twilio  providerFormat `json:"mediaFormat"`
		Telnyx  providerFormat `json:"media_format"`
	} `json:"start"`
	Media struct {
		Track   string `json:"track"`
		Payload []byte `json:"payload"`
	} `json:"media"`
	DTMF struct {
		Digit string `json:"digit"`
	} `json:"dtmf"`
	Mark struct {
		Name string `json:"name"`
	} `json:"mark"`
}

type providerFormat struct {
	Encoding string `json:"encoding"`
}

func (p *provider) read(data []byte, text bool) (e event, err error) {
	if !text {
		return e, errors.New("a media stream has text messages: this one is binary")
	}
	var m providerEvent
	if err = json.Unmarshal(data, &m); err != nil {
		return e, fmt.Errorf("a message of the media stream is no JSON object of its protocol: %w", err)
	}
	switch m.Event {
	case "start":
		if p.id != nil {
			return e, errors.New("the media stream has started already")
		}
		id, format, call := m.Sid, m.Start.Twilio, m.Start.CallSid
		if p.telnyx {
			id, format, call = m.StreamID, m.Start.Telnyx, m.Start.Control
		}
		if id == "" || len(id) > 256 {
			return e, errors.New("start names no stream, or one with more than 256 bytes")
		}
		p.id, err = json.Marshal(id)
		e.start = &Start{Call: call, Format: format.Encoding}
	case "media":
		if m.Media.Track == "" || m.Media.Track == "inbound" {
			e.audio = append([]byte{}, m.Media.Payload...)
		}
	case "dtmf":
		if len(m.DTMF.Digit) == 1 {
			e.digit = m.DTMF.Digit[0]
		}
	case "mark":
		e.mark, _ = strconv.ParseUint(m.Mark.Name, 10, 64) // another name is no mark of ours
	case "stop":
		e.hungUp = true
	case "":
		return e, errors.New("a message of the media stream has no event")
	} // connected, and what newer versions send, say nothing that the server needs
	return e, err
}

// begin returns the begin of a message: its event and its stream.
func (p *provider) begin(event string) []byte {
	name := "streamSid"
	if p.telnyx {
		name = "stream_id"
	}
	return append(fmt.Appendf(nil, `{"event":%q,%q:`, event, name), p.id...)
}

func (p *provider) media(audio []byte) message {
	b := bytes.NewBuffer(p.begin("media"))
	b.WriteString(`,"media":{"payload":"`)
	b.Write(base64.StdEncoding.AppendEncode(b.AvailableBuffer(), audio))
	b.WriteString(`"}}`)
	return message{data: b.Bytes(), text: true, media: true}
}

func (p *provider) mark(n uint64) *message {
	return &message{data: fmt.Appendf(p.begin("mark"), `,"mark":{"name":"%d"}}`, n), text: true, media: true}
}

// command returns a command: there is one, clear. To hang up, the server closes the connection.
func (p *provider) command(c command) *message {
	if c != flush {
		return nil
	}
	return &message{data: append(p.begin("clear"), '}'), text: true}
}

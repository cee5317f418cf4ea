package trace

// Decodes recorded server events into the events of package view.

import (
	"encoding/json"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
	coord "github.com/antiphon-rt/antiphon/coord/session"
	"github.com/antiphon-rt/antiphon/coord/view"
)

// listener is a client that only receives: it converts recorded server events into events of package view. It has its own decoder,
// so that it does not share a mistake with the codec of server and client.
type listener struct {
	state       view.State
	settings    coord.Config
	transcribes bool
	media       bool   // the server plays: WebRTC
	commits     bool   // the client's commit is in hand
	inHand      string // event_id of the client's event in hand
	items       map[string]machine.Turn
	deletes     map[string]bool // the items that the client asked to delete
	dropped     machine.Turn    // the turn whose item the server has deleted by itself; 0 for none
	responses   map[string]machine.Response
}

func newListener() *listener {
	return &listener{state: view.Closed{}, items: map[string]machine.Turn{}, deletes: map[string]bool{}, responses: map[string]machine.Response{}}
}

// heard has the fields of server events that package view needs.
type heard struct {
	Type       string `json:"type"`
	ItemID     string `json:"item_id"`
	ResponseID string `json:"response_id"`
	Transcript string `json:"transcript"`
	Response   *struct {
		ID             string  `json:"id"`
		ConversationID *string `json:"conversation_id"`
	} `json:"response"`
	Session *struct {
		Type  string `json:"type"`
		Audio struct {
			Input struct {
				Transcription *struct{} `json:"transcription"`
				TurnDetection *struct {
					CreateResponse    bool `json:"create_response"`
					InterruptResponse bool `json:"interrupt_response"`
				} `json:"turn_detection"`
			} `json:"input"`
		} `json:"audio"`
	} `json:"session"`
}

// refusals are the codes of errors that answer a request of the client.
var refusals = []string{"conversation_already_has_active_response", "response_cancel_not_active"}

func (c *listener) hear(r *recordLine) string {
	if r.Dir == "client" {
		var e struct {
			Type string
			ID   string `json:"event_id"`
			Item string `json:"item_id"`
		}
		c.commits = json.Unmarshal(r.Event, &e) == nil && e.Type == "input_audio_buffer.commit"
		c.inHand = e.ID
		if e.Type == "conversation.item.delete" {
			c.deletes[e.Item] = true
		}
		return "" // what is no event is the server's to refuse
	}
	var e heard
	if err := json.Unmarshal(r.Event, &e); err != nil {
		return "it is no event: " + err.Error()
	}
	if told := c.told(e, r.Event); told != nil {
		c.state = view.Next(c.state, told)
	}
	return ""
}

// refused ends the wait for the answer to a refused turn. The server deletes the item of such a turn right before its machines take that the turn has
// no words: the client knows with the step.
func (c *listener) refused() {
	if c.dropped != 0 {
		c.state = view.Next(c.state, view.Transcribed{Turn: c.dropped, Empty: true})
	}
	c.dropped = 0
}

// told returns the event of package view for e, or nil.
func (c *listener) told(e heard, raw []byte) view.Told {
	switch e.Type {
	case "session.created", "session.updated":
		return c.configured(e)
	case "input_audio_buffer.speech_started":
		return view.SpeechStarted{Turn: c.turn(e.ItemID)}
	case "input_audio_buffer.speech_stopped":
		return view.SpeechStopped{Turn: c.turn(e.ItemID)}
	case "input_audio_buffer.committed":
		by := c.commits
		c.commits = false
		return view.Committed{Turn: c.turn(e.ItemID), ByClient: by}
	case "conversation.item.input_audio_transcription.completed":
		return view.Transcribed{Turn: c.turn(e.ItemID), Empty: e.Transcript == ""}
	case "conversation.item.input_audio_transcription.failed":
		return view.Transcribed{Turn: c.turn(e.ItemID), Empty: true}
	case "conversation.item.deleted":
		if turn, known := c.items[e.ItemID]; known && !c.deletes[e.ItemID] {
			c.dropped = turn
		}
	case "response.created", "response.done":
		return c.responded(e)
	case "output_audio_buffer.started":
		return view.Started{Resp: c.response(e.ResponseID)}
	case "output_audio_buffer.stopped":
		return view.Stopped{Resp: c.response(e.ResponseID)}
	case "output_audio_buffer.cleared":
		return view.Cleared{Resp: c.response(e.ResponseID)}
	case "antiphon.barge_in.rejected":
		return view.Rejected{}
	case "error":
		var bad struct {
			Error struct {
				Code string
				ID   string `json:"event_id"`
			}
		}
		if json.Unmarshal(raw, &bad) != nil {
			return nil
		}
		if bad.Error.ID == c.inHand { // the event in hand is refused: a turn that is committed later is the detector's
			c.commits = false
		}
		if slices.Contains(refusals, bad.Error.Code) {
			return view.Refused{}
		}
	}
	return nil
}

func (c *listener) configured(e heard) view.Told {
	if e.Session == nil {
		return nil
	}
	in := e.Session.Audio.Input
	c.settings, c.transcribes = coord.Config{}, in.Transcription != nil
	if td := in.TurnDetection; td != nil && e.Session.Type != "transcription" {
		c.settings = coord.Config{Interrupt: td.InterruptResponse, CreateResponse: td.CreateResponse}
	}
	if e.Type == "session.created" {
		return view.Opened{Interrupts: c.settings.Interrupt, Answers: c.settings.CreateResponse}
	}
	return view.Configured{Interrupts: c.settings.Interrupt, Answers: c.settings.CreateResponse}
}

// responded returns the event for a response. An out-of-band response has none, because it is not part of the view.
func (c *listener) responded(e heard) view.Told {
	if e.Response == nil || e.Response.ConversationID == nil {
		return nil
	}
	if e.Type == "response.created" {
		return view.Created{Resp: c.response(e.Response.ID)}
	}
	return view.Done{Resp: c.response(e.Response.ID)}
}

// turn returns the number of a turn, by the id of its item.
func (c *listener) turn(item string) machine.Turn {
	if _, known := c.items[item]; !known {
		c.items[item] = machine.Turn(len(c.items) + 1)
	}
	return c.items[item]
}

func (c *listener) response(name string) machine.Response {
	if _, known := c.responses[name]; !known {
		c.responses[name] = machine.Response(len(c.responses) + 1)
	}
	return c.responses[name]
}

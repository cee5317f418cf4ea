package clients

// The parts of the protocol's events that these tests read.

import "encoding/json"

// event has the fields of events that the suites look at.
type event struct {
	Type       string
	EventID    string `json:"event_id"`
	ItemID     string `json:"item_id"`
	CallID     string `json:"call_id"`
	Delta      string
	Text       string
	Transcript string
	Name       string
	Arguments  string
	Part       struct{ Type string }
	Item       outputItem
	Response   response
	Session    session
	Error      struct {
		Type, Code string
		EventID    string `json:"event_id"`
	}
}

type outputItem struct {
	ID, Type, Status string
	CallID           string `json:"call_id"`
	Content          []content
}

type response struct {
	ID, Status     string
	ConversationID *string `json:"conversation_id"`
	Metadata       map[string]string
	StatusDetails  struct{ Reason string } `json:"status_details"`
	Output         []outputItem
	Usage          struct {
		TotalTokens int `json:"total_tokens"`
	}
}

type session struct {
	ID, Type, Instructions string
	Tools                  []struct{ Name string }
	Audio                  struct {
		Input struct {
			TurnDetection json.RawMessage `json:"turn_detection"`
			Transcription struct{ Model string }
		}
	}
}

// said returns the words of a finished response.
func (e event) said() string {
	var text string
	for _, i := range e.Response.Output {
		for _, c := range i.Content {
			text += c.Text + c.Transcript
		}
	}
	return text
}

func types(events []event) []string {
	names := make([]string, len(events))
	for i, e := range events {
		names[i] = e.Type
	}
	return names
}

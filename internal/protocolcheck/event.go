package protocolcheck

// Decodes the fields of events that the rules need.

import (
	"encoding/json"
	"time"
)

// event holds the fields of all server events that the rules look at.
type event struct {
	t time.Time

	Type           string        `json:"type"`
	EventID        string        `json:"event_id"`
	ResponseID     string        `json:"response_id"`
	ItemID         string        `json:"item_id"`
	CallID         string        `json:"call_id"`
	PreviousItemID *string       `json:"previous_item_id"`
	OutputIndex    int           `json:"output_index"`
	ContentIndex   int           `json:"content_index"`
	AudioStartMS   int           `json:"audio_start_ms"`
	AudioEndMS     int           `json:"audio_end_ms"`
	Delta          string        `json:"delta"`
	Text           string        `json:"text"`
	Transcript     string        `json:"transcript"`
	Arguments      string        `json:"arguments"`
	Part           part          `json:"part"`
	Item           item          `json:"item"`
	Response       responseValue `json:"response"`
	Session        sessionValue  `json:"session"`
	Error          errorValue    `json:"error"`
}

type part struct {
	Type       string `json:"type"`
	Text       string `json:"text"`
	Transcript string `json:"transcript"`
}

// said returns the words of a part.
func (p part) said() string { return p.Text + p.Transcript }

type item struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	Role      string `json:"role"`
	Status    string `json:"status"`
	CallID    string `json:"call_id"`
	Arguments string `json:"arguments"`
	Content   []part `json:"content"`
}

type responseValue struct {
	ID             string  `json:"id"`
	Status         string  `json:"status"`
	ConversationID *string `json:"conversation_id"`
	Details        struct {
		Reason string `json:"reason"`
	} `json:"status_details"`
	Output   []item          `json:"output"`
	Metadata json.RawMessage `json:"metadata"`
	Audio    struct {
		Output struct {
			Format struct {
				Type string `json:"type"`
			} `json:"format"`
		} `json:"output"`
	} `json:"audio"`
	Usage *struct {
		TotalTokens int `json:"total_tokens"`
	} `json:"usage"`
}

type sessionValue struct {
	ID string `json:"id"`
}

type errorValue struct {
	EventID *string `json:"event_id"`
}

package bargein

// Fetches the audio of a response over a WebSocket: the reference for what the page plays.

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"

	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// maxResponse bounds one event of the reference response, in bytes.
const maxResponse = 4 << 20

// responseAudio requests the response to a text over a WebSocket, where the audio arrives as the server made it. The result is the
// reference for the same response in a call.
func (h *house) responseAudio(server, text string) ([]float32, error) {
	conn, _, err := websocket.Dial(h.ctx, strings.Replace(server, "http", "ws", 1)+"/v1/realtime?model=gpt-realtime", nil)
	if err != nil {
		return nil, err
	}
	defer conn.CloseNow() //nolint:errcheck // closed before, or the run fails anyway
	conn.SetReadLimit(maxResponse)
	for _, event := range []any{
		map[string]any{"type": "conversation.item.create", "item": map[string]any{
			"type": "message", "role": "user", "content": []any{map[string]string{"type": "input_text", "text": text}},
		}},
		map[string]any{"type": "response.create"},
	} {
		if err := wsjson.Write(h.ctx, conn, event); err != nil {
			return nil, err
		}
	}
	var pcm []byte
	for {
		_, message, err := conn.Read(h.ctx)
		if err != nil {
			return nil, err
		}
		var e struct {
			Type  string
			Delta json.RawMessage
		}
		if err := json.Unmarshal(message, &e); err != nil {
			return nil, err
		}
		switch e.Type {
		case "response.output_audio.delta":
			var piece []byte // JSON has bytes in base64, as the protocol has
			if err := json.Unmarshal(e.Delta, &piece); err != nil {
				return nil, err
			}
			pcm = append(pcm, piece...)
		case "error":
			return nil, fmt.Errorf("asking for %q: %s", text, message)
		case "response.done":
			samples := voice.BytesToPCM16(nil, pcm)
			if err := conn.Close(websocket.StatusNormalClosure, ""); err != nil {
				return nil, err
			}
			return tracked(samples, pipeline.OutputRate)
		}
	}
}

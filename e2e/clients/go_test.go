package clients

// github.com/WqyJh/go-openai-realtime, a client in Go. Its parser refuses events that it does not know, and fields of another type.

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	realtime "github.com/WqyJh/go-openai-realtime/v2"
	"golang.org/x/sync/errgroup"
)

// goClient is an application with that client. It has the calls of the programs in Python.
type goClient struct {
	t      *testing.T
	url    string
	conn   *realtime.Conn
	reader errgroup.Group

	mu      sync.Mutex
	said    pythonReport
	samples int
}

func TestGo(t *testing.T) {
	t.Parallel()
	h := open(t, "go")
	c := &goClient{t: t, url: h.url}
	s := &pythonSuite{suite: newSuite(t, "go-openai-realtime (Go)", c)}
	s.run()
	h.stop()
	h.holds(1)
}

func (c *goClient) ask(method string, a any) (json.RawMessage, error) {
	with, _ := a.(args)
	switch method {
	case "connect":
		return nil, c.connect()
	case "write":
		return nil, c.create(realtime.MessageItemUnion{User: &realtime.MessageItemUser{
			Content: []realtime.MessageContentInput{{Type: realtime.MessageContentTypeInputText, Text: fmt.Sprint(with["text"])}},
		}})
	case "say":
		return nil, c.say(fmt.Sprint(with["pcm"]))
	case "report":
		c.mu.Lock()
		defer c.mu.Unlock()
		c.said.AudioMS = float64(c.samples) / 24
		return json.Marshal(c.said)
	case "close":
		return nil, errors.Join(c.conn.Close(), c.reader.Wait())
	default:
		return nil, errors.ErrUnsupported
	}
}

func (c *goClient) connect() error {
	config := realtime.DefaultConfig(key)
	config.BaseURL = strings.Replace(c.url, "http", "ws", 1) + "/v1/realtime"
	conn, err := realtime.NewClientWithConfig(config).Connect(c.t.Context())
	if err != nil {
		return err
	}
	c.conn = conn
	c.reader.Go(c.read)
	return conn.SendMessage(c.t.Context(), realtime.SessionUpdateEvent{Session: realtime.SessionUnion{Realtime: &realtime.RealtimeSession{
		Instructions:     "Be brief.",
		OutputModalities: []realtime.Modality{realtime.ModalityAudio},
		MaxOutputTokens:  4000,
		Audio: &realtime.RealtimeSessionAudio{
			Input: &realtime.SessionAudioInput{
				Format:         &realtime.AudioFormatUnion{PCM: &realtime.AudioFormatPCM{Rate: 24000}},
				NoiseReduction: &realtime.AudioNoiseReduction{Type: realtime.NoiseReductionNearField},
				Transcription:  &realtime.AudioTranscription{Model: realtime.GPT4oTranscribe},
				TurnDetection:  &realtime.TurnDetectionUnion{ServerVad: &realtime.ServerVad{CreateResponse: true, InterruptResponse: true}},
			},
			Output: &realtime.SessionAudioOutput{
				Voice: realtime.VoiceMarin, Format: &realtime.AudioFormatUnion{PCM: &realtime.AudioFormatPCM{Rate: 24000}},
			},
		},
		ToolChoice: &realtime.ToolChoiceUnion{Mode: realtime.ToolChoiceModeAuto},
		Tools: []realtime.ToolUnion{{Function: &realtime.ToolFunction{
			Name: "look_up_weather", Description: "The weather of a place.",
			Parameters: args{"type": "object", "properties": args{"place": args{"type": "string"}}},
		}}},
	}}})
}

// create adds an item, and asks for a response.
func (c *goClient) create(item realtime.MessageItemUnion) error {
	if err := c.conn.SendMessage(c.t.Context(), realtime.ConversationItemCreateEvent{Item: item}); err != nil {
		return err
	}
	return c.conn.SendMessage(c.t.Context(), realtime.ResponseCreateEvent{})
}

// say sends the user's speech, and a second of silence, at the speed of a microphone.
func (c *goClient) say(pcm string) error {
	data, err := base64.StdEncoding.DecodeString(pcm)
	if err != nil {
		return err
	}
	data = append(data, make([]byte, 48000)...)
	every := time.NewTicker(20 * time.Millisecond)
	defer every.Stop()
	for ; len(data) > 0; <-every.C {
		piece := data[:min(960, len(data))]
		data = data[len(piece):]
		err := c.conn.SendMessage(c.t.Context(), realtime.InputAudioBufferAppendEvent{Audio: base64.StdEncoding.EncodeToString(piece)})
		if err != nil {
			return err
		}
	}
	return nil
}

// read takes the server's events until the connection ends.
func (c *goClient) read() error {
	for {
		e, err := c.conn.ReadMessage(context.WithoutCancel(c.t.Context()))
		if end := (*realtime.PermanentError)(nil); errors.As(err, &end) {
			return nil
		}
		if err == nil {
			err = c.take(e)
		}
		if err != nil && err.Error() != "unknown server event type: conversation.created" { // an application's handlers do not get it, and nothing else happens
			c.mu.Lock()
			c.said.Errors = append(c.said.Errors, err.Error())
			c.mu.Unlock()
		}
	}
}

func (c *goClient) take(event realtime.ServerEvent) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e := event.(type) {
	case realtime.ErrorEvent:
		return errors.New(e.Error.Message)
	case realtime.InputAudioBufferSpeechStartedEvent:
		c.said.Interruptions++
	case realtime.ConversationItemInputAudioTranscriptionCompletedEvent:
		c.said.Heard = append(c.said.Heard, e.Transcript)
	case realtime.ResponseOutputAudioDeltaEvent:
		data, err := base64.StdEncoding.DecodeString(e.Delta)
		c.samples += len(data) / 2
		return err
	case realtime.ResponseOutputAudioTranscriptDoneEvent:
		c.said.Said = append(c.said.Said, e.Transcript)
	case realtime.ResponseFunctionCallArgumentsDoneEvent:
		var with struct{ Place string }
		if err := json.Unmarshal([]byte(e.Arguments), &with); err != nil {
			return err
		}
		c.said.Calls = append(c.said.Calls, with.Place)
		return c.create(realtime.MessageItemUnion{FunctionCallOutput: &realtime.MessageItemFunctionCallOutput{CallID: e.CallID, Output: "rain over: " + with.Place}})
	}
	return nil
}

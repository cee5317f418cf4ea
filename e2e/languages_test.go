package e2e

// The language of a session, and tools of the server, in calls by voice.

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/server"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// In a German session "genau" over the agent is an acknowledgement, and the agent goes on. "stopp" interrupts it.
func TestAcknowledgementInGerman(t *testing.T) {
	t.Parallel()
	h := open(t, nil, nil)
	c := call(t, callOptions{url: h.url, sdk: sdk.Options{Language: "de"}})
	c.ask("say 20 words")
	c.begin()
	c.hear(time.Second)
	c.speak(drawnOut("genau", 300*time.Millisecond))
	c.answer(twenty)
	c.Expect(c.count("input_audio_buffer.speech_started")).To(gomega.BeZero())
	c.Expect(h.actions(t, "playout")).To(gomega.ContainElements("Hold", "Reject"))
	c.interruption("stopp")
}

// The user asks aloud. The model calls a tool that the server runs, and says its output.
func TestAServerToolInACall(t *testing.T) {
	t.Parallel()
	for name, webSocket := range map[string]bool{"WebRTC": false, "WebSocket": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := make(chan string, 1)
			weather := pipeline.ServerTool{
				Tool: pipeline.Tool{
					Name: "weather", Description: "The weather in a town.", Parameters: []byte(`{"type":"object","properties":{"town":{"type":"string"}}}`),
				},
				Run: func(_ context.Context, arguments string) (string, error) {
					asked <- arguments
					return "clear", nil
				},
			}
			h := open(t, nil, func(cfg *server.Config) { cfg.Tools = pipeline.ServerTools{Tools: []pipeline.ServerTool{weather}} })
			c := call(t, callOptions{url: h.url, webSocket: webSocket})
			c.say("what is the weather")
			c.answer("Tool said: clear")
			c.Expect(<-asked).To(gomega.ContainSubstring("town"))
			c.Expect(c.heardText()).To(saysAllBut(1, "Tool said: clear"))
			c.Expect(c.count("response.created")).To(gomega.Equal(1), "the call and the answer are one response")
			call := c.Snapshot().Transcript[1]
			c.Expect(call.Role).To(gomega.Equal(sdk.ToolUse))
			c.Expect(*call.ToolCall).To(gomega.And(gomega.HaveField("Name", "weather"), gomega.HaveField("Output", "clear"), gomega.HaveField("Done", true)))
			c.Expect(c.count((&wire.ResponseMCPCallCompleted{}).Type())).To(gomega.Equal(1))
		})
	}
}

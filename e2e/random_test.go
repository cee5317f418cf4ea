package e2e

// Random clients over real transports: the session keeps the protocol.

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// randomCalls is how many seeds TestRandomClients has; each is a call over WebRTC and one over a WebSocket.
const randomCalls = 4

// unreliablePipeline is the script of a pipeline in which everything takes a while and some requests fail.
const unreliablePipeline = `
transcriber:
  delay: 100ms
  rules:
    - {when: {exact: hum}, text: ""}
    - {when: {exact: lost}, fail: could not hear it}
model: {first_token: 80ms, token: 10ms}
synthesizer: {speedup: 4}
`

// TestRandomClients lets callers do anything at any time over real transports. The record of each call must keep the protocol.
// internal/call/session does the same with many more seeds, on a virtual clock. A failure names its seed; ANTIPHON_SEED=n places that call
// again.
func TestRandomClients(t *testing.T) {
	t.Parallel()
	first, n := uint64(0), uint64(randomCalls)
	if seed, again := os.LookupEnv("ANTIPHON_SEED"); again {
		var err error
		first, err = strconv.ParseUint(seed, 10, 64)
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
		n = 1
	}
	script, err := scripted.Parse("unreliablePipeline", []byte(unreliablePipeline))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	for seed := first; seed < first+n; seed++ {
		for name, webSocket := range map[string]bool{"WebRTC": false, "WebSocket": true} {
			t.Run(fmt.Sprintf("seed %d over %s", seed, name), func(t *testing.T) {
				t.Parallel()
				h := open(t, script, nil)
				c := call(t, callOptions{url: h.url, webSocket: webSocket})
				c.wander(rand.New(rand.NewPCG(seed, 11)))
			})
		}
	}
}

// wander does random things, and then checks that the session still works.
func (c *caller) wander(r *rand.Rand) {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	event := func(text string) { c.sendText([]byte(text)) }
	event(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"transcription":{"model":"any"}}},
		"tools":[{"type":"function","name":"clock","parameters":{"type":"object"}}]}}`)
	for range 14 {
		switch r.IntN(8) {
		case 0, 1:
			c.say(one("hello", "hum", "lost", "stop", "what does the clock say"))
		case 2:
			c.ask(one("hello", "say 30 words", "clock", "fail"))
		case 3:
			event(one(`{"type":"response.cancel"}`, `{"type":"response.create"}`, `{"type":"response.create","response":{"output_modalities":["text"]}}`,
				`{"type":"response.create","response":{"conversation":"none","output_modalities":["text"],"metadata":{"a":"b"}}}`))
		case 4:
			event(one(`{"type":"input_audio_buffer.commit"}`, `{"type":"input_audio_buffer.clear"}`, `{"type":"output_audio_buffer.clear"}`))
		case 5:
			event(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":` +
				one(`null`, `{"type":"server_vad","create_response":false}`, `{"type":"server_vad","interrupt_response":false}`,
					`{"type":"server_vad","create_response":true,"interrupt_response":true,"silence_duration_ms":200}`,
					`{"type":"semantic_vad","eagerness":"high"}`) + `}}}}`)
		case 6:
			item := c.anyItem(r)
			event(one(`{"type":"conversation.item.truncate","content_index":0,"audio_end_ms":`+strconv.Itoa(r.IntN(1500))+`,"item_id":"`+item+`"}`,
				`{"type":"conversation.item.delete","item_id":"`+item+`"}`, `{"type":"conversation.item.retrieve","item_id":"`+item+`"}`))
		case 7:
			c.speak(make([]int16, 24*r.IntN(500))) // silence from the microphone, which takes time
		}
	}
	event(`{"type":"response.cancel"}`)
	event(`{"type":"conversation.item.retrieve","event_id":"last","item_id":"nobody"}`)
	for {
		e, is := c.nextSeen("error").ServerEvent.(*wire.ErrorEvent)
		if is && e.Error.EventID != nil && *e.Error.EventID == "last" {
			return
		}
	}
}

// anyItem returns the id of an item of the conversation, or an id that no item has.
func (c *caller) anyItem(r *rand.Rand) string {
	items := []string{"nobody"}
	for _, e := range c.line.since(0) {
		if added, is := e.ServerEvent.(*wire.ConversationItemAdded); is {
			items = append(items, added.Item.ID)
		}
	}
	return items[r.IntN(len(items))]
}

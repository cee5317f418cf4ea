package session

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline/scripted"
)

// conversations is how many TestRandomConversations holds.
const conversations = 32

// TestRandomConversations lets clients do anything at any time, over both transports, and checks that what they are sent
// keeps the protocol. A failure names its seed; ANTIPHON_SEED=n holds that conversation again.
func TestRandomConversations(t *testing.T) {
	first, n := uint64(0), uint64(conversations)
	if seed, again := os.LookupEnv("ANTIPHON_SEED"); again {
		var err error
		first, err = strconv.ParseUint(seed, 10, 64)
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
		n = 1
	}
	for seed := first; seed < first+n; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { converse(t, rand.New(rand.NewPCG(seed, 7))) })
		})
	}
}

// temper is a pipeline in which everything takes a while, and some of it goes wrong.
const temper = `
transcriber:
  delay: 150ms
  rules:
    - {when: {exact: hum}, text: ""}
    - {when: {exact: later}, delay: 4s}
    - {when: {exact: lost}, fail: could not hear it}
model:
  first_token: 120ms
  token: 15ms
synthesizer:
  speedup: 4
`

func converse(t *testing.T, r *rand.Rand) {
	var c *caller
	if r.IntN(2) == 0 {
		c = byWebRTC(t, byScript(t, temper))
	} else {
		c = byWebSocket(t, byScript(t, temper))
	}
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	c.settle(`"tools":[{"type":"function","name":"clock","parameters":{"type":"object"}}],"audio":{"input":{"transcription":{"model":"x"}}}`)
	for range 25 {
		switch r.IntN(12) {
		case 0, 1, 2, 3:
			spoken := scripted.Tones(one("hello", "hum", "later", "lost", "stop", "what does the clock say", "say 30 words"))
			c.speak(spoken[:len(spoken)/(1+r.IntN(3))])
			c.quiet(r.IntN(900))
		case 4, 5:
			c.ask(one("hello", "say 40 words", "clock", "fail", "stall"))
		case 6:
			c.send(one(`{"type":"response.cancel"}`, `{"type":"response.create"}`, `{"type":"response.create","response":{"output_modalities":["text"]}}`,
				`{"type":"response.create","response":{"conversation":"none"}}`,
				`{"type":"response.create","response":{"conversation":"none","input":[]}}`))
		case 7:
			c.send(one(`{"type":"input_audio_buffer.commit"}`, `{"type":"input_audio_buffer.clear"}`, `{"type":"output_audio_buffer.clear"}`))
		case 8:
			c.send(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":` +
				one(`null`, `{"type":"server_vad","create_response":false}`, `{"type":"server_vad","interrupt_response":false}`,
					`{"type":"server_vad","create_response":true,"interrupt_response":true,"silence_duration_ms":200}`,
					`{"type":"semantic_vad","eagerness":"high"}`, `{"type":"server_vad","idle_timeout_ms":5000}`) + `}}}}`)
		case 9:
			if items := follow(c.all()).names; len(items) > 0 {
				id := items[r.IntN(len(items))]
				c.send(one(`{"type":"conversation.item.truncate","content_index":0,"audio_end_ms":`+strconv.Itoa(r.IntN(3000))+`,"item_id":"`+id+`"}`,
					`{"type":"conversation.item.delete","item_id":"`+id+`"}`, `{"type":"conversation.item.retrieve","item_id":"`+id+`"}`))
			}
		case 10:
			c.s.Lost()
			wait(time.Duration(r.IntN(3000)) * time.Millisecond)
			c.s.Restored()
		case 11:
			wait(time.Duration(r.IntN(6000)) * time.Millisecond)
		}
		wait(time.Duration(r.IntN(400)) * time.Millisecond)
	}
	c.send(`{"type":"response.cancel"}`) // a model that stalls does so until then
	c.settle(`"audio":{"input":{"turn_detection":null}}`)
}

package session

// Random conversations: clients do anything at any time, and the session keeps the protocol.

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/wire"
)

// conversations is how many conversations TestRandomConversations has without the race detector.
const conversations = 24

// TestRandomConversations lets clients do anything at any time, over both transports, and checks that what they are sent
// keeps the protocol. A failure names its seed; ANTIPHON_SEED=n tries that seed alone. A seed decides what the client does, but
// not in which order goroutines run that are due at the same time: a conversation of the same seed may go another way.
func TestRandomConversations(t *testing.T) {
	first, n := uint64(0), rounds(conversations)
	if seed, again := os.LookupEnv("ANTIPHON_SEED"); again {
		var err error
		first, err = strconv.ParseUint(seed, 10, 64)
		gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
		n = 1
	}
	for seed := first; seed < first+n; seed++ {
		for _, media := range []bool{true, false} {
			t.Run(fmt.Sprintf("seed %d over %s", seed, map[bool]string{true: "WebRTC", false: "WebSocket"}[media]), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { converse(t, rand.New(rand.NewPCG(seed, 7)), media) })
			})
		}
	}
}

// unreliablePipeline is the script of a pipeline in which everything takes a while and some requests fail.
const unreliablePipeline = `
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

// converse is one conversation: a client does random things and then lets the session come to rest.
func converse(t *testing.T, r *rand.Rand, media bool) {
	place := byWebSocket
	if media {
		place = byWebRTC
	}
	p := byScript(t, unreliablePipeline)
	if r.IntN(2) == 0 {
		p.Retranscriber = p.Transcriber
	}
	c := &randomClient{place(t, p), r}
	if p.Retranscriber != nil {
		c.settle(`"audio":{"input":{"turn_detection":{"type":"semantic_vad"}}}`)
	}
	c.settle(`"tools":[{"type":"function","name":"clock","parameters":{"type":"object"}}],"audio":{"input":{"transcription":{"model":"x"}}}`)
	if r.IntN(2) == 0 {
		c.send(`{"type":"antiphon.hello","take_back":true}`)
	}
	moves := []func(){
		c.speaks, c.speaks, c.speaks, c.speaks, c.asks, c.asks, c.requestsResponses, c.changesBuffers, c.changesDetection, c.changesSound,
		c.changesAnItem, c.changesAnItem, c.inserts, c.answersCall, c.appends, c.isLost, c.waits,
		c.predicts, c.predicts,
	}
	for range 25 {
		moves[r.IntN(len(moves))]()
		wait(time.Duration(r.IntN(400)) * time.Millisecond)
	}
	c.send(`{"type":"response.cancel"}`) // a stalled model waits until it is cancelled
	for _, id := range c.outOfBand() {
		c.send(`{"type":"response.cancel","response_id":"` + id + `"}`)
	}
	c.settle(`"audio":{"input":{"turn_detection":null}}`)
}

// randomClient is a client whose actions a seed decides. Each of its methods is one action.
type randomClient struct {
	*caller
	r *rand.Rand
}

func (w *randomClient) one(of ...string) string { return of[w.r.IntN(len(of))] }

// item returns the id of an item of the conversation, or an id that no item has.
func (w *randomClient) item() string {
	items := append(follow(w.All()).names, "nobody")
	return items[w.r.IntN(len(items))]
}

func (w *randomClient) speaks() {
	spoken := scripted.Tones(w.one("hello", "hum", "later", "lost", "stop", "what does the clock say", "say 30 words"))
	w.speak(spoken[:len(spoken)/(1+w.r.IntN(3))])
	w.quiet(w.r.IntN(900))
}

func (w *randomClient) asks() { w.ask(w.one("hello", "say 40 words", "clock", "fail", "stall")) }

func (w *randomClient) requestsResponses() {
	w.send(w.one(`{"type":"response.cancel"}`, `{"type":"response.create"}`, `{"type":"response.create","response":{"output_modalities":["text"]}}`,
		`{"type":"response.create","response":{"conversation":"none"}}`, `{"type":"response.create","response":{"conversation":"none","input":[]}}`,
		`{"type":"response.create","response":{"conversation":"none","output_modalities":["text"],"metadata":{"topic":"aside"}}}`,
		`{"type":"response.create","response":{"max_output_tokens":2,"metadata":{"a":"1","b":"2"}}}`,
		`{"type":"response.create","response":{"tool_choice":"required"}}`,
		`{"type":"response.create","response":{"instructions":"","tools":[]}}`))
}

func (w *randomClient) changesBuffers() {
	w.send(w.one(`{"type":"input_audio_buffer.commit"}`, `{"type":"input_audio_buffer.clear"}`, `{"type":"output_audio_buffer.clear"}`))
}

func (w *randomClient) changesDetection() {
	w.send(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":` +
		w.one(`null`, `{"type":"server_vad","create_response":false}`, `{"type":"server_vad","interrupt_response":false}`,
			`{"type":"server_vad","create_response":true,"interrupt_response":true,"silence_duration_ms":200}`,
			`{"type":"semantic_vad","eagerness":"high"}`, `{"type":"server_vad","idle_timeout_ms":5000}`) + `}}}}`)
}

func (w *randomClient) changesSound() {
	w.send(`{"type":"session.update","session":{"type":"realtime",` +
		w.one(`"output_modalities":["text"]`, `"output_modalities":["audio"]`, `"max_output_tokens":5`, `"max_output_tokens":"inf"`,
			`"audio":{"output":{"format":{"type":"audio/pcmu"}}}`, `"audio":{"output":{"format":{"type":"audio/pcm"},"speed":1.5}}`,
			`"audio":{"input":{"transcription":null}}`, `"audio":{"input":{"transcription":{"model":"x"}}}`,
			`"truncation":{"type":"retention_ratio","retention_ratio":0.5,"token_limits":{"post_instructions":20}}`, `"truncation":"auto"`) + `}}`)
}

// changesAnItem truncates, deletes or retrieves an item, or requests a response that refers to it.
func (w *randomClient) changesAnItem() {
	id := w.item()
	w.send(w.one(`{"type":"conversation.item.truncate","content_index":0,"audio_end_ms":`+strconv.Itoa(w.r.IntN(3000))+`,"item_id":"`+id+`"}`,
		`{"type":"conversation.item.delete","item_id":"`+id+`"}`, `{"type":"conversation.item.retrieve","item_id":"`+id+`"}`,
		`{"type":"response.create","response":{"input":[{"type":"item_reference","id":"`+id+`"}]}}`))
}

// inserts creates an item at a random place.
func (w *randomClient) inserts() {
	w.send(`{"type":"conversation.item.create","previous_item_id":"` + w.one("root", w.item(), w.item()) + `","item":{` +
		w.one(``, `"id":"mine",`) + `"type":"message","role":` +
		w.one(`"user","content":[{"type":"input_text","text":"well"}]`, `"system","content":[{"type":"input_text","text":"be kind"}]`,
			`"assistant","content":[{"type":"output_text","text":"yes"}]`) + `}}`)
}

// answersCall sends the result of the model's newest tool call.
func (w *randomClient) answersCall() {
	call := "call_of_nobody"
	for _, e := range w.All() {
		if done, is := e.(*wire.ResponseOutputItemDone); is && done.Item.Type == wire.ItemFunctionCall {
			call = done.Item.CallID
		}
	}
	w.send(`{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"` + call + `","output":"noon"}}`)
	w.send(`{"type":"response.create"}`)
}

// appends sends audio in events, besides the microphone's audio, and perhaps commits it.
func (w *randomClient) appends() {
	spoken := scripted.Tones(w.one("hello", "stop"))
	w.append(spoken[:len(spoken)/(1+w.r.IntN(20))])
	if w.r.IntN(2) == 0 {
		w.send(`{"type":"input_audio_buffer.commit"}`)
	}
}

// predicts sends random barge-in events.
func (w *randomClient) predicts() {
	w.send(`{"type":"antiphon.hello","event_id":"hello","barge_in":` + w.one("true", "true", "true", "false") + `,"take_back":` + w.one("true", "false") + `}`)
	response := "resp_of_nobody"
	for _, e := range w.All() {
		if created, is := e.(*wire.ResponseCreated); is && w.r.IntN(3) > 0 {
			response = created.Response.ID
		}
	}
	for range 1 + w.r.IntN(4) {
		at := strconv.Itoa(w.r.IntN(5_000_000) - 1000)
		if w.pacer != nil && w.r.IntN(4) > 0 {
			silent, _ := w.pacer.FirstSilent()
			at = strconv.Itoa(int(silent) - w.r.IntN(50_000))
		}
		w.send(`{"event_id":"report","candidate":` + strconv.Itoa(w.r.IntN(8)) + `,"response_id":"` + response + `","rtp_timestamp":` + at +
			`,"type":"antiphon.barge_in.` + w.one("candidate", "candidate", "ready", "ready", "heard") + `"}`)
		wait(time.Duration(w.r.IntN(300)) * time.Millisecond)
	}
}

func (w *randomClient) isLost() {
	w.s.Lost()
	wait(time.Duration(w.r.IntN(3000)) * time.Millisecond)
	w.s.Restored()
}

func (w *randomClient) waits() { wait(time.Duration(w.r.IntN(6000)) * time.Millisecond) }

// outOfBand returns the ids of all out-of-band responses so far.
func (c *caller) outOfBand() []string {
	var out []string
	for _, e := range c.All() {
		if created, is := e.(*wire.ResponseCreated); is && created.Response.ConversationID == nil {
			out = append(out, created.Response.ID)
		}
	}
	return out
}

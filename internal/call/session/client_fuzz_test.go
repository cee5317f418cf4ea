package session

// A fuzz test: arbitrary messages of a client.

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/wire"
)

// maxFuzzed is how many lines of a fuzzed script are sent. More lines would take longer and find nothing else.
const maxFuzzed = 24

// FuzzClient sends arbitrary messages to a session, one for each line, over either transport. The session keeps the protocol (the
// clean-up of caller checks its events), breaks no invariant of its machines, and ends.
func FuzzClient(f *testing.F) {
	flat := func(text string) string { return strings.NewReplacer("\n", "", "\t", "").Replace(text) }
	for _, media := range []bool{true, false} {
		f.Add(media, flat(wholeSession)+"\n"+flat(wholeRequest)+"\n"+`{"type":"response.cancel"}`)
		f.Add(media, flat(wholeItems[0])+"\n"+flat(wholeItems[1])+"\n"+flat(wholeItems[2])+"\n"+`{"type":"response.create"}`)
		f.Add(media, `{"type":"session.update","session":{"type":"realtime","audio":{"input":{"format":{"type":"audio/pcmu"},"turn_detection":null}}}}`+
			"\n"+`{"type":"input_audio_buffer.append","audio":"AAAA"}`+"\n"+`{"type":"input_audio_buffer.commit"}`+"\n"+`{"type":"input_audio_buffer.clear"}`)
		f.Add(media, `{"type":"response.create","response":{"conversation":"none"}}`+"\n"+`{"type":"output_audio_buffer.clear"}`+"\n"+
			`{"type":"antiphon.hello","event_id":"a","metrics":true}`+"\n"+`{"type":"conversation.item.delete","item_id":"x"}`+"\n\x00\xff\n[]\n\"\"")
		f.Add(media, `{"type":"antiphon.hello","event_id":"a","barge_in":true}`+"\n"+`{"type":"response.create"}`+"\n"+
			`{"type":"antiphon.barge_in.candidate","event_id":"b","candidate":1,"response_id":"resp_x","rtp_timestamp":6000,"item_id":"y","heard_ms":3}`+"\n"+
			`{"type":"antiphon.barge_in.ready","candidate":1,"rtp_timestamp":4294967296}`+"\n"+
			`{"type":"antiphon.barge_in.heard","response_id":"resp_x","rtp_timestamp":-5}`)
		f.Add(media, `{"type":"antiphon.hello"}`+"\n"+`{"type":"antiphon.run.reply","run_id":"run_1","interaction_id":"ia_1","approve":[]}`+"\n"+
			`{"type":"antiphon.run.cancel","run_id":"run_1"}`)
	}
	f.Fuzz(func(t *testing.T, media bool, script string) {
		synctest.Test(t, func(t *testing.T) {
			c := onStage(t, media, wire.DefaultSession()).start()
			lines := strings.Split(script, "\n")
			for _, line := range lines[:min(len(lines), maxFuzzed)] {
				c.send(line)
				wait(30 * time.Millisecond)
			}
			c.send(`{"type":"response.cancel"}`) // a stalled model waits until it is cancelled
			wait(time.Second)
			c.s.Close(conn.ByClient)
			<-c.s.Done()
		})
	})
}

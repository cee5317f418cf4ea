package session

// Keys of a telephone: what the clients, the model and the logbook get.

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/conn"
	"github.com/antiphon-rt/antiphon/wire"
)

func press(c *caller, keys string) {
	for _, k := range []byte(keys) {
		c.s.Digit(k)
		wait(100 * time.Millisecond)
	}
}

func withDigits(t *testing.T, d Digits) *caller {
	t.Helper()
	c := newCallerWith(t, Config{Pipeline: plain(), Settings: wire.DefaultSession(), Options: Options{Digits: d}})
	c.pacer = newPacer(c.s, nil)
	return c.start()
}

func TestKeysOfATelephone(t *testing.T) {
	story(t, "the key # ends them", func(t *testing.T) {
		c := withDigits(t, "")
		press(c, "42#")
		e := next[*wire.InputAudioBufferDTMFEventReceived](c, "input_audio_buffer.dtmf_event_received")
		c.g.Expect(e.Event).To(gomega.Equal("4"))
		c.g.Expect(e.ReceivedAt).To(gomega.BeNumerically(">", 0))
		item := next[*wire.ConversationItemAdded](c, "conversation.item.added").Item
		c.g.Expect(item.Content[0].Text).To(gomega.Equal("DTMF: 42#"))
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
		wait(5 * time.Second)
		c.g.Expect(c.count("conversation.item.added")).To(gomega.Equal(2), "the keys and the answer, once")
	})
	story(t, "a pause ends them", func(t *testing.T) {
		c := withDigits(t, DigitsToModel)
		press(c, "1")
		wait(1900*time.Millisecond - 100*time.Millisecond)
		press(c, "2")
		began := time.Now()
		item := next[*wire.ConversationItemAdded](c, "conversation.item.added").Item
		c.g.Expect(item.Content[0].Text).To(gomega.Equal("DTMF: 12"))
		c.g.Expect(time.Since(began)).To(gomega.BeNumerically("~", digitsPause, 200*time.Millisecond))
		first(c, "response.done")
	})
	story(t, "they end what the agent says", func(t *testing.T) {
		c := withDigits(t, DigitsToModel)
		c.ask("say 60 words")
		first(c, "output_audio_buffer.started")
		wait(time.Second)
		press(c, "0#")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.BeElementOf("cancelled", "completed"))
		first(c, "output_audio_buffer.cleared")
		c.g.Expect(next[*wire.ResponseDone](c, "response.done").Response.Status).To(gomega.Equal("completed"))
	})
	story(t, "the model does not get them", func(t *testing.T) {
		c := withDigits(t, DigitsAsEvents)
		press(c, "42#")
		wait(5 * time.Second)
		c.g.Expect(c.count("input_audio_buffer.dtmf_event_received")).To(gomega.Equal(3))
		c.g.Expect(c.count("conversation.item.added")).To(gomega.BeZero())
	})
	story(t, "many keys", func(t *testing.T) {
		c := withDigits(t, DigitsToModel)
		press(c, strings.Repeat("7", maxDigits))
		item := next[*wire.ConversationItemAdded](c, "conversation.item.added").Item
		c.g.Expect(item.Content[0].Text).To(gomega.Equal("DTMF: " + strings.Repeat("7", maxDigits)))
		first(c, "response.done")
	})
}

// Sensitive keys come to the clients, and to nothing that is kept.
func TestSensitiveKeysAreKeptNowhere(t *testing.T) {
	story(t, "", func(t *testing.T) {
		c := withDigits(t, DigitsSensitive)
		press(c, "97531#")
		wait(5 * time.Second)
		c.g.Expect(c.count("input_audio_buffer.dtmf_event_received")).To(gomega.Equal(6))
		c.g.Expect(c.count("conversation.item.added")).To(gomega.BeZero())
		c.record.mu.Lock()
		c.g.Expect(c.record.text.String()).NotTo(gomega.ContainSubstring("dtmf"))
		c.record.mu.Unlock()
		c.s.Close(conn.ByClient)
		<-c.s.Done()
		zip, err := gzip.NewReader(bytes.NewReader(c.logbook.Bytes()))
		c.g.Expect(err).NotTo(gomega.HaveOccurred())
		book, err := io.ReadAll(zip)
		c.g.Expect(err).NotTo(gomega.HaveOccurred())
		c.g.Expect(string(book)).To(gomega.ContainSubstring("logbook.Warm"), "the test reads the logbook")
		c.g.Expect(string(book)).NotTo(gomega.MatchRegexp(`dtmf|logbook\.Digit`))
	})
}

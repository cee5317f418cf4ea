//go:build linux

package faults

// A good caller: the SDK with a microphone and a loudspeaker in memory. It takes turns with the agent and checks every word.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/sdk"
	"github.com/antiphon-rt/antiphon/sdk/native"
	"github.com/antiphon-rt/antiphon/wire"
)

// patience bounds every wait for a good caller. A caller reaches it only when something is broken.
const patience = 45 * time.Second

// caller is one client. It returns an error for the first word that is missing, so that the campaign can count.
type caller struct {
	*sdk.Session
	name      string
	webSocket bool
	mic       native.Microphone
	speaker   *native.Speaker
	answers   []string // what the agent has said to this caller, turn by turn
	listened  int      // samples of the recording that have those answers

	mu      sync.Mutex
	heard   []string // transcripts of the caller's turns
	done    []*wire.ResponseDone
	started int // turns of which the server has heard the beginning
	trouble []string
	changed chan struct{}
}

// newCaller makes a caller. It records as much sound as the agent says in the campaign at most.
func newCaller(name, url, key string, webSocket bool, client *http.Client, record time.Duration) (*caller, error) {
	c := &caller{name: name, webSocket: webSocket, speaker: native.NewSpeaker(record), changed: make(chan struct{})}
	n := native.Options{URL: url, Key: key, Client: client, Microphone: &c.mic, Speaker: c.speaker, Loopback: true}
	var dialer sdk.Dialer = native.NewSocketDialer(n)
	if !webSocket {
		d, err := native.NewDialer(n)
		if err != nil {
			return nil, err
		}
		dialer = d
	}
	var err error
	c.Session, err = sdk.New(sdk.Options{Dialer: ear{dialer, c}})
	return c, err
}

// ear is a Dialer that shows the caller every event.
type ear struct {
	sdk.Dialer
	c *caller
}

// Dial implements sdk.Dialer.
func (e ear) Dial(ctx context.Context, config sdk.CallConfig, sink func(sdk.PeerEvent)) (sdk.Peer, error) {
	return e.Dialer.Dial(ctx, config, func(event sdk.PeerEvent) {
		if m, is := event.(sdk.Message); is {
			e.c.note(m.Data)
		}
		sink(event)
	})
}

// note keeps the events that the caller checks.
func (c *caller) note(data []byte) {
	event, err := wire.DecodeServer(data)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e := event.(type) {
	case *wire.ConversationItemInputAudioTranscriptionCompleted:
		c.heard = append(c.heard, e.Transcript)
	case *wire.ConversationItemInputAudioTranscriptionFailed:
		c.trouble = append(c.trouble, "transcription failed: "+e.Error.Message)
	case *wire.InputAudioBufferSpeechStarted:
		c.started++
	case *wire.ResponseDone:
		c.done = append(c.done, e)
	case *wire.ErrorEvent:
		c.trouble = append(c.trouble, "error: "+e.Error.Message)
	case nil:
		c.trouble = append(c.trouble, fmt.Sprintf("%.200s: %v", data, err))
	default:
		return
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// await waits until met returns true. met runs under the lock.
func (c *caller) await(ctx context.Context, what string, met func() bool) error {
	for {
		c.mu.Lock()
		ok, changed := met(), c.changed
		c.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%s waited in vain for %s; heard %q, troubles %q, state %v", c.name, what, c.heard, c.trouble, c.Snapshot().State)
		}
	}
}

// say speaks a text, and returns when the microphone has sent it.
func (c *caller) say(ctx context.Context, text string) error {
	said, err := c.mic.Speak(scripted.Tones(text))
	if err != nil {
		return err
	}
	select {
	case <-said:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s waited in vain for the microphone", c.name)
	}
}

// turn says a text and checks the transcript, the text of the answer and the length of its sound. during runs when the answer begins to
// be heard; it may be nil.
func (c *caller) turn(ctx context.Context, text, answer string, during func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	n := len(c.answers)
	if err := c.say(ctx, text); err != nil {
		return err
	}
	if during != nil {
		if err := errors.Join(c.speaker.AwaitSound(ctx), during()); err != nil {
			return err
		}
	}
	if err := c.await(ctx, "the answer to "+text, func() bool { return len(c.done) > n && len(c.heard) > n }); err != nil {
		return err
	}
	c.mu.Lock()
	heard, done := c.heard[n], c.done[n].Response
	c.mu.Unlock()
	if heard != text {
		return fmt.Errorf("%s said %q, and the server heard %q", c.name, text, heard)
	}
	if got := transcript(done); done.Status != "completed" || got != answer {
		return fmt.Errorf("%s said %q: the response is %s with %q", c.name, text, done.Status, got)
	}
	c.answers = append(c.answers, answer)
	return c.awaitEnd(ctx, answer)
}

// awaitEnd waits until the end of an answer was heard and is followed by silence. A person waits for it, too, before the next turn, even if
// the server is stopped in mid-sentence. Single packets of WebRTC may be lost, so half of the letters and one of the last are enough. After a cut
// the server sends the end again, which it has announced as sent before.
func (c *caller) awaitEnd(ctx context.Context, answer string) error {
	for {
		if err := c.speaker.AwaitSilence(ctx, 400*time.Millisecond); err != nil {
			return err
		}
		sound := c.speaker.RecordingFrom(c.listened)
		text, err := scripted.Heard(sound)
		if err != nil {
			return err
		}
		found := align(answer, text)
		letters := 0
		for _, is := range found {
			if is {
				letters++
			}
		}
		if end := found[max(0, len(found)-lostRun):]; letters >= len(found)/2 && slices.Contains(end, true) {
			rest := time.Duration(0)
			if !end[len(end)-1] {
				rest = 2 * time.Second // longer than the server is stopped
			}
			err := c.speaker.AwaitSilence(ctx, rest)
			c.listened += len(c.speaker.RecordingFrom(c.listened))
			return err
		}
		if err := c.speaker.AwaitSound(ctx); err != nil {
			return fmt.Errorf("%s heard %q and not the end of %q: %w", c.name, text, answer, err)
		}
	}
}

// hangUp ends the call.
func (c *caller) hangUp() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return c.Close(ctx)
}

// reading is what a caller's recording says of the answers.
type reading struct {
	words, letters int      // of the answers
	lost           []string // pieces of the answers that cannot be read, of lostRun letters or more
	gaps           int      // letters that cannot be read
	text           string
}

// lostRun is how many letters in a row count as lost words: 240 ms of sound. A shorter gap leaves the word understood.
const lostRun = 4

// listen reads the recording, and compares it with the answers in their order.
func (c *caller) listen() (r reading, err error) {
	if r.text, err = scripted.Heard(c.speaker.Recording()); err != nil {
		return r, err
	}
	found := align(strings.Join(c.answers, ""), r.text)
	for _, answer := range c.answers {
		r.words += len(strings.Fields(answer))
		r.letters += len(answer)
		run := 0
		for i := range len(answer) + 1 {
			if i < len(answer) && !found[i] {
				run++
				continue
			}
			r.gaps += run
			if run >= lostRun {
				r.lost = append(r.lost, answer[i-run:i])
			}
			run = 0
		}
		found = found[len(answer):]
	}
	return r, nil
}

// align finds the letters of want in text, in order, and returns which it found. A letter that is missing costs as much as eight letters of text
// that are not wanted: after a cut the server sends some seconds again.
func align(want, text string) (found []bool) {
	const missing = 8
	cost := make([][]int, len(want)+1)
	for i := range cost {
		cost[i] = make([]int, len(text)+1)
		for j := range cost[i] {
			switch {
			case i == 0:
				cost[i][j] = j
			case j == 0:
				cost[i][j] = missing * i
			case want[i-1] == text[j-1]:
				cost[i][j] = cost[i-1][j-1]
			default:
				cost[i][j] = min(missing+cost[i-1][j], 1+cost[i][j-1])
			}
		}
	}
	found = make([]bool, len(want))
	for i, j := len(want), len(text); i > 0 && j > 0; {
		switch {
		case cost[i][j] == missing+cost[i-1][j]: // before an equal letter: else the last letter of half an answer counts as that of the whole
			i--
		case want[i-1] == text[j-1] && cost[i][j] == cost[i-1][j-1]:
			i, j = i-1, j-1
			found[i] = true
		default:
			j--
		}
	}
	return found
}

// transcript returns the words of a response.
func transcript(r wire.Response) string {
	for _, item := range r.Output {
		if item.Type == wire.ItemMessage && len(item.Content) > 0 && item.Content[0].Transcript != nil {
			return *item.Content[0].Transcript
		}
	}
	return ""
}

func TestALetterThatIsMissingIsFound(t *testing.T) {
	g := gomega.NewWithT(t)
	for text, lost := range map[string]string{
		"one two. You said: 0.1You said: 0.2You":            "",
		"two. You said: 0.1two. You said: 0.1You said: 0.2": "", // the end of an answer is heard again
		"You said 0.1You said: 0.2":                         ":",
		"You said: 0.1You saffd: 0.2":                       "i",
		"You said: 0.1.1You":                                " said: 0.2",
		"You said: 0.1":                                     "You said: 0.2",
	} {
		want := "You said: 0.1You said: 0.2"
		got := ""
		for i, is := range align(want, text) {
			if !is {
				got += want[i : i+1]
			}
		}
		g.Expect(got).To(gomega.Equal(lost), text)
	}
}

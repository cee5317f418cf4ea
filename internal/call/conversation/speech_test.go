package conversation

// The user's speech for a model that hears: which message has it, and which has its transcript alone.

import (
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// ears is a model that hears or not.
type ears struct {
	pipeline.Model
	open bool
}

// HearsAudio implements pipeline.AudioModel.
func (e ears) HearsAudio() bool { return e.open }

// beginHearing returns an empty conversation whose model hears.
func beginHearing(t *testing.T) tester {
	t.Helper()
	return tester{t, gomega.NewWithT(t), New(env.System(), ears{open: true})}
}

// spoke adds a turn of the user: text is its transcript, pcm its audio.
func (r tester) spoke(text string, pcm []int16) *Item {
	it, _, _ := r.Append(wire.Item{ID: text, Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputAudio}}})
	it.SetTranscript(0, text)
	r.SetRecording(it, pcm)
	return it
}

// heard returns the messages that a makes, each as its text, the length of its audio in samples, and what stands beside the audio.
func (r tester) heard(a Ask) string {
	r.t.Helper()
	a.Truncation = truncation(r.t, `"auto"`)
	p, err := r.Request(pipeline.Request{}, a)
	r.g.Expect(err).NotTo(gomega.HaveOccurred())
	var out []string
	for _, m := range p.Request.Messages {
		text := m.Text
		if m.Audio != nil {
			text += strings.Repeat("#", len(m.Audio.PCM)) + m.Audio.Rest
		}
		out = append(out, text)
	}
	return strings.Join(out, "|")
}

func TestTheNewestSpeechIsAudioForAModelThatHears(t *testing.T) {
	r := beginHearing(t)
	one := r.spoke("one", make([]int16, 1))
	r.g.Expect(r.heard(Ask{})).To(gomega.Equal("one#"))
	r.note("typed")
	r.g.Expect(r.heard(Ask{})).To(gomega.Equal("one#|typed"), "the newest that was spoken")
	r.spoke("two", make([]int16, 2))
	r.g.Expect(r.heard(Ask{})).To(gomega.Equal("one|typed|two##"))
	r.SetRecording(one, make([]int16, 3))
	r.g.Expect(r.heard(Ask{})).To(gomega.Equal("one|typed|two##"), "a late recording of an older item")
	r.spoke("", make([]int16, 3))
	r.g.Expect(r.heard(Ask{})).To(gomega.Equal("one|typed|two|###"), "speech without a transcript")
	_, refused := r.Delete("")
	r.g.Expect(refused).To(gomega.BeNil())
	r.g.Expect(r.speech.pcm).To(gomega.BeNil(), "nobody keeps the audio of an item that was deleted")
	r.g.Expect(r.heard(Ask{})).To(gomega.Equal("one|typed|two"))
}

func TestLongSpeechIsItsTranscript(t *testing.T) {
	r := beginHearing(t)
	r.spoke("old", make([]int16, 1))
	r.spoke("long", make([]int16, maxSpeech+1))
	r.g.Expect(r.heard(Ask{})).To(gomega.Equal("old|long"))
	r.spoke("just right", make([]int16, maxSpeech))
	p, err := r.Request(pipeline.Request{}, Ask{Truncation: truncation(t, `"auto"`)})
	r.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.g.Expect(p.Request.Messages[2].Audio.PCM).To(gomega.HaveLen(30 * pipeline.AudioRate))
	r.g.Expect(p.Tokens).To(gomega.Equal(1 + 1 + 3 + 30*audioTokens))
}

func TestOtherModelsGetNoAudio(t *testing.T) {
	for _, m := range []pipeline.Model{ears{}, nil} {
		g := gomega.NewWithT(t)
		r := tester{t, g, New(env.System(), m)}
		r.spoke("one", make([]int16, 1))
		g.Expect(r.heard(Ask{})).To(gomega.Equal("one"))
		g.Expect(r.speech.pcm).To(gomega.BeNil())
	}
}

// withTranscript is a message of the user with audio, its transcript, and a text.
func withTranscript(pcm []int16) wire.Item {
	said := "said"
	return wire.Item{Type: wire.ItemMessage, Role: "user", Content: []wire.Content{
		{Type: wire.ContentInputText, Text: "Listen:"}, {Type: wire.ContentInputAudio, Audio: voice.PCM16ToBytes(nil, pcm), Transcript: &said},
	}}
}

func TestAudioThatAClientGives(t *testing.T) {
	r := beginHearing(t)
	w := withTranscript(make([]int16, 2))
	it, _, refused := r.Create(w, "")
	r.g.Expect(refused).To(gomega.BeNil())
	r.g.Expect(r.heard(Ask{})).To(gomega.Equal("Listen:\nsaid"))
	r.Hear(it, wire.FormatPCM)
	r.g.Expect(r.heard(Ask{})).To(gomega.Equal("Listen:\nsaid##Listen:"))
	r.Hear(it, wire.FormatPCMU)
	r.g.Expect(len(r.speechOf(it))).To(gomega.BeNumerically("~", 4*room.InputRate/room.LawRate, 3), "four bytes are four samples of G.711")

	long, _, _ := r.Create(withTranscript(make([]int16, maxSpeech+1)), "")
	r.Hear(long, wire.FormatPCM)
	r.g.Expect(r.speechOf(long)).To(gomega.BeNil())
	twice := withTranscript(make([]int16, 2))
	twice.Content = slices.Concat(twice.Content, twice.Content[1:])
	r.g.Expect(r.decode(twice, wire.FormatPCM)).To(gomega.BeNil(), "two recordings in a message are their transcripts")
}

// Of a response's own input the newest audio counts, given or named.
func TestAudioOfAResponsesOwnInput(t *testing.T) {
	r := beginHearing(t)
	r.spoke("one", make([]int16, 1))
	given, named := withTranscript(make([]int16, 2)), wire.Item{Type: wire.ItemReference, ID: "one"}
	input := func(items ...wire.Item) Ask { return Ask{Input: items, HasInput: true, Format: wire.FormatPCM} }
	r.g.Expect(r.heard(input(named))).To(gomega.Equal("one#"))
	r.g.Expect(r.heard(input(named, given))).To(gomega.Equal("one|Listen:\nsaid##Listen:"))
	r.g.Expect(r.heard(input(given, named))).To(gomega.Equal("Listen:\nsaid|one#"))
	r.g.Expect(r.heard(input(wire.Item{Type: wire.ItemReference, ID: "gone"}))).To(gomega.BeEmpty())
}

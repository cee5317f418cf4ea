package listening

// Transcription of recordings and of late turns.

import (
	"errors"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/coord/turn"
	"github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// message returns an item of parts, of which those without a transcript are recordings.
func message(parts ...wire.Content) *wire.Item { return &wire.Item{Content: parts} }

func audio(b []byte) wire.Content { return wire.Content{Type: wire.ContentInputAudio, Audio: b} }

func TestTakeRecording(t *testing.T) {
	text := wire.Content{Type: wire.ContentInputText, Text: "Listen:"}
	told := audio([]byte{1, 2})
	told.Transcript = new(string)

	story(t, "the audio leaves the item", func(b *recognitionBench) {
		w := message(text, told, audio([]byte{1, 0, 2, 0}))
		parts := w.Content
		r, refused := b.s.TakeRecording(w, wire.FormatPCM)
		b.g.Expect(refused).To(gomega.BeNil())
		b.g.Expect(r).To(gomega.Equal(&Recording{Part: 2, PCM: []int16{1, 2}, held: 4}))
		b.g.Expect(w.Content[2].Audio).To(gomega.BeEmpty())
		b.g.Expect(parts[2].Audio).To(gomega.HaveLen(4), "the caller's parts are not touched")
	})
	story(t, "in the format of the session, to the sample", func(b *recognitionBench) {
		r, refused := b.s.TakeRecording(message(audio(voice.AppendMuLaw(nil, make([]int16, 800)))), wire.FormatPCMU)
		b.g.Expect(refused).To(gomega.BeNil())
		b.g.Expect(len(r.PCM)).To(gomega.Equal(2400))
	})
	story(t, "an item without any", func(b *recognitionBench) {
		r, refused := b.s.TakeRecording(message(text, told), wire.FormatPCM)
		b.g.Expect([]any{r, refused}).To(gomega.HaveEach(gomega.BeNil()))
	})
	story(t, "what cannot be transcribed is refused", func(b *recognitionBench) {
		for _, row := range []struct {
			item  *wire.Item
			param string
		}{
			{message(text, audio(nil)), "item.content[1].audio"},
			{message(audio(make([]byte, 3))), "item.content[0].audio"},
			{message(audio(make([]byte, 4)), text, audio(make([]byte, 4))), "item.content[2].audio"},
		} {
			r, refused := b.s.TakeRecording(row.item, wire.FormatPCM)
			b.g.Expect(r).To(gomega.BeNil())
			b.g.Expect([]string{refused.Code, refused.Param}).To(gomega.Equal([]string{wire.CodeInvalidValue, row.param}))
		}
	})
}

func TestTranscribe(t *testing.T) {
	said := &Recording{Part: 1, PCM: scripted.Tones("hello")}
	recorded := func(b *recognitionBench) (Recorded, error) {
		b.t.Helper()
		e, out, err := b.next()
		b.g.Expect(out).To(gomega.BeEmpty())
		b.g.Expect(b.s.recordings).To(gomega.BeZero())
		return e.(Recorded), err
	}
	story(t, "its text comes once", func(b *recognitionBench) {
		b.with(scripted.New(scripted.Options{}).Transcriber)
		b.s.Transcribe(said, 7, pipeline.TranscribeConfig{})
		b.g.Expect(b.s.recordings).To(gomega.Equal(1))
		e, err := recorded(b)
		b.g.Expect(err).NotTo(gomega.HaveOccurred())
		b.g.Expect(e.Item).To(gomega.BeNumerically("==", 7))
		b.g.Expect(e.Transcript).To(gomega.Equal(Transcript{Part: 1, Text: "hello", Samples: len(said.PCM)}))
	})
	story(t, "a recogniser that fails", func(b *recognitionBench) {
		b.r.open = errors.New("no room")
		b.s.Transcribe(said, 7, pipeline.TranscribeConfig{})
		e, err := recorded(b)
		b.g.Expect(err).To(gomega.MatchError("no room"))
		b.g.Expect(e.Transcript.Failure).To(gomega.Equal("no room"))
	})
	story(t, "a recogniser that refuses is no fault", func(b *recognitionBench) {
		b.r.open = pipeline.ErrNoLive
		b.s.Transcribe(said, 7, pipeline.TranscribeConfig{})
		e, err := recorded(b)
		b.g.Expect(err).NotTo(gomega.HaveOccurred())
		b.g.Expect(e.Transcript.Failure).NotTo(gomega.BeEmpty())
	})
	story(t, "there is a limit to what is transcribed at a time", func(b *recognitionBench) {
		b.r.stuck = true
		for range MaxRecordings {
			b.s.Transcribe(said, 7, pipeline.TranscribeConfig{})
		}
		_, refused := b.s.TakeRecording(message(audio(make([]byte, 4))), wire.FormatPCM)
		b.g.Expect(refused.Code).To(gomega.Equal("too_many_transcriptions"))
	})
}

func TestLateTurnsAreTranscribedOneAfterTheOther(t *testing.T) {
	story(t, "oldest first, and at most MaxLate of them", func(b *recognitionBench) {
		for i := range MaxLate {
			b.g.Expect(b.s.TranscribeLater(Delivery{Item: machine.Item(i + 1), PCM: make([]int16, 2400)}, pipeline.TranscribeConfig{})).To(gomega.BeTrue())
		}
		b.g.Expect(b.s.TranscribeLater(Delivery{}, pipeline.TranscribeConfig{})).To(gomega.BeFalse())
		for i := range MaxLate {
			b.r.results <- pipeline.TranscriptResult{Final: true, Text: "words"}
			e, _, err := b.next()
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			b.g.Expect(e.(Recorded).Item).To(gomega.Equal(machine.Item(i + 1)))
			b.g.Expect(e.(Recorded).Transcript.Text).To(gomega.Equal("words"))
		}
		b.g.Expect(b.s.recordings).To(gomega.BeZero())
	})
}

// TestRecordingsShareMemory checks that the recordings of one principal leave memory for those of another, and give everything back.
func TestRecordingsShareMemory(t *testing.T) {
	story(t, "as much as is left free", func(b *recognitionBench) {
		const total = 16 << 20
		budget := account.New(total)
		b.memory, b.r.stuck = account.Purse{Budget: budget}, true
		b.with(b.r)
		item := func() *wire.Item { return message(audio(make([]byte, 3<<20))) }
		for range 3 { // 9 MiB, of which 2 MiB are beside the budget
			r, refused := b.s.TakeRecording(item(), wire.FormatPCM)
			b.g.Expect(refused).To(gomega.BeNil())
			b.s.Transcribe(r, 7, pipeline.TranscribeConfig{})
		}
		b.g.Expect(budget.Free()).To(gomega.BeEquivalentTo(total - 7<<20))
		for _, name := range []string{wire.FormatPCM, wire.FormatPCMU} {
			_, refused := b.s.TakeRecording(item(), name)
			b.g.Expect(refused).NotTo(gomega.BeNil())
			b.g.Expect(refused.Code).To(gomega.Equal("server_busy"))
		}
		b.g.Expect(budget.Take("another", 4<<20)).To(gomega.Succeed())
		budget.Give("another", 4<<20)
		b.cancel()
		b.s.Close()
		b.s.workers.Wait()
		b.s.stage.memory.Close()
		b.g.Expect(budget.Free()).To(gomega.BeEquivalentTo(total))
	})
	story(t, "a recording counts from when it is decoded on", func(b *recognitionBench) {
		b.memory = account.Purse{Budget: account.New(16 << 20)}
		b.with(b.r)
		_, refused := b.s.TakeRecording(message(audio(make([]byte, 9<<20))), wire.FormatPCM)
		b.g.Expect(refused).To(gomega.BeNil())
		_, refused = b.s.TakeRecording(message(audio(make([]byte, 3<<20))), wire.FormatPCM)
		b.g.Expect(refused).NotTo(gomega.BeNil(), "the first one is not transcribed yet")
	})
	story(t, "a turn without memory has its live text, and is not recognised as a whole", func(b *recognitionBench) {
		b.memory = account.Purse{Budget: account.New(0)}
		b.with(b.r)
		for id, long := range map[turn.ID]bool{1: false, 2: true} {
			b.s.Open(id, 0)
			b.s.Commit(id, machine.Item(id), make([]int16, map[bool]int{false: 2400, true: ownAudio}[long]), time.Time{}, time.Time{})
			b.s.Decode(id, pipeline.TranscribeConfig{})
			if long {
				_, _, err := b.next()
				b.g.Expect(err).To(gomega.MatchError(account.ErrFull))
				continue
			}
			b.says(pipeline.TranscriptResult{Final: true, Text: "words"})
		}
	})
	story(t, "frames that wait", func(b *recognitionBench) {
		b.memory, b.r.stuck = account.Purse{Budget: account.New(0)}, true
		b.with(b.r)
		b.s.Open(1, 0)
		b.s.Listen(1, pipeline.TranscribeConfig{Live: true}, nil, b.view)
		var failed RecognitionEvent
		frames := 0
		for ; failed == nil && frames < maxWaiting; frames++ {
			failed = b.s.Write(1, Frame{PCM: make([]float32, voice.FrameSize)})
		}
		b.g.Expect(failed).NotTo(gomega.BeNil())
		b.g.Expect(frames).To(gomega.BeNumerically("~", ownAudio/(4*voice.FrameSize), 2))
	})
}

package listening

// Recordings: audio that is transcribed as a whole. A client's item brings it, or a turn that the machines gave up.

import (
	"fmt"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/machine"
	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// MaxLate is how many turns may wait that the machines gave up.
const MaxLate = 8

// lateTurn is a turn that the machines gave up: its audio is transcribed again, after those before it.
type lateTurn struct {
	item     machine.Item
	captions string // what the client got of its text
	start    voice.Samples
	pcm      []int16
	config   pipeline.TranscribeConfig
}

// MaxRecordings is how many recordings are transcribed at a time.
const MaxRecordings = 8

// Recording is one part of an item: audio without a transcript.
type Recording struct {
	Part int     // which part of the item
	PCM  []int16 // mono, at room.InputRate
	held int64   // the memory that it has, until it is transcribed or dropped
}

// TakeRecording takes the audio that has no transcript out of w; name is the format that it is in. It returns nil if there is none, and a
// failure if the audio cannot be transcribed. w.Content is replaced, not changed.
func (s *Recognitions) TakeRecording(w *wire.Item, name string) (*Recording, *room.Failure) {
	silent := func(c wire.Content) bool { return c.Type == wire.ContentInputAudio && c.Transcript == nil }
	at := slices.IndexFunc(w.Content, silent)
	if at < 0 {
		return nil, nil
	}
	bad := func(part int, message string) (*Recording, *room.Failure) {
		return nil, room.Refuse(wire.CodeInvalidValue, fmt.Sprintf("item.content[%d].audio", part), message)
	}
	audio := w.Content[at].Audio
	switch second := slices.IndexFunc(w.Content[at+1:], silent); {
	case second >= 0:
		return bad(at+1+second, "one part of an item can be transcribed: make an item of each, or give the transcript")
	case len(audio) == 0:
		return bad(at, "there is no audio in it: give audio in the session's input format, or a transcript")
	case name == wire.FormatPCM && len(audio)%2 != 0:
		return bad(at, "audio/pcm has 2 bytes a sample: the length must be even")
	case s.recordings == MaxRecordings:
		return nil, room.Refuse("too_many_transcriptions", "item",
			fmt.Sprintf("%d recordings are being transcribed: wait for one to be", MaxRecordings))
	}
	bytes := int64(len(audio))
	if name != wire.FormatPCM {
		bytes *= 6 // a byte is a sample at 8 kHz
	}
	if s.stage.memory.Take(bytes) != nil {
		return nil, &room.Failure{Type: room.TypeServer, Code: "server_busy", Param: "item", Message: "there is no memory for this recording now: send a shorter one, or try again in a moment"}
	}
	var d room.Decoder
	pcm, err := d.Decode(name, audio)
	if err != nil {
		s.stage.memory.Give(bytes)
		return nil, &room.Failure{Type: room.TypeServer, Code: "audio_format", Param: "item", Message: err.Error()}
	}
	w.Content = slices.Clone(w.Content)
	w.Content[at].Audio = nil
	return &Recording{at, append(pcm, d.Rest()...), bytes}, nil
}

// Transcribe has a recording of item transcribed. Recorded reports the end of that.
func (s *Recognitions) Transcribe(r *Recording, item machine.Item, c pipeline.TranscribeConfig) {
	s.recordings++
	s.record(Recorded{Item: item, Transcript: Transcript{Part: r.Part, Samples: len(r.PCM)}, Held: r.held}, r.PCM, c)
}

// record has pcm transcribed. done is completed and posted at the end of that.
func (s *Recognitions) record(done Recorded, pcm []int16, c pipeline.TranscribeConfig) {
	s.stage.recognise(c, 0, pcm, nil, func(e RecognitionEvent) bool {
		switch e := e.(type) {
		case Final:
			done.Transcript.Text, done.Transcript.Words = e.Text, e.Words
		case Failed:
			done.Err, done.Transcript.Failure = e.Err, room.Public(e.Err.Error())
		case Refused:
			done.Transcript.Failure = "the recogniser does not take it"
		case Ready, Partial, Ending, Recorded, Retranscribed:
			return true
		}
		return s.post(done)
	})
}

// TranscribeLater has a turn transcribed that the machines gave up, once the late turns before it are done. Recorded reports its
// transcript. TranscribeLater reports false, and does nothing, if MaxLate turns wait, or if there is no memory for its audio.
func (s *Recognitions) TranscribeLater(d Delivery, c pipeline.TranscribeConfig) bool {
	if len(s.late) == MaxLate || len(d.PCM) < d.Transcript.Samples || s.stage.memory.Take(size(len(d.PCM))) != nil {
		return false
	}
	s.late = append(s.late, lateTurn{d.Item, d.Transcript.Captions, d.Transcript.Start, d.PCM, c})
	if len(s.late) == 1 {
		s.nextLate()
	}
	return true
}

// lateDone forgets the oldest late turn, whose transcript is there, and begins with the next.
func (s *Recognitions) lateDone() {
	if len(s.late) == 0 {
		return
	}
	s.stage.memory.Give(size(len(s.late[0].pcm)))
	if s.late = s.late[1:]; len(s.late) > 0 {
		s.nextLate()
	}
}

// nextLate begins to transcribe the oldest late turn.
func (s *Recognitions) nextLate() {
	t := s.late[0]
	s.record(Recorded{Item: t.item, Transcript: Transcript{Captions: t.captions, Start: t.start, Samples: len(t.pcm)}, Late: true}, t.pcm, t.config)
}

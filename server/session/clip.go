package session

import (
	"fmt"
	"slices"

	"github.com/antiphon-rt/antiphon/coord/id"
	"github.com/antiphon-rt/antiphon/server/session/format"
	"github.com/antiphon-rt/antiphon/voice"
	"github.com/antiphon-rt/antiphon/wire"
)

// maxClips is how many recordings are transcribed at a time.
const maxClips = 8

// clip is the user's audio that came whole, in an item of the client's, and is to be transcribed.
type clip struct {
	part int // which of the item's it is
	pcm  []int16
}

// clipHeard is a report of the ear that transcribes a clip.
type clipHeard struct {
	item    id.Item
	part    int
	samples int
	report  any
}

// clipOf takes the audio that has no transcript out of an item: nil when there is none. What cannot be transcribed is a failure.
func (s *Session) clipOf(w *wire.Item) (*clip, *failure) {
	untold := func(c wire.Content) bool { return c.Type == wire.ContentInputAudio && c.Transcript == nil }
	at := slices.IndexFunc(w.Content, untold)
	if at < 0 {
		return nil, nil
	}
	bad := func(part int, message string) (*clip, *failure) {
		return nil, &failure{code: wire.CodeInvalidValue, param: fmt.Sprintf("item.content[%d].audio", part), message: message}
	}
	kind, audio := s.settings.InputFormat(), w.Content[at].Audio
	switch {
	case slices.ContainsFunc(w.Content[at+1:], untold):
		return bad(at+1+slices.IndexFunc(w.Content[at+1:], untold), "one part of an item can be transcribed: make an item of each, or give the transcript")
	case len(audio) == 0:
		return bad(at, "there is no audio in it: give audio in the session's input format, or a transcript")
	case kind == wire.FormatPCM && len(audio)%2 != 0:
		return bad(at, "audio/pcm has 2 bytes a sample: the length must be even")
	case s.clips == maxClips:
		return nil, &failure{
			code: "too_many_transcriptions", param: "item",
			message: fmt.Sprintf("%d recordings are being transcribed: wait for one to be", maxClips),
		}
	}
	var in format.Decoder
	pcm, err := in.Decode(kind, audio)
	if err != nil {
		return nil, &failure{kind: typeServer, code: "audio_format", param: "item", message: err.Error()}
	}
	w.Content = slices.Clone(w.Content)
	w.Content[at].Audio = nil
	return &clip{at, append(pcm, in.Rest()...)}, nil
}

// hearClip has the clip of an item transcribed. Responses wait for its words.
func (s *Session) hearClip(it *item, c *clip) {
	it.pending = true
	it.said = voice.Samples(len(c.pcm))
	s.keepSound(it, c.pcm)
	s.clips++
	num, part, samples := it.num, c.part, len(c.pcm)
	listen(s.ctx, &s.workers, s.cfg.Pipeline.Transcriber, s.settings.TranscribeConfig(false), 0, c.pcm, func(report any) bool {
		return s.queue.post(clipHeard{num, part, samples, report})
	})
}

// fromClip takes what was understood of a clip. Its item may be gone by then.
func (s *Session) fromClip(e clipHeard) {
	said, failed := earFinal{}, ""
	switch r := e.report.(type) {
	case earFinal:
		said = r
	case earFailed:
		s.failed("a transcription failed", r.err, "item", e.item)
		failed = r.err.Error()
	case earRefused:
		failed = "the recogniser does not take it"
	default:
		return // a partial result
	}
	s.clips--
	i := slices.IndexFunc(s.conversation.items, func(it *item) bool { return it.num == e.item })
	if i >= 0 {
		it := s.conversation.items[i]
		it.pending = false
		it.Content = slices.Clone(it.Content)
		it.Content[e.part].Transcript = &said.text
		if failed != "" {
			s.untranscribed(it.ID, e.part, failed)
		} else {
			s.transcribed(it.ID, e.part, said, e.samples)
		}
	}
	s.startWaiting()
}

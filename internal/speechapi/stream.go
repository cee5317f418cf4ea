package speechapi

// Transcripts in events: cuts a recording into segments, and turns partial results into deltas.

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/internal/voice"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// streamTranscript answers with events while the recogniser works. A recogniser without partial results ends the stream with an error.
func (h *Handler) streamTranscript(w http.ResponseWriter, r *http.Request, q transcriptionRequest) *answer.Problem {
	out := stream(w)
	q.config.Live = true
	var texts []string
	for _, segment := range segments(q.pcm) {
		text, err := h.streamSegment(r.Context(), out, q.config, segment, len(texts) > 0)
		if r.Context().Err() != nil {
			return nil // the client is gone
		}
		if err != nil {
			p := stageProblem(err)
			if errors.Is(err, pipeline.ErrNoLive) {
				p.Code, p.Message = "no_live_transcription", "this recogniser has no partial results: ask again without stream"
			}
			out.fail(p)
			return nil
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	_ = out.send(map[string]any{
		"type": "transcript.text.done", "text": strings.Join(texts, " "), "usage": usage(float64(len(q.pcm)) / pipeline.InputRate),
	})
	return nil
}

// streamSegment transcribes one segment and sends its text in deltas. follows: there is text before it.
func (h *Handler) streamSegment(ctx context.Context, out events, c pipeline.TranscribeConfig, pcm []int16, follows bool) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan pipeline.TranscriptResult, 64)
	over := make(chan error, 1)
	go func() {
		over <- h.transcribe(ctx, c, pcm, func(r pipeline.TranscriptResult) {
			for {
				select {
				case results <- r:
					return
				default:
				}
				select {
				case <-results: // a later result has the same text and more
				default:
				}
			}
		})
		close(results)
	}()
	d := deltas{follows: follows}
	for r := range results {
		var delta string
		if r.Final {
			delta = d.final(r.Text)
		} else {
			delta = d.partial(r.Partial)
		}
		if delta != "" && out.send(map[string]any{"type": "transcript.text.delta", "delta": delta}) != nil {
			cancel()
		}
	}
	return d.text, <-over
}

// deltas makes deltas, which cannot be taken back, of partial results, which can: it sends the words that two results in a row share.
type deltas struct {
	follows bool
	before  []string // the words of the last result
	sent    int      // how many words were sent
	text    string   // the final text
}

func (d *deltas) partial(text string) string {
	words := strings.Fields(text)
	same := 0
	for same < min(len(words), len(d.before)) && words[same] == d.before[same] {
		same++
	}
	d.before = words
	return d.send(words, same)
}

// final returns the rest of the text. Words that were sent stay as they are; the last event has the whole text.
func (d *deltas) final(text string) string {
	d.text = strings.TrimSpace(text)
	words := strings.Fields(text)
	return d.send(words, len(words))
}

// send returns the words up to n that were not sent, with a space before them if there is text before.
func (d *deltas) send(words []string, n int) string {
	if n <= d.sent {
		return ""
	}
	delta := strings.Join(words[d.sent:n], " ")
	if d.sent > 0 || d.follows {
		delta = " " + delta
	}
	d.sent = n
	return delta
}

// Lengths of a segment, in samples: a live transcription takes half a minute.
const (
	shortest = 8 * pipeline.InputRate
	longest  = 25 * pipeline.InputRate
	pause    = pipeline.InputRate * 3 / 10
)

// segments cuts a recording in pauses of 300 ms, so that each segment has 8 to 25 s.
func segments(pcm []int16) (all [][]int16) {
	detector := voice.NewDetector(voice.DetectorConfig{})
	frame := make([]float32, 0, voice.FrameSize)
	begin, quiet := 0, 0
	for at := voice.FrameSize; at <= len(pcm); at += voice.FrameSize {
		quiet += voice.FrameSize
		if detector.Frame(voice.PCM16ToFloat(frame[:0], pcm[at-voice.FrameSize:at])).Speech {
			quiet = 0
		}
		if n := at - begin; n >= longest || n >= shortest && quiet >= pause {
			all = append(all, pcm[begin:at])
			begin = at
		}
	}
	if begin < len(pcm) || all == nil {
		all = append(all, pcm[begin:])
	}
	return all
}

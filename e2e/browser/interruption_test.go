package browser_test

// A spoken interruption on the Talk page: the cut is at the last sound that the page received.

import (
	"bytes"
	"context"
	"flag"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// clause is a clause of a response and its sound.
type clause struct {
	text string
	pcm  []int16
}

// recordingSynthesizer is a synthesizer that keeps the sound of each clause: the reference for the sound that a page receives.
type recordingSynthesizer struct {
	pipeline.Synthesizer

	mu   sync.Mutex
	said []*clause
}

func (o *recordingSynthesizer) Synthesize(ctx context.Context, u pipeline.Utterance, emit func([]int16) error) error {
	c := &clause{text: u.Text}
	o.mu.Lock()
	o.said = append(o.said, c)
	o.mu.Unlock()
	return o.Synthesizer.Synthesize(ctx, u, func(pcm []int16) error {
		o.mu.Lock()
		c.pcm = append(c.pcm, pcm...)
		o.mu.Unlock()
		return emit(pcm)
	})
}

// clauses returns the clauses that together make up a text.
func (o *recordingSynthesizer) clauses(g *gomega.WithT, text string) []clause {
	o.mu.Lock()
	defer o.mu.Unlock()
	var found []clause
	for _, c := range o.said {
		if strings.HasPrefix(text, strings.TrimSpace(c.text)) {
			text = strings.TrimSpace(strings.TrimPrefix(text, strings.TrimSpace(c.text)))
			found = append(found, clause{c.text, c.pcm})
		}
	}
	g.Expect(found).NotTo(gomega.BeEmpty())
	return found
}

// A long answer is interrupted by a question: the agent falls silent, the conversation keeps exactly the words that were heard, and the
// agent answers.
func TestAnInterruptionStopsTheAnswerAndIsAnswered(t *testing.T) {
	g := matching(t)
	pipe := realSpeech(t, g)
	voice := &recordingSynthesizer{Synthesizer: pipe.Synthesizer}
	pipe.Synthesizer = voice
	s := serve(t, g, pipe)
	count, question := speech(t, g, "count to one hundred"), speech(t, g, "what is seven times eight")
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)
	g.Expect(p.Look(1440, 900, "light")).To(gomega.Succeed())
	p.call()

	p.says(count)
	p.line("user", gomega.HaveField("Said", wording("count to one hundred")))
	before, err := p.Concealed()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	// The interruption begins in a pause, so the agent stops in its next word. There the end of its sound can be measured exactly.
	g.Eventually(p.Heard).WithPolling(20 * time.Millisecond).Should(gomega.And(
		gomega.HaveField("SinceMS", gomega.BeNumerically(">=", 3000)), gomega.HaveField("QuietMS", gomega.BeNumerically(">=", 250)),
	))
	spoke := p.says(question)
	cut := p.line("assistant", gomega.HaveField("Interrupted", true))
	after, err := p.Concealed()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(cut.Cut).To(gomega.Equal("interrupted"))
	p.line("user", gomega.HaveField("Said", wording("what is seven times eight")))
	p.answered("is fifty-six") // the count may have come as far as fifty-six
	p.reaches("listening")
	cut = p.line("assistant", gomega.HaveField("Item", cut.Item)) // the words that were not heard are removed by now

	p.says(speech(t, g, "who are you"))
	p.line("assistant", gomega.And(gomega.HaveField("Said", gomega.ContainSubstring("small assistant")), gomega.HaveField("Coming", gomega.Not(gomega.BeEmpty()))))
	p.portrait()
	p.hangUp()

	truncated, err := s.Recorded("conversation.item.truncated")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(truncated).To(gomega.HaveLen(1))
	g.Expect(truncated[0].Event.ItemID).To(gomega.Equal(cut.Item))
	told := truncated[0].Event.AudioEndMS

	said := voice.clauses(g, responseText(g, s, cut.Item))
	rec, err := p.Recording()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	// A busy machine delivers packets late, and the browser makes up sound for the gaps. By that much the recording is not the answer.
	bridged := max(0, int(math.Round(after-before)))
	h := measure(g, rec, said, spoke, bridged)
	t.Logf("silent %.0f ms after the interruption began; heard %d ms (certain to %d ms), told %d ms, bridged by the browser %d ms; the transcript ends %q",
		h.silentAfter, h.from, h.to, told, bridged, tail(cut.Said))
	g.Expect(h.silentAfter).To(gomega.BeNumerically("<", 1000+bridged))
	// The recording is of what the page received. The page falls silent before the server does, so the user has heard all of it only up to the interruption.
	// e2e/bargein measures the sound that the page plays.
	g.Expect(told).To(gomega.And(gomega.BeNumerically(">=", h.from-int(h.silentAfter)-100-bridged), gomega.BeNumerically("<=", h.to+100+bridged)))
	heardText(g, said, cut.Said, told)
}

// picture is the path of the screenshot of a conversation, for the README:
//
//	go test ./e2e/browser -run Interruption -picture ../../docs/images/talk.png
var picture = flag.String("picture", filepath.Join(pictures, "talk.png"), "where to keep the picture of a conversation")

// portrait takes that screenshot.
func (p *talk) portrait() {
	p.t.Helper()
	before, err := p.Heard()
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	p.g.Eventually(p.Heard).Should(gomega.HaveField("LoudMS", gomega.BeNumerically(">", before.LoudMS+1000)))
	raw, err := p.Screenshot()
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	img, err := png.Decode(bytes.NewReader(raw))
	p.g.Expect(err).NotTo(gomega.HaveOccurred())
	var small bytes.Buffer
	p.g.Expect((&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, img)).To(gomega.Succeed())
	p.g.Expect(os.MkdirAll(filepath.Dir(*picture), 0o755)).To(gomega.Succeed())
	p.g.Expect(os.WriteFile(*picture, small.Bytes(), 0o644)).To(gomega.Succeed())
}

// responseText returns the whole text of a response, as far as the server had made it.
func responseText(g *gomega.WithT, s *rig.Server, item string) string {
	done, err := s.Recorded("response.output_audio_transcript.done")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for _, r := range done {
		if r.Event.ItemID == item {
			return r.Event.Transcript
		}
	}
	g.Expect(done).To(gomega.ContainElement(gomega.HaveField("Event.ItemID", item)))
	return ""
}

// heard is the measured end of an interrupted answer. The answer ended between the positions from and to, in ms. They differ when it
// ended in a pause between words, where the end cannot be heard.
type heard struct {
	from, to    int
	silentAfter float64 // the time from the onset of the interruption to the agent's last sound, in ms
}

// probe is how much of a recording is compared with the synthesised sound, in cells of an envelope.
const probe = 1200 / rig.Cell

// measure finds the end of the first answer in a recording, and the position of this end in the synthesised answer. onset is when the
// user began to speak, on the recording's clock, and bridged is how many ms of the recording the browser has made up.
func measure(g *gomega.WithT, rec *rig.Recording, said []clause, onset float64, bridged int) heard {
	reference, sound := envelope(said), rig.Envelope(rec.PCM, rec.Rate)
	// The answer to the interruption comes after a longer silence than any between words.
	last := endOfSound(rec, sound, onset, 700+bridged)
	at := find(g, reference, sound[max(0, last-probe):last])
	h := heard{from: (at + probe) * rig.Cell, silentAfter: rec.Time(last) - onset}
	next := at + probe
	for next < len(reference) && reference[next] < rig.Loud {
		next++
	}
	h.to = next * rig.Cell
	return h
}

// envelope returns the envelope of all clauses, one after another.
func envelope(said []clause) []float64 {
	var whole []int16
	for _, c := range said {
		whole = append(whole, c.pcm...)
	}
	return rig.Envelope(whole, pipeline.OutputRate)
}

// endOfSound returns the first cell of the first silence of at least silence ms that ends later than after on the recording's clock.
func endOfSound(rec *rig.Recording, sound []float64, after float64, silence int) int {
	last := 0
	for i, level := range sound {
		if level >= rig.Loud {
			if last > 0 && rec.Time(i) > after && i-last >= silence/rig.Cell {
				return last
			}
			last = i + 1
		}
	}
	return last
}

// find returns the position of a piece of the recording in the answer, in cells.
func find(g *gomega.WithT, reference, piece []float64) int {
	g.Expect(len(piece)).To(gomega.Equal(probe), "too little was heard to tell where it belongs")
	at, match := locate(reference, piece)
	// On a busy machine the synthesizer pauses between clauses, which lowers the correlation. A wrong position would still be noticed:
	// its end would be hundreds of milliseconds from the server's.
	g.Expect(match).To(gomega.BeNumerically(">", 0.6), "the received sound is not the synthesised sound")
	return at
}

// locate finds the envelope part in reference. It returns the offset, in cells, with the highest correlation (-1 to 1).
func locate(reference, part []float64) (offset int, correlation float64) {
	correlation = -1
	for at := 0; at+len(part) <= len(reference); at++ {
		if c := correlate(reference[at:at+len(part)], part); c > correlation {
			offset, correlation = at, c
		}
	}
	return offset, correlation
}

func correlate(a, b []float64) float64 {
	var meanA, meanB float64
	for i := range a {
		meanA += a[i]
		meanB += b[i]
	}
	meanA /= float64(len(a))
	meanB /= float64(len(b))
	var ab, aa, bb float64
	for i := range a {
		da, db := a[i]-meanA, b[i]-meanB
		ab += da * db
		aa += da * da
		bb += db * db
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

// heardText checks that a text ends in the clause at the position told, in ms of the answer.
func heardText(g *gomega.WithT, said []clause, text string, told int) {
	g.Expect(text).NotTo(gomega.BeEmpty())
	var sure, possible string
	at := 0
	for _, c := range said {
		possible += c.text
		at += len(c.pcm) * 1000 / pipeline.OutputRate
		if at > told {
			break
		}
		sure += c.text
	}
	g.Expect(strings.TrimSpace(possible)).To(gomega.HavePrefix(text), "the transcript goes on after the moment of the interruption")
	g.Expect(text).To(gomega.HavePrefix(strings.TrimSpace(sure)), "the transcript lacks what was heard")
}

// tail returns the end of a text.
func tail(text string) string {
	w := strings.Fields(text)
	return strings.Join(w[max(0, len(w)-4):], " ")
}

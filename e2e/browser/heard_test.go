package browser_test

// The words of an answer on the Talk page: they are shown as they are heard.

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// watch notes each change of the words that the page shows as heard of the newest answer: the time on the page's clock, the item, and
// how many characters they are.
const watch = `(() => {
  globalThis.shown = [];
  const look = () => {
    const line = [...document.querySelectorAll('#transcript > li[data-role="assistant"]')].at(-1);
    const length = line?.querySelector(".said")?.textContent.length ?? 0;
    const last = shown.at(-1);
    if (line && (last?.Item !== line.dataset.item || last.Length !== length)) shown.push({ At: performance.now(), Item: line.dataset.item, Length: length });
  };
  new MutationObserver(look).observe(document.querySelector("#transcript"), { subtree: true, childList: true, characterData: true, attributes: true });
  return true;
})()`

// place is a change of the words that are shown as heard.
type place struct {
	At     float64
	Item   string
	Length int
}

// The place up to which the page shows an answer as heard follows the sound. The scripted voice speaks each character for the same time, so that the
// sound says where it is.
func TestWordsAreShownAsTheyAreHeard(t *testing.T) {
	g := matching(t)
	s := scriptedServer(t, g)
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)
	p.call()
	watching, err := rig.Evaluate[bool](p.Tab, watch)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(watching).To(gomega.BeTrue())

	var late []float64
	for n := range 8 {
		before, err := p.Recording()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		asked := fmt.Sprintf("question %d, which is about ships, harbours, and the weather on the way. Is it far to the next island?", n+1)
		p.writes(asked)
		line := p.answered(asked)
		p.reaches("listening")
		g.Expect(line.Coming).To(gomega.BeEmpty())
		rec, err := p.Recording()
		g.Expect(err).NotTo(gomega.HaveOccurred())
		places, err := rig.Evaluate[[]place](p.Tab, "shown")
		g.Expect(err).NotTo(gomega.HaveOccurred())
		places = slices.DeleteFunc(places, func(at place) bool { return at.Item != line.Item })
		late = append(late, lateness(g, rec, len(before.PCM), line.Said, places)...)
	}
	p.hangUp()
	for i := range late {
		late[i] = max(late[i], -late[i])
	}
	slices.Sort(late)
	g.Expect(len(late)).To(gomega.BeNumerically(">", 100))
	p50 := late[len(late)/2]
	// The goal is a p95 of 150 ms, which a machine that does other work may miss.
	t.Logf("a word is shown within p50 %.0f ms, p95 %.0f ms of its sound, of %d words", p50, late[len(late)*95/100], len(late))
	g.Expect(p50).To(gomega.BeNumerically("<=", 150))
}

// lateness returns by how many milliseconds after its sound each word of an answer was shown as heard. from is where the sound of the answer
// begins in the recording, or before. A browser stretches sound, so the words are read from the sound around the moment at which the page
// shows them. Words that cannot be read are left out.
func lateness(g *gomega.WithT, rec *rig.Recording, from int, said string, places []place) (late []float64) {
	envelope := rig.Envelope(rec.PCM[from:], rec.Rate)
	first := slices.IndexFunc(envelope, func(v float64) bool { return v > rig.Loud })
	g.Expect(first).To(gomega.BeNumerically(">=", 0))
	begins := rec.At(from + first*rec.Rate*rig.Cell/1000)
	g.Expect(rec.Rate).To(gomega.Equal(2 * pipeline.OutputRate))
	shown := 0
	for _, at := range places {
		now, known := spoken(g, rec, max(begins, at.At-500), at.At, said)
		for word := shown; word < at.Length && word < len(said); word++ {
			if known && said[word] != ' ' && (word == 0 || said[word-1] == ' ') {
				late = append(late, (now-float64(word))*float64(scripted.Character.Milliseconds()))
			}
		}
		shown = max(shown, at.Length)
	}
	return late
}

// spoken returns which character of an answer is spoken at a time, by the sound from start on.
func spoken(g *gomega.WithT, rec *rig.Recording, start, at float64, said string) (character float64, known bool) {
	var pcm []int16
	for i := rec.Sample(start); i+1 < min(rec.Sample(max(at, start)+700), len(rec.PCM)); i += 2 {
		pcm = append(pcm, int16((int(rec.PCM[i])+int(rec.PCM[i+1]))/2))
	}
	text, err := scripted.Heard(pcm)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	const sure = 6 // characters
	for skip := 0; skip+sure <= len(text); skip++ {
		if found := strings.Index(said, text[skip:skip+sure]); found >= 0 {
			// The sound begins inside of a character, which is not read, except at the beginning of the answer.
			return float64(found-skip) - 0.5 + (at-start)/float64(scripted.Character.Milliseconds()), true
		}
	}
	return 0, false
}

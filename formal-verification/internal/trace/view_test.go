package trace

// Compares recordings with traces, and checks that a missing or changed event is noticed.

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// recordedOf is what `antiphon serve --record` wrote of the calls of recorded, without the audio and the deltas of responses.
const recordedOf = "testdata/calls.record"

func read(g *gomega.WithT, name string) []string {
	text, err := os.ReadFile(name)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// viewed compares the recorded calls with other records of them.
func viewed(g *gomega.WithT, record []string) (*Checker, error) {
	f, err := os.Open(recorded)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer func() { _ = f.Close() }() // it is only read
	c := New()
	return c, c.View(recorded, f, strings.NewReader(strings.Join(record, "\n")))
}

func TestView(t *testing.T) {
	g := gomega.NewWithT(t)
	c, err := viewed(g, read(g, recordedOf))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(c.Figures().Views).To(gomega.BeNumerically(">", 40))
}

// tells are the events that a view is made of.
var tells = []string{
	"session.created", "input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "input_audio_buffer.committed",
	"response.created", "response.done", "output_audio_buffer.started", "output_audio_buffer.stopped", "output_audio_buffer.cleared",
}

// TestViewMissesEveryEvent: none can be left out, and none be of another turn or response, without being seen.
func TestViewMissesEveryEvent(t *testing.T) {
	g := gomega.NewWithT(t)
	record := read(g, recordedOf)
	name := regexp.MustCompile(`"(item_id|response_id|id)":"(item|resp)_[a-z0-9]+"`)
	missed := map[string]int{}
	for i, text := range record {
		var l struct {
			Dir   string
			Event struct{ Type string }
		}
		g.Expect(json.Unmarshal([]byte(text), &l)).To(gomega.Succeed())
		if l.Dir != "server" || !slices.Contains(tells, l.Event.Type) {
			continue
		}
		missed[l.Event.Type]++
		_, err := viewed(g, slices.Delete(slices.Clone(record), i, i+1))
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("ConfirmedIsProjection does not hold")), text)
		if l.Event.Type == "session.created" || l.Event.Type == "response.created" {
			continue // whoever is named first may have any name
		}
		other := slices.Clone(record)
		other[i] = name.ReplaceAllString(text, `"$1":"${2}_another"`)
		g.Expect(other[i]).NotTo(gomega.Equal(text))
		if _, err = viewed(g, other); l.Event.Type != "input_audio_buffer.speech_started" {
			g.Expect(err).To(gomega.HaveOccurred(), text)
		}
	}
	for _, kind := range tells {
		g.Expect(missed).To(gomega.HaveKey(kind), "the calls have none")
	}
}

func TestViewOfNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	_, err := viewed(g, nil)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("the record has no session.created of it")))
	_, err = viewed(g, []string{`{"t":`})
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("'s record:1")))
	record := read(g, recordedOf)
	record[3] = strings.Replace(record[3], `"event":{`, `"event":[{`, 1)
	_, err = viewed(g, record)
	g.Expect(err).To(gomega.HaveOccurred())
}

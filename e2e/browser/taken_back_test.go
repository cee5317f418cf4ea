package browser_test

// A pause inside of a sentence, on the Talk page.

import (
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/e2e/internal/rig"
)

// The user pauses in a sentence, and the agent begins to answer. When the user goes on, both parts become one line with one answer.
func TestAPauseInASentenceLeavesOneLine(t *testing.T) {
	t.Parallel()
	g := matching(t)
	s := scriptedServer(t, g)
	p := open(t, g, launch(t, g, rig.Options{}), s.URL)
	p.call()

	p.says(rig.Join(tones(t, g, "please book me a flight"), rig.Silence(600*time.Millisecond), tones(t, g, "to rome on tuesday")))
	p.answered("You said: please book me a flight to rome on tuesday")
	p.reaches("listening")
	p.picture("taken-back")
	lines := p.view().Lines
	g.Expect(lines).To(gomega.HaveLen(2), "no stump of an answer, and no half of a sentence: %+v", lines)
	g.Expect(lines[0].Said).To(gomega.Equal("please book me a flight to rome on tuesday"))
	p.hangUp()

	deleted, err := s.Recorded("conversation.item.deleted")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(deleted).NotTo(gomega.BeEmpty(), "the end of the first part was found, and taken back")
}

package human

// The prompts of the packages.

import (
	"testing"

	"github.com/onsi/gomega"
)

func TestPrompts(t *testing.T) {
	g := gomega.NewWithT(t)
	all, err := Texts()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(all).To(gomega.HaveKeyWithValue("hello-world", "Hello world."))
	pcm, err := Prompt("hello-world")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(len(pcm)).To(gomega.BeNumerically("~", 14*Rate/10, Rate/4), "1.4 s")
	loudest := int16(0)
	for _, v := range pcm {
		loudest = max(loudest, v)
	}
	g.Expect(loudest).To(gomega.And(gomega.BeNumerically(">", 5000), gomega.BeNumerically("<", 32767)), "it is speech, and not overdriven")
	_, err = Prompt("no-such-prompt")
	g.Expect(err).To(gomega.MatchError(ErrNotInstalled))
}

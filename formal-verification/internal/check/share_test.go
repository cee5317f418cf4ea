package check_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/check"
)

// TestWhatIsExploredIsShared explores again when no child can run any more: only what is shared has an answer.
func TestWhatIsExploredIsShared(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("EXPLORED_SPECS", t.TempDir())
	f := counting(t, false, room, small, tiny, three)
	first, err := check.Spec(t.Context(), f, check.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first.Assertion).To(Equal("Tiny"))

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	f.SourceInfo.FileName = "elsewhere/counter.fizz"
	again, err := check.Spec(ended, f, check.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(first))

	for _, o := range []check.Options{{Stop: []string{"Tiny"}}, {Plain: true}, {Dir: "specs"}} {
		_, err = check.Spec(ended, f, o)
		g.Expect(err).To(MatchError(context.Canceled), "%+v explores in another way", o)
	}
	_, err = check.Spec(ended, counting(t, false, room+1, small, tiny, three), check.Options{})
	g.Expect(err).To(MatchError(context.Canceled), "it is another spec")

	stops := check.Options{Stop: []string{"Tiny"}}
	mutant, err := check.Spec(t.Context(), f, stops)
	g.Expect(err).NotTo(HaveOccurred())
	again, err = check.Spec(ended, f, stops)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(mutant))
}

package enginebench

// Short runs of the engines.

import (
	"testing"

	"github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// One prompt is understood by the recogniser, and its process takes processor time and memory.
func TestARecogniserIsMeasured(t *testing.T) {
	g := gomega.NewWithT(t)
	r, _ := recogniser(t, 1)
	used := processorTime()
	heard, err := recognise(t.Context(), r, turn(prompts(t)[0].PCM))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(heard.text).NotTo(gomega.BeEmpty())
	g.Expect(heard.final).To(gomega.BeNumerically(">", 0))
	g.Expect(processorTime()).To(gomega.BeNumerically(">", used))
	g.Expect(memory()).To(gomega.BeNumerically(">", 10<<20))
}

// Two users speak to a recogniser at the same time.
func TestACrowd(t *testing.T) {
	g := gomega.NewWithT(t)
	finals, err := crowd(t.Context(), scripted.New(scripted.Options{}).Transcriber, prompts(t)[:1], 2, 1)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(finals).To(gomega.HaveLen(2))
	g.Expect(finals).NotTo(gomega.ContainElement(gomega.BeZero()))
}

package speaking

// An implausible count of tokens from a model is replaced by the nearest plausible one before the client sees it.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// A model reports too many tokens, or a negative number of them.
func TestPlausibleUsage(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(plausible(pipeline.Usage{InputTokens: -5, OutputTokens: 1 << 40})).To(gomega.Equal(pipeline.Usage{OutputTokens: mostTokens}))
	g.Expect(plausible(pipeline.Usage{InputTokens: 7, OutputTokens: 9})).To(gomega.Equal(pipeline.Usage{InputTokens: 7, OutputTokens: 9}))
}

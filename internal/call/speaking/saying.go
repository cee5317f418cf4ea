package speaking

// A response whose text is given: the session says it in place of the model.

import (
	"context"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// saying is a pipeline.Model that answers each request with its text.
type saying string

// Generate implements pipeline.Model. It uses no tokens.
func (s saying) Generate(_ context.Context, _ pipeline.Request, emit func(pipeline.ModelEvent) error) (pipeline.Usage, error) {
	return pipeline.Usage{}, emit(pipeline.TextDelta{Text: string(s)})
}

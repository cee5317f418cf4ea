package turnend

// The machine's stories (testdata/*.txt), its diagram and its benchmark.

import (
	"testing"

	"github.com/antiphon-rt/antiphon/internal/coordtest"
)

func TestStories(t *testing.T) { coordtest.Stories(t, subject) }

func TestDiagram(t *testing.T) { coordtest.Diagram(t, Table, subject.First) }

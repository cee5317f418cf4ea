package tool

// Which sets of tools are refused.

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

func run(context.Context, string) (string, error) { return "", nil }

func TestCheck(t *testing.T) {
	good := Tool{Tool: pipeline.Tool{Name: "get_wind"}, Run: run}
	for name, tools := range map[string][]Tool{
		"want a name of 1 to 64": {{Tool: pipeline.Tool{Name: "get wind"}, Run: run}},
		"two tools of this name": {good, good},
		"Run is nil":             {{Tool: pipeline.Tool{Name: "get_wind"}}},
		"want at most 10m0s":     {{Tool: good.Tool, Run: run, Timeout: time.Hour}},
		"not a JSON object":      {{Tool: pipeline.Tool{Name: "x", Parameters: []byte(`[]`)}, Run: run}},
		"at most 128":            make([]Tool, 129),
	} {
		set := Set{Tools: tools}
		gomega.NewWithT(t).Expect(set.Check()).To(gomega.MatchError(gomega.ContainSubstring(name)))
	}
	set := Set{Tools: []Tool{good}}
	g := gomega.NewWithT(t)
	g.Expect(set.Check()).To(gomega.Succeed())
	g.Expect(set.Find("get_wind").Limit()).To(gomega.Equal(DefaultTimeout))
	g.Expect(set.Find("get_tide")).To(gomega.BeNil())
	g.Expect(set.Patience()).To(gomega.Equal(DefaultAfter))
}

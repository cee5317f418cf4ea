package pipeline

// Which sets of tools are refused.

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

func run(context.Context, string) (string, error) { return "", nil }

func TestCheck(t *testing.T) {
	good := ServerTool{Tool: Tool{Name: "get_wind"}, Run: run}
	for name, tools := range map[string][]ServerTool{
		"want a name of 1 to 64": {{Tool: Tool{Name: "get wind"}, Run: run}},
		"two tools of this name": {good, good},
		"Run is nil":             {{Tool: Tool{Name: "get_wind"}}},
		"want at most 10m0s":     {{Tool: good.Tool, Run: run, Timeout: time.Hour}},
		"not a JSON object":      {{Tool: Tool{Name: "x", Parameters: []byte(`[]`)}, Run: run}},
		"at most 128":            make([]ServerTool, 129),
	} {
		set := ServerTools{Tools: tools}
		gomega.NewWithT(t).Expect(set.Check()).To(gomega.MatchError(gomega.ContainSubstring(name)))
	}
	set := ServerTools{Tools: []ServerTool{good}}
	g := gomega.NewWithT(t)
	g.Expect(set.Check()).To(gomega.Succeed())
	g.Expect(set.Find("get_wind").Limit()).To(gomega.Equal(DefaultToolTimeout))
	g.Expect(set.Find("get_tide")).To(gomega.BeNil())
	g.Expect(set.Patience()).To(gomega.Equal(defaultAfter))
}

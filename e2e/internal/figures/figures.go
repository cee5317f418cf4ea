// Package figures reports what the benchmarks of e2e measure.
package figures

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// Percentile returns a percentile of times; 0 of none.
func Percentile(all []time.Duration, percent int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, len(sorted)*percent/100)]
}

// Times reports percentiles of times in milliseconds. Of no times it reports nothing.
func Times(b *testing.B, what string, all []time.Duration, percents ...int) {
	for _, percent := range percents {
		if len(all) > 0 {
			b.ReportMetric(Percentile(all, percent).Seconds()*1000, fmt.Sprintf("%s-p%d-ms", what, percent))
		}
	}
}

// Share reports a part of a whole in percent.
func Share(b *testing.B, what string, part, whole int) {
	b.ReportMetric(100*float64(part)/float64(max(1, whole)), what+"-%")
}

// Count reports a number of things.
func Count(b *testing.B, what string, n int) { b.ReportMetric(float64(n), what) }

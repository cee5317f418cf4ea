package bench

// This file prints the table of latencies.

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// results are the rows of the table of latencies, in order.
type results struct {
	rows      []row
	reference []time.Duration // the first row
}

type row struct {
	what   string // what was measured
	values []time.Duration
	goal   string // the goal for it, as text; may be empty
}

func (r *results) add(what, goal string, values []time.Duration) {
	r.rows = append(r.rows, row{what, values, goal})
}

// quantile returns the value below which the share q (0 to 1) of the values lies. There must be at least one value.
func quantile(values []time.Duration, q float64) time.Duration {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(q*float64(len(sorted))), len(sorted)-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

// print writes the table. The column "x reference" is the median divided by that of the reference.
func (r *results) print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tp50\tp95\tgoal\tx reference\tn\t")
	reference := quantile(r.reference, 0.5)
	fmt.Fprintf(t, "reference: a packet through bare pion\t%s\t%s\t\t1\t%d\t\n", ms(reference), ms(quantile(r.reference, 0.95)), len(r.reference))
	for _, row := range r.rows {
		if len(row.values) == 0 {
			fmt.Fprintf(t, "%s\tnone\t\t%s\t\t0\t\n", row.what, row.goal)
			continue
		}
		p50 := quantile(row.values, 0.5)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%.0f\t%d\t\n", row.what, ms(p50), ms(quantile(row.values, 0.95)), row.goal,
			float64(p50)/float64(reference), len(row.values))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

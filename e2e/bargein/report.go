package main

// Writes the tables and the goals into the file of -out.

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// table is one part of the result.
type table struct {
	title string
	notes []string // beneath it
	head  []string
	rows  [][]string
}

// target is one goal and its result.
type target struct {
	what, want, got string
	met, hard       bool
}

// results has everything that a run has measured.
type results struct {
	tables  []table
	targets []target
}

func (r *results) add(t table) { r.tables = append(r.tables, t) }

func (r *results) judge(t target) { r.targets = append(r.targets, t) }

// failed notes that a row could not be measured.
func (r *results) failed(row string, err error) {
	r.judge(target{what: "row " + row, want: "measured", got: oneLine(err.Error()), hard: true})
}

// missed returns the hard targets that were missed.
func (r *results) missed() []target {
	return slices.DeleteFunc(slices.Clone(r.targets), func(t target) bool { return t.met || !t.hard })
}

// verdicts returns the table of the targets.
func (r *results) verdicts() table {
	t := table{title: "Targets", head: []string{"figure", "target", "measured", ""}}
	for _, g := range r.targets {
		verdict := "met"
		if !g.met {
			verdict = "**missed**"
		}
		if g.hard {
			verdict += " (hard)"
		}
		t.rows = append(t.rows, []string{g.what, g.want, g.got, verdict})
	}
	return t
}

// print writes Markdown that is readable without rendering.
func (r *results) print(w io.Writer) error {
	for _, t := range append([]table{r.verdicts()}, r.tables...) {
		if err := t.print(w); err != nil {
			return err
		}
	}
	return nil
}

func (t table) print(w io.Writer) error {
	width := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	var b strings.Builder
	line := func(row []string) {
		for i, cell := range row {
			fmt.Fprintf(&b, "| %s%s ", cell, strings.Repeat(" ", width[i]-len([]rune(cell))))
		}
		b.WriteString("|\n")
	}
	fmt.Fprintf(&b, "## %s\n\n", t.title)
	line(t.head)
	for i := range t.head {
		b.WriteString("|" + strings.Repeat("-", width[i]+2))
	}
	b.WriteString("|\n")
	for _, row := range t.rows {
		line(row)
	}
	b.WriteString("\n")
	for _, note := range t.notes {
		b.WriteString(note + "\n")
	}
	if len(t.notes) > 0 {
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// oneLine makes a text fit into a cell.
func oneLine(text string) string {
	text = strings.NewReplacer("\n", " ", "|", "/").Replace(text)
	if r := []rune(text); len(r) > 160 {
		text = string(r[:160]) + "…"
	}
	return text
}

// ms writes a time.
func ms(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.0f ms", v)
}

// halfAndMost returns the two quantiles of the tables, the median and a high one.
func halfAndMost(values []float64) string {
	if len(values) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f / %.0f", quantile(values, 0.5), quantile(values, 0.95))
}

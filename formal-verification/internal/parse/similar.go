package parse

// Finds a known name that is spelt almost like an unknown one, for error messages.

import (
	"slices"
	"strings"
)

// similar finds a known name that a misspelt one may have meant.
func similar(name string, known map[string]bool) string {
	var found []string
	for k := range known {
		if k != name && near(name, k) {
			found = append(found, k)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

// near tells names apart that differ by one slip (two in a long one). Short names differ by one letter anyway, and `timer`
// beside `timers` is how one names an element.
func near(a, b string) bool {
	longest := max(len(a), len(b))
	if longest < 5 || a+"s" == b || b+"s" == a {
		return false
	}
	if strings.EqualFold(a, b) {
		return true
	}
	slips := 1
	if longest > 8 {
		slips = 2
	}
	return distance(a, b) <= slips
}

// distance counts letters to add, drop, change or swap with their neighbour.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

package spell_test

// Numbers as English words, in both directions.

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/spell"
)

func TestCardinal(t *testing.T) {
	for n, want := range map[int64]string{
		0: "zero", -3: "minus three", 19: "nineteen", 20: "twenty", 42: "forty-two", 100: "one hundred", 105: "one hundred and five",
		1000: "one thousand", 2010: "two thousand and ten", 1234567: "one million two hundred and thirty-four thousand five hundred and sixty-seven",
		1_000_000_000_000: "1000000000000",
	} {
		t.Run(want, func(t *testing.T) { gomega.NewWithT(t).Expect(spell.Cardinal(n)).To(gomega.Equal(want)) })
	}
}

// TestReadIsCardinalBackwards reads what Cardinal writes, over small numbers and the neighbourhood of round ones.
func TestReadIsCardinalBackwards(t *testing.T) {
	g := gomega.NewWithT(t)
	check := func(n int64) {
		words := strings.Fields(strings.ReplaceAll(spell.Cardinal(n), "-", " "))
		got, took := spell.Read(append(words, "plus"))
		g.Expect([]int64{got, int64(took)}).To(gomega.Equal([]int64{n, int64(len(words))}), spell.Cardinal(n))
	}
	for n := range int64(3000) {
		check(n)
	}
	for _, round := range []int64{10_000, 100_000, 1_000_000, 20_000_000, 1_000_000_000} {
		for d := int64(-120); d < 120; d++ {
			check(round + d)
		}
	}
}

func TestReadStopsWhereTheNumberEnds(t *testing.T) {
	for _, row := range []struct {
		words string
		n     int64
		took  int
	}{
		{"two five", 2, 1},
		{"twenty thirty", 20, 1},
		{"twenty five", 25, 2},
		{"and two", 0, 0},
		{"a hundred and", 100, 2},
		{"a hundred and two", 102, 4},
		{"a dog", 0, 0},
		{"hundred", 0, 0},
		{"one hundred hundred", 100, 2},
		{"", 0, 0},
		{"zero", 0, 1},
		{"two and two", 2, 1},
		{"nine hundred ninety nine", 999, 4},
	} {
		t.Run(row.words, func(t *testing.T) {
			g := gomega.NewWithT(t)
			n, took := spell.Read(strings.Fields(row.words))
			g.Expect(took).To(gomega.Equal(row.took))
			if took > 0 {
				g.Expect(n).To(gomega.Equal(row.n))
			}
		})
	}
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[int64]string{
		1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", 8: "eighth", 9: "ninth", 12: "twelfth", 20: "twentieth", 21: "twenty-first",
		30: "thirtieth", 31: "thirty-first", 100: "one hundredth", 115: "one hundred and fifteenth",
	} {
		gomega.NewWithT(t).Expect(spell.Ordinal(n)).To(gomega.Equal(want))
	}
}

package human

// This file compares what a recogniser understood with what the person said.

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var (
	number  = regexp.MustCompile(`[0-9]+`)
	symbols = strings.NewReplacer("’", "'", "#", " pound ", "*", " star ", "%", " percent ", "&", " and ", "'", "")
	ones    = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tens    = strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety")
)

// Words returns the words of a text without case and punctuation. Numbers are words: "23" is "twenty three", and from 100 on each digit is a
// word.
func Words(text string) []string {
	text = number.ReplaceAllStringFunc(symbols.Replace(strings.ToLower(text)), func(digits string) string {
		return " " + spoken(digits) + " "
	})
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// spoken returns a number in words.
func spoken(digits string) string {
	n, err := strconv.Atoi(digits)
	switch {
	case err != nil || n >= 100:
		var each []string
		for _, d := range digits {
			each = append(each, ones[d-'0'])
		}
		return strings.Join(each, " ")
	case n < 20:
		return ones[n]
	case n%10 == 0:
		return tens[n/10-2]
	}
	return tens[n/10-2] + " " + ones[n%10]
}

// WrongWords returns the least number of words that must be replaced, added or removed to make said of heard, and the number of words of said.
func WrongWords(said, heard string) (wrong, words int) {
	a, b := Words(said), Words(heard)
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before := row[0]
		row[0] = i + 1
		for j := range b {
			change := before
			if a[i] != b[j] {
				change++
			}
			before, row[j+1] = row[j+1], min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)], len(a)
}

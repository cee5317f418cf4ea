package words

import (
	"strconv"
	"testing"

	"github.com/onsi/gomega"
)

func TestCutWords(t *testing.T) {
	for _, row := range []struct {
		text  string
		share float64
		want  string
	}{
		{"one two three", 1, "one two three"},
		{"one two three", 2, "one two three"},
		{"one two three", 0, ""},
		{"one two three", -1, ""},
		{"one two three", 0.5, "one"},
		{"one two three", 0.55, "one two"},
		{"unbroken", 0.5, ""},
		{"", 0.5, ""},
		{"é é é", 0.4, "é"},
		{"今天天气很好", 0.5, "今天天"},
		{"今日はいい天気です。", 0.99, "今日はいい天気です"},
		{"我用 antiphon", 0.7, "我用"},
	} {
		t.Run(row.text+"->"+strconv.FormatFloat(row.share, 'g', -1, 64), func(t *testing.T) {
			gomega.NewWithT(t).Expect(Cut(row.text, row.share)).To(gomega.Equal(row.want))
		})
	}
}

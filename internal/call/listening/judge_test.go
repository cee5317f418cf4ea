package listening

// The judge's verdict on a candidate.

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// The stories in testdata/judge.txt: speech and silence in milliseconds, and the words of the live transcript.
func TestJudge(t *testing.T) {
	datadriven.RunTest(t, "testdata/judge.txt", func(t *testing.T, d *datadriven.TestData) string {
		var j judge
		if d.Cmd == "predicted" {
			j = predicted()
			j.answers = d.HasArg("over")
		}
		d.MaybeScanArgs(t, "language", &j.language.Name)
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			kind, arg, _ := strings.Cut(strings.TrimSpace(line), " ")
			v := undecided
			switch kind {
			case "speech", "silence":
				ms := 0
				for _, r := range arg {
					ms = ms*10 + int(r-'0')
				}
				for at := 0; at < ms && v == undecided; at += frameMS {
					v = j.frame(kind == "speech")
				}
			case "words":
				v = j.partial(arg)
			case "deadline":
				v = j.deadline()
			default:
				t.Fatalf("what is %q?", line)
			}
			switch v {
			case confirmed:
				return out.String() + "confirmed after " + ms(j.elapsed)
			case rejected:
				return out.String() + "rejected after " + ms(j.elapsed)
			case undecided:
			}
		}
		return out.String() + "undecided after " + ms(j.elapsed)
	})
}

func ms(n int) string {
	digits := ""
	for ; n > 0 || digits == ""; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return digits + " ms\n"
}

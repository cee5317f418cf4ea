package listening

// The judge's verdict on a candidate.

import (
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/endofturn"
)

// The stories in testdata/judge.txt: speech and silence in milliseconds, and the words of the live transcript.
func TestJudge(t *testing.T) {
	datadriven.RunTest(t, "testdata/judge.txt", func(t *testing.T, d *datadriven.TestData) string {
		j := judge{like: frameMS}
		if d.Cmd == "predicted" {
			j = predicted()
			j.like = frameMS
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
			case "unlike", "softer":
				j.like, j.softer = 0, kind == "softer"
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

// The response falls silent when the sound is like the user's voice, once; for a client that silences the agent itself 250 ms later.
func TestWhenTheResponseFallsSilent(t *testing.T) {
	for ducks, want := range map[bool]int{false: 10, true: 260} {
		var j judge
		var silent []int
		for at := frameMS; at <= 400; at += frameMS {
			if j.silences(true, false, ducks) {
				silent = append(silent, at)
			}
		}
		gomega.NewWithT(t).Expect(silent).To(gomega.Equal([]int{want}))
	}
	j := judge{said: endofturn.Said{Acknowledges: true}}
	gomega.NewWithT(t).Expect(j.silences(true, false, false)).To(gomega.BeFalse(), "the user only listens")
}

func ms(n int) string {
	digits := ""
	for ; n > 0 || digits == ""; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return digits + " ms\n"
}

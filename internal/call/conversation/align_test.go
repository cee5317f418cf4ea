package conversation

// The words that were heard up to a position.

import (
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/voice"
)

const second = voice.Samples(room.OutputRate)

func TestHeardText(t *testing.T) {
	said := alignment{
		{text: "One, two, ", from: 0, to: second, done: true},
		{text: "three, four, ", from: second, to: 2 * second, done: true},
		{text: "five.", from: 2 * second, to: 2 * second},
	}
	for name, c := range map[string]struct {
		at   voice.Samples
		want string
	}{
		"nothing":                      {0, ""},
		"the first word":               {second / 2, "One,"},
		"the first clause":             {second, "One, two,"},
		"into the second":              {second + second*6/10, "One, two, three,"},
		"to the clause in the making":  {2 * second, "One, two, three, four,"},
		"far beyond what is generated": {10 * second, "One, two, three, four, five."},
	} {
		t.Run(name, func(t *testing.T) {
			gomega.NewWithT(t).Expect(said.heardText(c.at)).To(gomega.Equal(c.want))
		})
	}
}

func TestHeardTextOfAClauseThatHasNoAudioYet(t *testing.T) {
	g := gomega.NewWithT(t)
	said := alignment{{text: "One, ", from: 0, to: second, done: true}, {text: "two.", from: -1}}
	g.Expect(said.heardText(5 * second)).To(gomega.Equal("One,"))
}

// Where no spaces stand between words, the text is cut between characters.
func TestHeardTextWithoutSpaces(t *testing.T) {
	g := gomega.NewWithT(t)
	chinese := alignment{{text: "今天天气很好。", from: 0, to: 7 * second, done: true}, {text: "明天呢？", from: 7 * second, to: 11 * second, done: true}}
	g.Expect(chinese.heardText(3 * second)).To(gomega.Equal("今天天"))
	g.Expect(chinese.heardText(9 * second)).To(gomega.Equal("今天天气很好。明天"))
	japanese := alignment{{text: "コーヒーをどうぞ。", from: 0, to: 9 * second, done: true}}
	g.Expect(japanese.heardText(5 * second)).To(gomega.Equal("コーヒーを"))
}

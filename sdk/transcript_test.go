package sdk

// The order, the limits and the texts of the transcript.

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func ids(t *transcript) string {
	var all []string
	for _, e := range t.entries() {
		all = append(all, e.ItemID)
	}
	return strings.Join(all, " ")
}

func TestPlaceFollowsTheServersOrder(t *testing.T) {
	for _, row := range []struct{ name, item, previous, want string }{
		{"a b c->place(a after c)->b c a", "a", "c", "b c a"},
		{"a b c->place(c after a)->a c b", "c", "a", "a c b"},
		{"a b c->place(b after a)->a b c", "b", "a", "a b c"},
		{"a b c->place(b after itself)->a b c", "b", "b", "a b c"},
		{"a b c->place(b after an unknown one)->a b c", "b", "x", "a b c"},
	} {
		t.Run(row.name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			tr := newTranscript(Limits{}.withDefaults())
			for _, id := range []string{"a", "b", "c"} {
				tr.open(id, User)
			}
			tr.place(tr.find(row.item), &row.previous)
			g.Expect(ids(&tr)).To(gomega.Equal(row.want))
		})
	}
}

// The items of a conversation are announced in a random order. The transcript ends up in the order of the conversation.
func TestPlaceIsConfluent(t *testing.T) {
	g := gomega.NewWithT(t)
	const n = 12
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		tr := newTranscript(Limits{}.withDefaults())
		var want []string
		for i := range n {
			want = append(want, strconv.Itoa(i))
		}
		for _, i := range r.Perm(n) {
			tr.open(strconv.Itoa(i), User)
		}
		for i := 1; i < n; i++ { // the server announces each item with its predecessor
			previous := strconv.Itoa(i - 1)
			tr.place(tr.find(strconv.Itoa(i)), &previous)
		}
		g.Expect(strings.Split(ids(&tr), " ")).To(gomega.ContainElements(want))
		order := ids(&tr)
		for i := 1; i < n; i++ {
			g.Expect(strings.Index(" "+order+" ", " "+strconv.Itoa(i-1)+" ")).
				To(gomega.BeNumerically("<", strings.Index(" "+order+" ", " "+strconv.Itoa(i)+" ")), order)
		}
	}
}

func TestTheOldestEntriesAreRemoved(t *testing.T) {
	g := gomega.NewWithT(t)
	tr := newTranscript(Limits{Entries: 3}.withDefaults())
	for i := range 5 {
		it := tr.open(strconv.Itoa(i), User)
		it.hidden = i == 1
	}
	g.Expect(ids(&tr)).To(gomega.Equal("2 3 4"))
	g.Expect(tr.trimmed).To(gomega.Equal(1), "what was hidden was never shown")
	g.Expect(tr.find("0")).To(gomega.BeNil())
	g.Expect(tr.byID).To(gomega.HaveLen(3))
}

func TestEntriesAreNotWrittenToAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	tr := newTranscript(Limits{}.withDefaults())
	it := tr.open("a", Agent)
	tr.part(it, 0, "one", true)
	before := tr.entries()
	tr.part(it, 0, " two", true)
	tr.remove("a")
	g.Expect(before).To(gomega.HaveLen(1))
	g.Expect(before[0].Text).To(gomega.Equal("one"))
}

func TestTextHasALimit(t *testing.T) {
	g := gomega.NewWithT(t)
	tr := newTranscript(Limits{EntryBytes: 5}.withDefaults())
	it := tr.open("a", Agent)
	tr.part(it, 0, "abcé€", true)
	g.Expect(it.entry.Text).To(gomega.Equal("abcé"))
	tr.part(it, maxParts, "no", true)
	tr.part(it, -1, "no", true)
	g.Expect(it.parts).To(gomega.HaveLen(1))
}

func TestPartsAreLines(t *testing.T) {
	g := gomega.NewWithT(t)
	tr := newTranscript(Limits{}.withDefaults())
	it := tr.open("a", Agent)
	tr.part(it, 2, "third", false)
	tr.part(it, 0, "first", false)
	g.Expect(it.entry.Text).To(gomega.Equal("first\nthird"))
}

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
			gomega.NewWithT(t).Expect(cutWords(row.text, row.share)).To(gomega.Equal(row.want))
		})
	}
}

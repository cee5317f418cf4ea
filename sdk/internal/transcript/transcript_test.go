package transcript

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/sdk/internal/deadline"
	"github.com/antiphon-rt/antiphon/wire"
)

func ids(t *Transcript) string {
	var all []string
	for _, it := range t.Items {
		if !it.Hidden {
			all = append(all, it.ID)
		}
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
			tr := New(500, 65536)
			for _, id := range []string{"a", "b", "c"} {
				tr.Open(id, User)
			}
			tr.Place(tr.Find(row.item), &row.previous)
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
		tr := New(500, 65536)
		var want []string
		for i := range n {
			want = append(want, strconv.Itoa(i))
		}
		for _, i := range r.Perm(n) {
			tr.Open(strconv.Itoa(i), User)
		}
		for i := 1; i < n; i++ { // the server announces each item with its predecessor
			previous := strconv.Itoa(i - 1)
			tr.Place(tr.Find(strconv.Itoa(i)), &previous)
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
	tr := New(3, 65536)
	for i := range 5 {
		it := tr.Open(strconv.Itoa(i), User)
		it.Hidden = i == 1
	}
	g.Expect(ids(&tr)).To(gomega.Equal("2 3 4"))
	g.Expect(tr.Trimmed).To(gomega.Equal(1), "what was hidden was never shown")
	g.Expect(tr.Find("0")).To(gomega.BeNil())
	g.Expect(tr.byID).To(gomega.HaveLen(3))
}

func TestTextHasALimit(t *testing.T) {
	g := gomega.NewWithT(t)
	tr := New(500, 5)
	it := tr.Open("a", Agent)
	tr.Part(it, 0, "abcé€", true)
	g.Expect(it.Text).To(gomega.Equal("abcé"))
	tr.Part(it, maxParts, "no", true)
	tr.Part(it, -1, "no", true)
	g.Expect(it.parts).To(gomega.HaveLen(1))
}

func TestPartsAreLines(t *testing.T) {
	g := gomega.NewWithT(t)
	tr := New(500, 65536)
	it := tr.Open("a", Agent)
	tr.Part(it, 2, "third", false)
	tr.Part(it, 0, "first", false)
	g.Expect(it.Text).To(gomega.Equal("first\nthird"))
}

// cut returns a transcript with an interrupted response of which the server was asked for the words at 1 s.
func cut(g *gomega.WithT, heardMS int, words string) (*Transcript, *Item) {
	tr := New(500, 65536)
	it := tr.OutputAdded(wire.Item{ID: "a", Type: wire.ItemMessage}, "r")
	tr.Part(it, 0, words, false)
	g.Expect(tr.Truncated("a", heardMS, time.Second)).To(gomega.BeTrue())
	g.Expect(tr.Truncated("unknown", heardMS, time.Second)).To(gomega.BeFalse())
	return &tr, it
}

// The server says which words of an interrupted response were heard. If it does not, they are estimated.
func TestAnInterruptedResponseHasTheWordsThatWereHeard(t *testing.T) {
	const said = "one two three four"
	item := func(text *string) *wire.Item {
		return &wire.Item{ID: "a", Type: wire.ItemMessage, Content: []wire.Content{{Type: wire.ContentOutputAudio, Transcript: text}}}
	}
	heard := "one two"
	for name, row := range map[string]struct {
		then       func(*Transcript)
		want, note string
	}{
		"the server knows":         {func(tr *Transcript) { tr.Retrieved(item(&heard)) }, "one two", ""},
		"the server has no words":  {func(tr *Transcript) { tr.Retrieved(item(nil)) }, "one two", "cut by estimate"},
		"the server refuses":       {func(tr *Transcript) { tr.Refused("a") }, "one two", "cut by estimate"},
		"the server is silent":     {func(tr *Transcript) { tr.TimedOut(time.Second) }, "one two", "cut by estimate"},
		"its time is not over yet": {func(tr *Transcript) { tr.TimedOut(time.Second - 1) }, said, ""},
		"the length is known": {func(tr *Transcript) {
			tr.Sounded("a", 700*time.Millisecond)
			tr.Refused("a")
		}, said, "cut by estimate"},
		"the length of its pieces is known": {func(tr *Transcript) {
			tr.Sounded("a", 700*time.Millisecond)
			tr.Sounded("a", 700*time.Millisecond)
			tr.Refused("a")
		}, "one two", "cut by estimate"},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			tr, it := cut(g, 700, said)
			g.Expect(tr.Deadline(3 * time.Second)).To(gomega.Equal(4 * time.Second))
			tr.SettleResponse("r")
			g.Expect(it.Live).To(gomega.BeTrue(), "its words are asked for")
			row.then(tr)
			g.Expect([]string{it.Text, it.Note}).To(gomega.Equal([]string{row.want, row.note}))
			g.Expect(it.Live).To(gomega.Equal(row.want == said && row.note == ""))
			g.Expect(tr.Deadline(time.Second) == deadline.Never).To(gomega.Equal(!it.Live))
		})
	}
}

func TestALostConversationIsCarriedOver(t *testing.T) {
	g := gomega.NewWithT(t)
	tr := New(500, 65536)
	for i, words := range []string{"a", "b", "", "c", "d"} {
		tr.SetText(tr.Open(strconv.Itoa(i), User), words)
	}
	tr.Find("1").Hidden = true
	tr.Annotate(tr.Find("3"), "noted before.", false)
	var carried []string
	for _, it := range tr.CarryOver(map[string]bool{"4": true}) {
		carried = append(carried, it.ID)
	}
	g.Expect(carried).To(gomega.Equal([]string{"0", "3"}))
	g.Expect(tr.Find("3").Note).To(gomega.Equal("noted before. " + lossNote))
	g.Expect(tr.Find("4").Note).To(gomega.BeEmpty())
	first := "4"
	tr.Place(tr.Find("0"), &first)
	g.Expect(ids(&tr)).To(gomega.Equal("0 2 3 4"), "what is carried over keeps its place")

	many := New(500, 65536)
	for i := range 2 * maxCarriedOver {
		many.SetText(many.Open(strconv.Itoa(i), User), "x")
	}
	g.Expect(many.CarryOver(nil)).To(gomega.HaveLen(maxCarriedOver))
	long := New(500, maxCarriedOverBytes)
	for i := range 3 {
		long.SetText(long.Open(strconv.Itoa(i), User), strings.Repeat("x", maxCarriedOverBytes/2))
	}
	g.Expect(long.CarryOver(nil)).To(gomega.HaveLen(2))
}

func TestACallHasItsFirstResult(t *testing.T) {
	g := gomega.NewWithT(t)
	tr := New(500, 65536)
	call := &wire.Item{ID: "i", Type: wire.ItemFunctionCall, CallID: "c", Name: "clock"}
	before := tr.Added(call, nil).Call
	tr.ShowOutput("c", "noon", false)
	tr.ShowOutput("c", "midnight", true)
	tr.Added(call, nil)
	g.Expect(*tr.Find("i").Call).To(gomega.Equal(Call{ID: "c", Name: "clock", Output: "noon", Done: true}))
	g.Expect(before.Done).To(gomega.BeFalse(), "an older snapshot stays as it was")
}

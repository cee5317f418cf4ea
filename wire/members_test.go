package wire

// Tests of ReadServer: missing and null members of server events.

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestReadServerKnowsEveryEventAndWhatItNeeds(t *testing.T) {
	examples := allExamples(t)[true]
	for _, r := range rows(t) {
		if !r.server {
			continue
		}
		t.Run(r.typ, func(t *testing.T) {
			g := gomega.NewWithT(t)
			o, err := ReadServer([]byte(examples[r.typ]))
			g.Expect(err).NotTo(gomega.HaveOccurred())
			g.Expect(o.Type).To(gomega.Equal(r.typ))
			needs, _ := needsOf(r.typ)
			g.Expect(strings.Fields(needs)).To(gomega.ConsistOf(r.required))
			for _, name := range r.required {
				g.Expect(o.Has(name)).To(gomega.BeTrue(), name)
				text := examples[r.typ]
				for without, code := range map[string]string{dropped(t, text, name): CodeMissingField, nulled(t, text, name): CodeInvalidType} {
					_, err := ReadServer([]byte(without))
					_, same := DecodeServer([]byte(without))
					g.Expect(codeOf(err)).To(gomega.Equal(code), without)
					g.Expect(codeOf(same)).To(gomega.Equal(code), without)
				}
			}
		})
	}
}

// dropped is the text of an object without a member.
func dropped(t *testing.T, text, name string) string {
	t.Helper()
	all := view(t, []byte(text)).(map[string]any)
	delete(all, name)
	return marshal(t, all)
}

// nulled is the text of an object with null for a member.
func nulled(t *testing.T, text, name string) string {
	t.Helper()
	all := view(t, []byte(text)).(map[string]any)
	all[name] = nil
	return marshal(t, all)
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return string(b)
}

func codeOf(err error) string {
	if refused, ok := errors.AsType[*DecodeError](err); ok {
		return refused.Code
	}
	return ""
}

func TestReadServerRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":`:   CodeInvalidJSON,
		`[]`:         CodeInvalidType,
		`{}`:         CodeMissingField,
		`{"type":1}`: CodeInvalidType,
		`{"type":"session.update","event_id":"e"}`: CodeUnknownEvent,
		`{"type":"session.created","event_id":1}`:  CodeInvalidType,
		`{"type":"session.created","session":{}}`:  CodeMissingField,
	} {
		_, err := ReadServer([]byte(text))
		gomega.NewWithT(t).Expect(codeOf(err)).To(gomega.Equal(want), text)
	}
	_, err := ReadServer([]byte(`{"type":"session.created","event_id":"e"}`))
	refused, _ := errors.AsType[*DecodeError](err)
	gomega.NewWithT(t).Expect(refused.EventID).To(gomega.Equal("e"))
}

// ack is an event that holds members of every kind, most of which the protocol does not have.
func ack(t *testing.T, members string) Members {
	t.Helper()
	o, err := ReadServer([]byte(`{"type":"antiphon.ack","event_id":"e","acknowledges":"a",` + members + `}`))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	return o.Members
}

func TestMembersTakeMembers(t *testing.T) {
	g := gomega.NewWithT(t)
	o := ack(t, `"text":"old","n":-7e2,"yes":true,"no":false,"none":null,"sound":"AQI=","list":[{"n":1},{"n":2,"deep":{"list":[{}]}}],`+
		` "inner" : { "a" : "\u00e4" , "b" : [ ] } , "te\u0078t":"new"`)
	g.Expect(o.Text("text")).To(gomega.Equal("new"), "of two members with one name the last counts")
	g.Expect(o.Whole("n")).To(gomega.Equal(-700))
	g.Expect([]bool{o.True("yes", false), o.True("no", true), o.True("none", true), o.True("missing", true), o.True("missing", false)}).
		To(gomega.Equal([]bool{true, false, true, true, false}))
	g.Expect([]bool{o.Has("no"), o.Has("none"), o.Has("missing")}).To(gomega.Equal([]bool{true, false, false}))
	g.Expect(o.Audio("sound")).To(gomega.Equal([]byte{1, 2}))
	g.Expect(string(o.Value("inner"))).To(gomega.Equal(string(o.Raw("inner"))))
	g.Expect(string(o.Raw("inner"))).To(gomega.Equal(`{ "a" : "\u00e4" , "b" : [ ] }`))
	g.Expect(o.Object("inner").Text("a")).To(gomega.Equal("ä"))
	var all []int
	o.Each("list", func(e Members) {
		e.Object("deep").Each("list", func(e Members) { all = append(all, e.Whole("n")) })
		all = append(all, e.Whole("n"))
	})
	g.Expect(all).To(gomega.Equal([]int{1, 0, 2}))
	g.Expect(ack(t, `"all":[ "a" , "\u00e4" ]`).Texts("all")).To(gomega.Equal([]string{"a", "ä"}))
	o.Object("inner").Each("b", func(Members) { t.Error("an element of an empty list") })
	g.Expect(o.Err()).NotTo(gomega.HaveOccurred())
}

func TestMembersTakeWhatIsNotThereAsZero(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, o := range []Members{{}, ack(t, `"m":null`)} {
		o.Each("m", func(Members) { t.Error("an element of nothing") })
		g.Expect([]any{o.Text("m"), o.Whole("m"), o.Audio("m"), o.Raw("m"), o.Value("m"), o.Object("m"), o.True("m", false), o.Has("m"), o.Err()}).
			To(gomega.Equal([]any{"", 0, []byte(nil), Raw(nil), Raw(nil), Members{}, false, false, nil}))
	}
	Members{}.Need("m")
	o := ack(t, `"inner":{}`)
	o.Object("inner").Need("m")
	g.Expect(codeOf(o.Err())).To(gomega.Equal(CodeMissingField))
}

func TestMembersKeepTheFirstError(t *testing.T) {
	values := map[string]string{
		"text": `"t"`, "number": "1", "fraction": "1.5", "large": "1e30", "flag": "true", "list": "[]", "numbers": "[{},1]", "object": "{}",
	}
	takers := map[string]func(o Members, name string){
		"text":    func(o Members, name string) { o.Text(name) },
		"number":  func(o Members, name string) { o.Whole(name) },
		"flag":    func(o Members, name string) { o.True(name, true) },
		"audio":   func(o Members, name string) { o.Audio(name) },
		"object":  func(o Members, name string) { o.Object(name) },
		"raw":     func(o Members, name string) { o.Raw(name) },
		"list":    func(o Members, name string) { o.Each(name, func(Members) {}) },
		"texts":   func(o Members, name string) { o.Texts(name) },
		"needing": Members.Need,
	}
	fits := map[string]string{"text": "text", "number": "number", "flag": "flag", "object": "object", "raw": "object", "list": "list", "texts": "list"}
	for kind, value := range values {
		for taker, take := range takers {
			if fits[taker] == kind || taker == "needing" || taker == "audio" && kind == "text" {
				continue
			}
			g := gomega.NewWithT(t)
			o := ack(t, `"m":`+value)
			take(o, "m")
			g.Expect(codeOf(o.Err())).To(gomega.Equal(CodeInvalidType), "%s as %s", kind, taker)
			first := o.Err()
			o.Object("inner").Text("m")
			o.Need("other")
			g.Expect(o.Err()).To(gomega.BeIdenticalTo(first))
		}
	}
	o := ack(t, `"m":"?"`)
	o.Audio("m")
	gomega.NewWithT(t).Expect(codeOf(o.Err())).To(gomega.Equal(CodeInvalidValue))
	o = ack(t, `"m":[`+strings.Repeat("{},", maxElements)+`{}]`)
	o.Each("m", func(Members) {})
	gomega.NewWithT(t).Expect(codeOf(o.Err())).To(gomega.Equal(CodeInvalidValue))
}

// What the structs take the members have too, whatever the text.
func FuzzReadServer(f *testing.F) {
	for _, text := range examples(f, "testdata/server.jsonl") {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := ReadServer(b)
		checkVerdict(t, b, err)
		e, decoded := DecodeServer(b)
		if err != nil {
			if decoded == nil {
				t.Fatalf("only ReadServer refuses it: %v", err)
			}
			return
		}
		for _, m := range o.members {
			name := string(m.name)
			_, _, _, _, _, _, _ = o.Text(name), o.Whole(name), o.True(name, true), o.Audio(name), o.Raw(name), o.Value(name), o.Object(name)
			o.Each(name, func(Members) {})
		}
		if decoded == nil && (o.Type != e.Type() || o.ID != e.ID()) {
			t.Fatalf("%s %s is read as %s %s", e.Type(), e.ID(), o.Type, o.ID)
		}
	})
}

func TestAppendAudioIsTheEvent(t *testing.T) {
	for _, sound := range [][]byte{nil, {1}, {1, 2, 3, 4}} {
		want := AppendClient([]byte("before"), &InputAudioBufferAppend{Audio: sound})
		gomega.NewWithT(t).Expect(string(AppendAudio([]byte("before"), sound))).To(gomega.Equal(string(want)))
	}
}

package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

func TestEveryRowHasAnEventAndAnExample(t *testing.T) {
	g := gomega.NewWithT(t)
	all := allExamples(t)
	count := map[bool]int{}
	for _, r := range rows(t) {
		g.Expect(all[r.server]).To(gomega.HaveKey(r.typ))
		var e Event
		if r.server {
			e = newServer(r.typ)
		} else {
			e = newClient(r.typ)
		}
		g.Expect(e).NotTo(gomega.BeNil(), r.typ)
		g.Expect(e.Type()).To(gomega.Equal(r.typ))
		count[r.server]++
	}
	// The protocol has 46 server and 11 client events; the others are ours.
	g.Expect(count).To(gomega.Equal(map[bool]int{true: 46 + 14, false: 11 + 7}))
	g.Expect(len(all[true])+len(all[false])).To(gomega.Equal(78), "an example of an unknown event")
}

func TestExamplesKeepTheirMeaning(t *testing.T) {
	for server, all := range allExamples(t) {
		for typ, text := range all {
			t.Run(typ, func(t *testing.T) {
				g := gomega.NewWithT(t)
				e, err := decode([]byte(text), server)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(e.Type()).To(gomega.Equal(typ))
				b := encode(e)
				g.Expect(view(t, b)).To(gomega.Equal(view(t, []byte(text))))
				again, err := decode(b, server)
				g.Expect(err).NotTo(gomega.HaveOccurred())
				g.Expect(again).To(gomega.Equal(e))
			})
		}
	}
}

// Other writers order, space and escape as they like, and newer ones send more fields.
func TestForeignSpellingsReadAlike(t *testing.T) {
	spellings := map[string]func(t *testing.T, text string) []byte{
		"sorted and escaped as encoding/json does": func(t *testing.T, text string) []byte {
			b, err := json.Marshal(view(t, []byte(text)))
			gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
			return b
		},
		"indented": func(t *testing.T, text string) []byte {
			b, err := json.MarshalIndent(json.RawMessage(text), " ", "\t")
			gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
			return b
		},
		"with unknown fields everywhere": func(t *testing.T, text string) []byte {
			b, err := json.Marshal(withUnknown(view(t, []byte(text))))
			gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
			return b
		},
		"keys escaped": func(_ *testing.T, text string) []byte {
			return []byte(strings.NewReplacer(`"type"`, `"t\u0079pe"`, `"event_id"`, `"event\u005fid"`, `"item_id"`, `"\u0069tem_id"`).Replace(text))
		},
	}
	// Raw values keep the other writer's text.
	verbatim := []string{"session.update", "session.created", "response.create"}
	for name, spell := range spellings {
		for server, all := range allExamples(t) {
			for typ, text := range all {
				if name == "with unknown fields everywhere" && strings.Contains(strings.Join(verbatim, " "), typ) {
					continue
				}
				t.Run(name+"/"+typ, func(t *testing.T) {
					g := gomega.NewWithT(t)
					e, err := decode(spell(t, text), server)
					g.Expect(err).NotTo(gomega.HaveOccurred())
					g.Expect(view(t, encode(e))).To(gomega.Equal(view(t, []byte(text))))
				})
			}
		}
	}
}

// withUnknown puts members that nobody knows into every object but those that are kept as they are.
func withUnknown(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if key != "metadata" && key != "logprobs" && key != "languages" && key != "machines" && key != "lengths_ms" && key != "message" && key != "words" {
				v[key] = withUnknown(member)
			}
		}
		v["aa_unknown"] = map[string]any{"type": []any{1, nil, "]}"}}
		v["zz_unknown"] = false
	case []any:
		for i := range v {
			v[i] = withUnknown(v[i])
		}
	}
	return v
}

func TestRequiredFieldsAreRequired(t *testing.T) {
	all := allExamples(t)
	for _, r := range rows(t) {
		for _, name := range r.required {
			t.Run(r.typ+"/"+name, func(t *testing.T) {
				g := gomega.NewWithT(t)
				text := all[r.server][r.typ]
				_, err := decode(without(t, text, name), r.server)
				var refused *DecodeError
				g.Expect(errors.As(err, &refused)).To(gomega.BeTrue(), "%v", err)
				g.Expect(refused.Code).To(gomega.Equal(CodeMissingField))
				g.Expect(refused.Param).To(gomega.Equal(name))
				if name != "event_id" {
					g.Expect(refused.EventID).To(gomega.Equal(view(t, []byte(text)).(map[string]any)["event_id"]))
				}
			})
		}
	}
}

func TestRequiredFieldsAreAlwaysWritten(t *testing.T) {
	for _, r := range rows(t) {
		t.Run(r.typ, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var e Event
			if r.server {
				e = newServer(r.typ)
			} else {
				e = newClient(r.typ)
			}
			members := view(t, encode(e)).(map[string]any)
			g.Expect(members).To(gomega.HaveKeyWithValue("type", r.typ))
			for _, name := range r.required {
				g.Expect(members).To(gomega.HaveKey(name))
			}
		})
	}
}

func TestIDsOfEveryEvent(t *testing.T) {
	g := gomega.NewWithT(t)
	for server, all := range allExamples(t) {
		for _, text := range all {
			e, err := decode([]byte(text), server)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			e.SetID("another")
			g.Expect(e.ID()).To(gomega.Equal("another"))
			g.Expect(view(t, encode(e))).To(gomega.HaveKeyWithValue("event_id", "another"))
		}
	}
}

func TestAppendKeepsWhatIsThere(t *testing.T) {
	g := gomega.NewWithT(t)
	b := AppendClient([]byte("data: "), &ResponseCancel{ResponseID: "r"})
	g.Expect(string(b)).To(gomega.Equal(`data: {"type":"response.cancel","response_id":"r"}`))
}

func TestEventsOwnTheirMemory(t *testing.T) {
	g := gomega.NewWithT(t)
	text := []byte(`{"type":"session.update","event_id":"a","session":{"model":"m"}}`)
	e, err := DecodeClient(text)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	clear(text)
	g.Expect(e).To(gomega.Equal(&SessionUpdate{EventID: "a", Session: Raw(`{"model":"m"}`)}))
}

// A server sends one event to many clients.
func TestEventsAreEncodedAtOnceByMany(t *testing.T) {
	g := gomega.NewWithT(t)
	e, err := DecodeServer([]byte(examples(t, "testdata/server.jsonl")["response.done"]))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	want := string(AppendServer(nil, e))
	texts := make(chan string)
	for range 4 {
		go func() { texts <- string(AppendServer(nil, e)) }()
	}
	for range 4 {
		g.Expect(<-texts).To(gomega.Equal(want))
	}
}

func TestAppendSession(t *testing.T) {
	g := gomega.NewWithT(t)
	session := DefaultSession()
	session.Instructions = "be brief"
	told := AppendServer(nil, &SessionUpdated{Session: session})
	text := string(AppendSession([]byte("before "), &session))
	g.Expect(text).To(gomega.HavePrefix(`before {"`))
	g.Expect(string(told)).To(gomega.HaveSuffix(`"session":` + text[len("before "):] + "}"))
}

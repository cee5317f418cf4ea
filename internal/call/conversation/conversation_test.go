package conversation

// The items of a conversation: order, limits, checks and references.

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/room"
	"github.com/antiphon-rt/antiphon/internal/engine/scripted"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// tester holds a conversation and a client's view of it.
type tester struct {
	t *testing.T
	g *gomega.WithT
	*Conversation
}

// begin returns an empty conversation whose model is scripted; script is YAML.
func begin(t *testing.T, script string) tester {
	t.Helper()
	g := gomega.NewWithT(t)
	s, err := scripted.Parse(t.Name(), []byte(script))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return tester{t, g, New(env.System(), scripted.New(scripted.Options{Script: s}).Model)}
}

// item decodes an item as a client creates it.
func (r tester) item(text string) wire.Item {
	r.t.Helper()
	e, err := wire.DecodeClient([]byte(`{"type":"conversation.item.create","item":` + text + `}`))
	r.g.Expect(err).NotTo(gomega.HaveOccurred(), text)
	return e.(*wire.ConversationItemCreate).Item
}

// create puts an item into the conversation as a client does.
func (r tester) create(text string) *Item {
	r.t.Helper()
	w := r.item(text)
	r.g.Expect(Check(w)).To(gomega.BeNil(), text)
	r.g.Expect(r.Prepare(&w)).To(gomega.BeNil(), text)
	it, _, refused := r.Create(w, "")
	r.g.Expect(refused).To(gomega.BeNil(), text)
	return it
}

// note creates a message of the user.
func (r tester) note(text string) *Item {
	r.t.Helper()
	return r.create(`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`)
}

// refused expects a failure with this code and parameter.
func (r tester) refused(f *room.Failure, code, param string) {
	r.t.Helper()
	r.g.Expect(f).NotTo(gomega.BeNil())
	r.g.Expect([]string{f.Code, f.Param, f.Type}).To(gomega.Equal([]string{code, param, ""}))
}

// names returns the items' names, in order.
func (r tester) names() string {
	var out []string
	for _, it := range r.items {
		out = append(out, it.ID)
	}
	return strings.Join(out, " ")
}

func deref(s *string) string {
	if s == nil {
		return "none"
	}
	return *s
}

func named(name string) string {
	return `{"id":"` + name + `","type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`
}

func TestOrderOfItems(t *testing.T) {
	r := begin(t, "")
	a := r.create(named("a"))
	r.create(named("b"))
	for _, row := range []struct{ name, after, previous, names string }{
		{"c", "", "b", "a b c"},
		{"d", "root", "none", "d a b c"},
		{"e", "a", "a", "d a e b c"},
	} {
		it, events, refused := r.Create(r.item(named(row.name)), row.after)
		r.g.Expect(refused).To(gomega.BeNil())
		r.g.Expect(events).To(gomega.HaveLen(2))
		r.g.Expect(deref(events[0].(*wire.ConversationItemAdded).PreviousItemID)).To(gomega.Equal(row.previous))
		r.g.Expect(deref(events[1].(*wire.ConversationItemDone).PreviousItemID)).To(gomega.Equal(row.previous))
		r.g.Expect(deref(r.before(slices.Index(r.items, it)))).To(gomega.Equal(row.previous))
		r.g.Expect(r.names()).To(gomega.Equal(row.names))
	}
	_, _, refused := r.Create(r.item(named("f")), "nobody")
	r.refused(refused, "item_create_invalid_previous_item_id", "previous_item_id")
	again := r.item(named("a"))
	r.refused(r.Prepare(&again), "item_already_exists", "item.id")

	events, refused := r.Delete("a")
	r.g.Expect(refused).To(gomega.BeNil())
	r.g.Expect(events).To(gomega.Equal([]wire.ServerEvent{&wire.ConversationItemDeleted{ItemID: "a"}}))
	r.g.Expect(r.names()).To(gomega.Equal("d e b c"))
	r.g.Expect(r.Has(a)).To(gomega.BeFalse())
	r.g.Expect(r.Numbered(a.Num())).To(gomega.BeNil())
	r.g.Expect(r.Done(a)).To(gomega.BeEmpty(), "it would come back")
	newer := r.create(named("a"))
	r.g.Expect(r.Has(a)).To(gomega.BeFalse(), "another item has its name")
	r.g.Expect(r.Find("a")).To(gomega.BeIdenticalTo(newer))
	r.g.Expect(r.Numbered(newer.Num())).To(gomega.BeIdenticalTo(newer))
	r.g.Expect(r.Done(newer)).To(gomega.HaveExactElements(gomega.HaveField("Item.ID", "a")))
}

func TestUnknownItemsAreRefused(t *testing.T) {
	r := begin(t, "")
	_, refused := r.Delete("nobody")
	r.refused(refused, "item_delete_invalid_item_id", "item_id")
	_, refused = r.Retrieve("nobody", Formats{})
	r.refused(refused, "item_retrieve_invalid_item_id", "item_id")
	e := &wire.ConversationItemTruncate{ItemID: "nobody"}
	_, refused = r.Truncate(r.Find(e.ItemID), e, 0)
	r.refused(refused, "item_truncate_invalid_item_id", "item_id")
}

func TestConversationIsLimited(t *testing.T) {
	r := begin(t, "")
	large := wire.Item{Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputImage, ImageURL: strings.Repeat("x", 5<<20)}}}
	for i, deleted := range []int{0, 0, 0, 1, 1} {
		_, _, events := r.Append(large)
		r.g.Expect(events).To(gomega.HaveLen(deleted), "item %d", i)
	}
	whole := "x"
	_, _, events, ok := r.insert(wire.Item{
		Type: wire.ItemMessage, Content: []wire.Content{{Type: wire.ContentOutputAudio, Transcript: &whole, Audio: make([]byte, 12<<20)}},
	}, "root")
	r.g.Expect(ok).To(gomega.BeTrue())
	r.g.Expect(events).To(gomega.HaveLen(3))

	r = begin(t, "")
	for i := range maxItems {
		r.create(named(strconv.Itoa(i)))
	}
	_, events, _ = r.Create(r.item(named("new")), "0")
	r.g.Expect(events[0]).To(gomega.Equal(&wire.ConversationItemDeleted{ItemID: "0"}))
	r.g.Expect(r.items[0].ID).To(gomega.Equal("new"), "it takes the place that its predecessor has left")
	r.g.Expect(r.items).To(gomega.HaveLen(maxItems))
}

// The events that announced an item do not change when its transcript comes.
func TestTranscriptOfAnItem(t *testing.T) {
	r := begin(t, "")
	it, events, refused := r.Create(wire.Item{Type: wire.ItemMessage, Role: "user", Content: []wire.Content{{Type: wire.ContentInputAudio}}}, "")
	r.g.Expect(refused).To(gomega.BeNil())
	it.SetTranscript(0, "hello")
	r.g.Expect(it.Content[0].Transcript).To(gomega.HaveValue(gomega.Equal("hello")))
	r.g.Expect(events[0].(*wire.ConversationItemAdded).Item.Content[0].Transcript).To(gomega.BeNil())
}

// Clients and models parse arguments as a JSON object.
func TestCallsWithoutArguments(t *testing.T) {
	r := begin(t, "")
	for _, left := range []string{"", `,"arguments":""`} {
		it := r.create(`{"type":"function_call","name":"clock"` + left + `}`)
		r.g.Expect(it.Arguments).To(gomega.Equal("{}"))
		r.g.Expect(it.CallID).To(gomega.HavePrefix("call_"))
		r.g.Expect(it.ID).To(gomega.HavePrefix("item_"))
	}
	for _, ask := range []Ask{{}, {HasInput: true, Input: []wire.Item{{Type: wire.ItemFunctionCall, Name: "clock"}}}} {
		p, err := r.Request(pipeline.Request{}, ask)
		r.g.Expect(err).NotTo(gomega.HaveOccurred())
		for _, m := range p.Request.Messages {
			r.g.Expect(m.Call.Arguments).To(gomega.Equal("{}"))
		}
	}
}

// The agents SDK creates a corrected item with the old item's status.
func TestStatusOfAClientsItem(t *testing.T) {
	const message = `"type":"message","role":"assistant","content":[{"type":"output_text","text":"so far"}]`
	for _, row := range []struct{ name, item, status string }{
		{"none", message, "completed"},
		{"completed", message + `,"status":"completed"`, "completed"},
		{"a message that was cut off", message + `,"status":"incomplete"`, "incomplete"},
		{"nobody would end it", message + `,"status":"in_progress"`, "completed"},
		{"a call is for the model to read", `"type":"function_call","name":"clock","arguments":"{}","status":"incomplete"`, "completed"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := begin(t, "")
			r.g.Expect(r.create(`{"id":"mine",` + row.item + `}`).Status).To(gomega.Equal(row.status))
			events, refused := r.Retrieve("mine", Formats{})
			r.g.Expect(refused).To(gomega.BeNil())
			r.g.Expect(events[0].(*wire.ConversationItemRetrieved).Item.Status).To(gomega.Equal(row.status))
		})
	}
}

func TestCheckOfAResponsesInput(t *testing.T) {
	r := begin(t, "")
	r.create(named("known"))
	const message = `{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}`
	reference := func(name string) wire.Item { return wire.Item{Type: wire.ItemReference, ID: name} }
	r.g.Expect(r.CheckInput([]wire.Item{r.item(message), reference("known")})).To(gomega.BeNil())
	r.refused(r.CheckInput([]wire.Item{r.item(message), reference("x")}), "item_not_found", "response.input[1].id")
	r.refused(r.CheckInput([]wire.Item{r.item(message), r.item(`{"type":"message","role":"user","content":[]}`)}),
		"invalid_value", "response.input[1].content")
	r.refused(r.CheckInput([]wire.Item{{Type: "mcp_approval_response"}}), "invalid_value", "response.input[0].type")
	r.refused(r.CheckInput([]wire.Item{r.item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"hm"},{"type":"input_audio","audio":"AAAA"}]}`)}),
		"invalid_value", "response.input[0].content[1].transcript")
}

// The decoder of client events refuses some of these before.
func TestCheckOfItems(t *testing.T) {
	r := begin(t, "")
	part := func(kind string) []wire.Content { return []wire.Content{{Type: kind}} }
	for param, w := range map[string]wire.Item{
		"item.role":            {Type: wire.ItemMessage, Role: "nurse"},
		"item.content":         {Type: wire.ItemMessage, Role: "user"},
		"item.content[0].type": {Type: wire.ItemMessage, Role: "system", Content: part(wire.ContentInputAudio)},
		"item.name":            {Type: wire.ItemFunctionCall},
		"item.call_id":         {Type: wire.ItemFunctionCallOutput},
		"item.type":            {Type: wire.ItemReference},
	} {
		r.refused(Check(w), "invalid_value", param)
	}
	long := strings.Repeat("x", maxName+1)
	r.refused(Check(wire.Item{Type: wire.ItemMessage, Role: "user", Content: part(wire.ContentInputText), ID: long}), "invalid_value", "item.id")
	r.refused(Check(wire.Item{Type: wire.ItemFunctionCall, Name: long}), "invalid_value", "item.name")
	r.refused(Check(wire.Item{Type: wire.ItemFunctionCallOutput, CallID: long}), "invalid_value", "item.call_id")
	r.g.Expect(Check(wire.Item{Type: wire.ItemFunctionCallOutput, CallID: long[1:]})).To(gomega.BeNil())
	r.refused(Check(wire.Item{Type: wire.ItemMessage, Role: "assistant", Content: part(wire.ContentInputText)}), "invalid_value", "item.content[0].type")
}

func dataURL(kind, file string) string {
	return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString([]byte(file))
}

const (
	png  = "\x89PNG\r\n\x1a\n…"
	jpeg = "\xff\xd8\xff\xe0…"
)

func TestImages(t *testing.T) {
	r := begin(t, "")
	show := func(url, more string) wire.Item {
		return r.item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"what is this"},{"type":"input_image","image_url":"` + url + `"` + more + `}]}`)
	}
	shown := show(dataURL("image/png", png), `,"detail":"low"`)
	r.g.Expect(Check(shown)).To(gomega.BeNil())
	r.Append(shown)
	p, err := r.Request(pipeline.Request{}, Ask{})
	r.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.g.Expect(p.Request.Messages).To(gomega.Equal([]pipeline.Message{{
		Role: "user", Text: "what is this", Images: []pipeline.Image{{MIME: "image/png", Data: []byte(png), Detail: "low"}},
	}}))
	alone := []wire.Item{r.item(`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"` + dataURL("image/jpeg", jpeg) + `"}]}`)}
	p, err = r.Request(pipeline.Request{}, Ask{Input: alone, HasInput: true})
	r.g.Expect(err).NotTo(gomega.HaveOccurred())
	r.g.Expect(p.Request.Messages[0].Images[0]).To(gomega.Equal(pipeline.Image{MIME: "image/jpeg", Data: []byte(jpeg), Detail: "auto"}))

	for _, row := range []struct{ name, url, more, param string }{
		{"an address", "https://example.org/cat.png", "", "image_url"},
		{"another kind", dataURL("image/gif", "GIF89a"), "", "image_url"},
		{"no base64", "data:image/png;base64,%%%", "", "image_url"},
		{"not what it says", dataURL("image/png", jpeg), "", "image_url"},
		{"an odd detail", dataURL("image/png", png), `,"detail":"huge"`, "detail"},
	} {
		t.Run(row.name, func(*testing.T) {
			r.refused(Check(show(row.url, row.more)), "invalid_value", "item.content[1]."+row.param)
			r.refused(r.CheckInput([]wire.Item{show(row.url, row.more)}), "invalid_value", "response.input[0].content[1]."+row.param)
		})
	}
}

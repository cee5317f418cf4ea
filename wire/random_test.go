package wire

// Random events for the tests of the codec.

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// random makes events that the protocol allows, filled by their types.
type random struct{ *rand.Rand }

func (r random) one(words ...string) string { return words[r.IntN(len(words))] }

func (r random) yes() bool { return r.IntN(2) == 0 }

func (r random) text() string {
	pieces := []string{"a", "zwölf", "\"", "\\", "\n", "\x00", "\x1f", "🎧", "漢字", "</script>", "\u2028", " ", "{", "]", "sixteen bytes run"}
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func (r random) name() string { return fmt.Sprint("n_", r.IntN(1000)) }

func (r random) number() float64 { return float64(r.IntN(2_000_001)-1_000_000) / 1000 }

// raw is an object that may stand wherever an object may.
func (r random) raw() Raw {
	members := map[string]any{"type": "function", "id": r.name(), "name": r.name(), "v": r.json(4)}
	b, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return b
}

func (r random) json(depth int) any {
	switch r.IntN(8 - min(2, 2*max(0, 2-depth))) {
	case 0:
		return nil
	case 1:
		return r.yes()
	case 2:
		return r.number()
	case 3, 4, 5:
		return r.text()
	case 6:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, r.json(depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range r.IntN(4) {
		object[r.text()] = r.json(depth - 1)
	}
	return object
}

// fill sets v, which is the field with that name.
func (r random) fill(v reflect.Value, field string) {
	if r.object(v) {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(r.word(field))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(r.IntN(1 << 30)))
	case reflect.Float64:
		v.SetFloat(r.number())
	case reflect.Bool:
		v.SetBool(r.yes())
	case reflect.Pointer:
		if r.yes() {
			v.Set(reflect.New(v.Type().Elem()))
			r.fill(v.Elem(), field)
		}
	case reflect.Slice:
		r.list(v, field)
	case reflect.Struct:
		for i := range v.NumField() {
			r.fill(v.Field(i), v.Type().Field(i).Name)
		}
	default:
		panic(v.Type())
	}
}

// word is text, or one of the protocol's words where it has some.
func (r random) word(field string) string {
	switch field {
	case "Object":
		return "" // the owner sets it
	case "Conversation":
		return r.one("", "auto", "none")
	}
	return r.text()
}

func (r random) list(v reflect.Value, field string) {
	switch v.Interface().(type) {
	case Raw:
		v.SetBytes(r.raw())
	case []byte:
		v.SetBytes([]byte(r.text()))
	case []string:
		v.Set(reflect.ValueOf([]string{r.one("audio", "text")}))
	default:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(4), 4))
		for i := range v.Len() {
			r.fill(v.Index(i), field)
		}
	}
}

// object sets the objects whose fields depend on each other. A reader sets Object too.
func (r random) object(v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *MaxTokens:
		p.N = r.IntN(4097)
	case *Format:
		p.Type = r.one(FormatPCM, FormatPCMU, FormatPCMA)
		p.Rate = p.fixedRate()
	case *TurnDetection:
		*p = defaultTurnDetection()
		if p.Type = r.one(ServerVAD, SemanticVAD); p.Type == ServerVAD {
			p.Threshold, p.PrefixPaddingMS, p.SilenceDurationMS = r.Float64(), r.IntN(1000), r.IntN(1000)
			p.Threshold = float64(int(p.Threshold*1000)) / 1000
			if r.yes() {
				p.IdleTimeoutMS = ptr(5000 + r.IntN(25000))
			}
		} else {
			p.Eagerness = r.one("low", "medium", "high", "auto")
		}
		p.CreateResponse, p.InterruptResponse = r.yes(), r.yes()
	case *Tool:
		*p = Tool{Type: "function", Name: r.name(), Description: r.text()}
		if r.yes() {
			p.Parameters = r.raw()
		}
		if r.yes() {
			*p = Tool{Type: "mcp", Config: Raw(`{"type":"mcp","server_label":"` + r.name() + `","headers":` + string(r.raw()) + `}`)}
		}
	case *Item:
		*p = r.item()
	case *Content:
		*p = r.content()
	case *Part:
		if *p = (Part{Type: "audio", Transcript: r.text()}); r.yes() {
			*p = Part{Type: "text", Text: r.text()}
		}
	case *TranscriptionUsage:
		if *p = (TranscriptionUsage{Type: "duration", Seconds: r.number()}); r.yes() {
			*p = TranscriptionUsage{Type: "tokens", TotalTokens: r.IntN(100), InputTokenDetails: TranscriptionTokenDetails{AudioTokens: r.IntN(100)}}
		}
	case *Conversation:
		*p = Conversation{ID: r.text(), Object: "realtime.conversation"}
	case *Session:
		r.session(p)
	case *ResponseParams:
		r.params(p)
	case *Response:
		type plain Response
		r.fill(reflect.ValueOf((*plain)(p)).Elem(), "")
		p.Object = "realtime.response"
	default:
		return false
	}
	return true
}

func (r random) item() Item {
	i := Item{ID: r.name(), Object: "realtime.item", Status: r.one("", "completed")}
	i.Type = r.one(ItemMessage, ItemMessage, ItemFunctionCall, ItemFunctionCallOutput, ItemReference, ItemMCPListTools, ItemMCPCall,
		ItemMCPApprovalRequest, ItemMCPApprovalResponse)
	switch i.Type {
	case ItemMessage:
		i.Role = r.one("user", "assistant", "system")
		i.Content = []Content{}
		for range r.IntN(4) {
			i.Content = append(i.Content, r.content())
		}
	case ItemFunctionCall:
		i.CallID, i.Name, i.Arguments = r.name(), r.name(), r.text()
	case ItemFunctionCallOutput:
		i.CallID, i.Output = r.name(), r.text()
	case ItemReference:
		i.Object, i.Status = "", ""
	case ItemMCPListTools:
		i.ServerLabel, i.Tools = r.name(), r.raw()
	case ItemMCPCall:
		i.ServerLabel, i.Name, i.Arguments, i.Output = r.name(), r.name(), r.text(), r.text()
		if r.yes() {
			i.Error = r.raw()
		}
	case ItemMCPApprovalRequest:
		i.ServerLabel, i.Name, i.Arguments = r.name(), r.name(), r.text()
	case ItemMCPApprovalResponse:
		i.ApprovalRequestID, i.Approve, i.Reason = r.name(), r.yes(), r.text()
	}
	return i
}

func (r random) content() Content {
	p := Content{Type: r.one(ContentInputText, ContentOutputText, ContentInputAudio, ContentOutputAudio, ContentInputImage)}
	switch p.Type {
	case ContentInputText, ContentOutputText:
		p.Text = r.text()
	case ContentInputAudio, ContentOutputAudio:
		p.Audio = []byte(r.text())
		if r.yes() {
			p.Transcript = ptr(r.text())
		}
	case ContentInputImage:
		p.ImageURL, p.Detail = "data:,", r.one("", "low")
	}
	return p
}

func (r random) session(p *Session) {
	type plain Session
	r.fill(reflect.ValueOf((*plain)(p)).Elem(), "")
	p.Type, p.Object = "realtime", "realtime.session"
	if r.yes() {
		*p = Session{
			Type: "transcription", Object: "realtime.transcription_session", ID: p.ID, ExpiresAt: p.ExpiresAt,
			Audio: SessionAudio{Input: p.Audio.Input}, Include: []string{"x"},
		}
	}
}

func (r random) params(p *ResponseParams) {
	type plain ResponseParams
	r.fill(reflect.ValueOf((*plain)(p)).Elem(), "")
	if p.HasTools = r.yes(); !p.HasTools {
		p.Tools = nil
	}
	if p.HasInput = r.yes(); !p.HasInput {
		p.Input = nil
	}
	if p.MaxOutputTokens != nil && r.yes() {
		p.MaxOutputTokens.N = 0
	}
	if p.Metadata != nil {
		p.Metadata = Raw(`{"` + r.name() + `":"` + r.name() + `"}`)
	}
}

// TestRandomEvents: what is written is JSON, reads back the same, and reads the same after encoding/json has written it its own way.
func TestRandomEvents(t *testing.T) {
	for _, row := range rows(t) {
		t.Run(row.typ, func(t *testing.T) {
			for seed := range uint64(300) {
				r := random{rand.New(rand.NewPCG(seed, 1))}
				var e Event
				if row.server {
					e = newServer(row.typ)
				} else {
					e = newClient(row.typ)
				}
				r.fill(reflect.ValueOf(e).Elem(), "")
				expectRoundTrip(t, e, row.server)
			}
		})
	}
}

func expectRoundTrip(t *testing.T, e Event, server bool) {
	t.Helper()
	g := gomega.NewWithT(t)
	b := encode(e)
	g.Expect(json.Valid(b)).To(gomega.BeTrue(), "%s", b)
	back, err := decode(b, server)
	g.Expect(err).NotTo(gomega.HaveOccurred(), "%s", b)
	g.Expect(back).To(gomega.Equal(e), "%s", b)

	foreign, err := json.Marshal(view(t, b))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	back, err = decode(foreign, server)
	g.Expect(err).NotTo(gomega.HaveOccurred(), "%s", foreign)
	g.Expect(view(t, encode(back))).To(gomega.Equal(view(t, b)))
}

// TestFlatFieldsAsEncodingJSONSeesThem compares each plain field with the member of its name, read by encoding/json.
func TestFlatFieldsAsEncodingJSONSeesThem(t *testing.T) {
	for _, row := range rows(t) {
		t.Run(row.typ, func(t *testing.T) {
			g := gomega.NewWithT(t)
			var e Event
			if row.server {
				e = newServer(row.typ)
			} else {
				e = newClient(row.typ)
			}
			v := reflect.ValueOf(e).Elem()
			random{rand.New(rand.NewPCG(7, 7))}.fill(v, "")
			members := view(t, encode(e)).(map[string]any)
			for i := range v.NumField() {
				name := wireName(v.Type().Field(i).Name)
				if row.typ == "conversation.item.input_audio_transcription.segment" && name == "segment_id" {
					name = "id"
				}
				switch field := v.Field(i).Interface().(type) {
				case string, int, float64, bool, []byte, *string:
					b, err := json.Marshal(field)
					g.Expect(err).NotTo(gomega.HaveOccurred())
					if reflect.ValueOf(field).IsZero() && members[name] == nil {
						continue // left out when empty
					}
					g.Expect(members).To(gomega.HaveKeyWithValue(name, view(t, b)))
				default:
					g.Expect(members).To(gomega.HaveKey(name))
				}
			}
		})
	}
}

// wireName is the name on the wire of a field of an event.
func wireName(field string) string {
	field = strings.NewReplacer("ID", "Id", "MS", "Ms", "RTP", "Rtp").Replace(field)
	var b strings.Builder
	for i, ch := range field {
		if i > 0 && ch >= 'A' && ch <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(ch)))
	}
	return b.String()
}

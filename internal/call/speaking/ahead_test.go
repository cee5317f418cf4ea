package speaking

// What a draft may answer.

import (
	"reflect"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// other changes a field.
func other(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + " changed")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int:
		v.SetInt(v.Int() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 1)
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	default:
		panic("the test cannot change a " + v.Kind().String())
	}
}

// TestADraftAnswersOnlyWhatItWasMadeFor: a draft answers no order that differs from its own in any field of the model's request, of the user's last message or of the speech. Capitals and
// punctuation of the user's words do not count.
func TestADraftAnswersOnlyWhatItWasMadeFor(t *testing.T) {
	of := func() order {
		return order{
			request: pipeline.Request{Model: "m", Messages: []pipeline.Message{{Role: "assistant", Text: "hello"}, {Role: "user", Text: "what time is it"}}, TimeZone: time.UTC},
			speech:  pipeline.Utterance{Voice: "cedar", Speed: 1},
		}
	}
	g, d := gomega.NewWithT(t), ahead{order: of()}
	same := of()
	same.request.Messages[1].Text = "What time is it?"
	g.Expect(d.answers(same)).To(gomega.BeTrue())
	for n := range 4 {
		part := func(o *order) reflect.Value {
			return reflect.ValueOf([]any{&o.request, &o.speech, &o.request.Messages[0], &o.request.Messages[1]}[n]).Elem()
		}
		for i := range part(&same).NumField() {
			o := of()
			other(part(&o).Field(i))
			g.Expect(d.answers(o)).To(gomega.BeFalse(), part(&o).Type().Field(i).Name)
		}
	}
}

// TestADraftSpeaksOnlyItsFirstClause: the audio of a draft is taken once, for exactly what it speaks.
func TestADraftSpeaksOnlyItsFirstClause(t *testing.T) {
	g := gomega.NewWithT(t)
	said := pipeline.Utterance{Text: "It is noon.", Voice: "cedar", Speed: 1}
	d := ahead{}
	g.Expect(d.takeFirst(pipeline.Utterance{})).To(gomega.BeFalse(), "it speaks nothing yet")
	d.speaks = said
	for i := range reflect.TypeFor[pipeline.Utterance]().NumField() {
		u := said
		other(reflect.ValueOf(&u).Elem().Field(i))
		g.Expect(d.takeFirst(u)).To(gomega.BeFalse())
	}
	g.Expect(d.takeFirst(said)).To(gomega.BeTrue())
	g.Expect(d.takeFirst(said)).To(gomega.BeFalse())
}

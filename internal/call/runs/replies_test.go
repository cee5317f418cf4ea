package runs

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/speakable"
)

// TestReplies: what whole turns reply to a question, by language. The first texts are replies, the next ones put the question off, the last ones are no reply.
func TestReplies(t *testing.T) {
	for language, rows := range map[string]struct{ replies, later, none []string }{
		"en": {
			[]string{"Oslo", "To Oslo, please.", "yes", "no", "I don't know, perhaps Rome", "the later train", "cancel the old one and take Oslo"},
			[]string{"later", "Not now.", "Cancel.", "okay, later please", "never mind", "Leave it open, thanks"},
			[]string{"", "...", "okay", "um", "thanks", "What?", "Where is that?", "what", "sorry, say that again", "I don't understand", "is your answer", "What is your answer", strings.Repeat("Oslo ", 201)},
		},
		"de": {[]string{"Nach Oslo", "ja", "wie immer"}, []string{"Später bitte", "jetzt nicht", "Abbrechen"}, []string{"okay", "Wie bitte", "Noch einmal bitte", "antworten Sie", "Warum?"}},
		"es": {[]string{"A Oslo"}, []string{"Más tarde, por favor", "ahora no"}, []string{"vale", "¿Cómo?", "no entiendo", "qué responde"}},
		"fr": {[]string{"À Oslo"}, []string{"Plus tard, s'il vous plaît", "pas maintenant"}, []string{"ok", "Comment", "répétez la question", "répondez-vous"}},
		"it": {[]string{"A Oslo"}, []string{"Più tardi, grazie", "non ora"}, []string{"va bene", "come scusi", "che cosa risponde"}},
		"pt": {[]string{"Para Oslo"}, []string{"Mais tarde, por favor", "agora não"}, []string{"ok", "como assim", "não entendi", "o que você responde"}},
		"ru": {[]string{"В Осло"}, []string{"Позже, пожалуйста", "не сейчас"}, []string{"ну", "Повторите вопрос", "вы ответите"}},
		"zh": {[]string{"去奥斯陆"}, []string{"以后再说吧", "取消"}, []string{"嗯", "再说一遍", "什么意思", "回答是什么"}},
		"ja": {[]string{"オスロです"}, []string{"後で", "今はいいです"}, []string{"えっと", "もう一度お願いします", "何ですか"}},
	} {
		t.Run(language, func(t *testing.T) {
			w := FindWords(language)
			asked, ok := w.Ask("book", map[string]string{"ru": "Куда", "zh": "去哪里？", "ja": "どこへ"}[language]+"2 Oslo", nil)
			gomega.NewWithT(t).Expect(ok).To(gomega.BeTrue())
			for _, said := range rows.replies {
				text, postpones, ok := w.Reply(said, asked, nil)
				gomega.NewWithT(t).Expect([]any{text, postpones, ok}).To(gomega.Equal([]any{said, false, true}), "%q", said)
			}
			for _, said := range rows.later {
				_, postpones, ok := w.Reply(said, asked, nil)
				gomega.NewWithT(t).Expect([]bool{postpones, ok}).To(gomega.Equal([]bool{true, true}), "%q", said)
			}
			for _, said := range rows.none {
				_, _, ok := w.Reply(said, asked, nil)
				gomega.NewWithT(t).Expect(ok).To(gomega.BeFalse(), "%q", said)
			}
		})
	}
}

// TestChoices: the words of a turn name one choice, or none.
func TestChoices(t *testing.T) {
	for _, row := range []struct {
		language string
		choices  []string
		said     map[string]string
	}{
		{"en", []string{"York", "New York", "the sea", "no"}, map[string]string{
			"York": "York", "New York.": "New York", "I'd like New York, please": "New York", "okay, York, York": "York", "the sea": "the sea", "No!": "no", "go with the York": "York",
			"York or New York": "", "not York": "", "yorkshire": "", "York?": "", "the": "", "yes": "", "York tomorrow": "", "": "", "which one do you take": "", "New York which one do you take": "",
		}},
		{"de", []string{"Fenster", "Gang"}, map[string]string{"Ich nehme Fenster, bitte.": "Fenster", "gang": "Gang", "Fenster oder Gang": "", "kein Fenster": "", "lieber Gang": "Gang"}},
		{"es", []string{"ventana", "pasillo"}, map[string]string{"La ventana, por favor": "ventana", "prefiero pasillo": "pasillo", "no ventana": ""}},
		{"fr", []string{"fenêtre", "couloir"}, map[string]string{"La fenêtre, s'il vous plaît": "fenêtre", "je prends le couloir": "couloir", "pas couloir": ""}},
		{"it", []string{"finestra", "corridoio"}, map[string]string{"La finestra, grazie": "finestra", "vorrei il corridoio": "corridoio", "non finestra": ""}},
		{"pt", []string{"janela", "corredor"}, map[string]string{"A janela, por favor": "janela", "prefiro o corredor": "corredor", "não janela": ""}},
		{"ru", []string{"окно", "проход"}, map[string]string{"Окно, пожалуйста": "окно", "я выбираю проход": "проход", "не окно": ""}},
		{"zh", []string{"靠窗", "过道"}, map[string]string{"我要靠窗，谢谢": "靠窗", "过道吧": "过道", "不要靠窗": ""}},
		{"ja", []string{"窓側", "通路側"}, map[string]string{"窓側でお願いします": "窓側", "じゃあ通路側がいいです": "通路側", "窓側じゃない": ""}},
	} {
		for said, want := range row.said {
			w := FindWords(row.language)
			asked, ok := w.Ask("book", map[string]string{"ru": "Где", "zh": "哪里", "ja": "どこ"}[row.language]+"2 A", row.choices)
			gomega.NewWithT(t).Expect(ok).To(gomega.BeTrue(), row.language)
			text, postpones, ok := w.Reply(said, asked, row.choices)
			gomega.NewWithT(t).Expect([]any{text, postpones, ok}).To(gomega.Equal([]any{want, false, want != ""}), "%s: %q", row.language, said)
		}
	}
	w := FindWords("en")
	asked, _ := w.Ask("book", "Where?", []string{"Oslo"})
	_, postpones, ok := w.Reply("not now", asked, []string{"Oslo"})
	gomega.NewWithT(t).Expect([]bool{postpones, ok}).To(gomega.Equal([]bool{true, true}))
	text, postpones, _ := w.Reply("later", asked, []string{"later", "now"})
	gomega.NewWithT(t).Expect([]any{text, postpones}).To(gomega.Equal([]any{"later", false}), "a choice")
}

// TestAsk: the server asks only what a synthesizer says in full, and the echo of its words replies nothing.
func TestAsk(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, language := range languages() {
		w := FindWords(language)
		for _, choices := range [][]string{nil, {"Oslo", "2"}} {
			text, ok := w.Ask("book_trip", "A 2", choices)
			g.Expect(ok).To(gomega.BeTrue(), language)
			for _, part := range append([]string{"book trip", "A 2"}, choices...) {
				g.Expect(text).To(gomega.ContainSubstring(part))
			}
			g.Expect(w.fold(speakable.New(speakable.Any)()(text))).To(gomega.Equal(w.fold(text)), "nothing is left out")
			words := w.fold(text)
			for from := range words {
				said, _, ok := w.Reply(w.join(words[from:]), text, choices)
				g.Expect(ok).To(gomega.BeFalse(), "the echo is %q", said)
			}
		}
	}
	w := FindWords("en")
	for prompt, want := range map[string]string{
		"Where to?": "book has a question for you: Where to? What is your answer?",
		"Say where": "book has a question for you: Say where. What is your answer?",
		"":          "", "...": "", "See https://example.org": "", "a_b": "", "**Where**?": "", "Where\nto": "", "Куда?": "", "Where\u200b?": "", strings.Repeat("long ", 80): "", "{prompt}": "",
	} {
		text, ok := w.Ask("book", prompt, nil)
		if !ok {
			text = ""
		}
		g.Expect(text).To(gomega.Equal(want), prompt)
	}
	for _, choices := range [][]string{{"Oslo", "oslo!"}, {"Oslo", "-"}, {"Осло", "Oslo"}, {"<b>", "Oslo"}} {
		_, ok := w.Ask("book", "Where?", choices)
		g.Expect(ok).To(gomega.BeFalse(), choices)
	}
}

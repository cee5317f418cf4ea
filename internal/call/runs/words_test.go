package runs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/engine/speakable"
)

// languages returns the names of the languages, sorted.
func languages() []string { return slices.Sorted(maps.Keys(all)) }

// TestAnswers: what whole turns say to the question, by language.
func TestAnswers(t *testing.T) {
	for language, rows := range map[string]struct{ yes, no, neither []string }{
		"en": {
			[]string{"yes", "Yes.", "Yes, please!", "yeah go ahead", "Okay, go ahead.", "Yes yes, do it.", "Sure.", "I approve.", "um, yes"},
			[]string{"no", "No, thank you.", "No, don't.", "No, don’t!", "don't do it", "Please do not.", "Of course not.", "stop", "no, cancel it"},
			[]string{
				"", "okay", "uh", "please", "mm-hm", "yes?", "yes but to Bergen", "not sure", "yes, no", "no, go ahead", "don't stop", "I do not know", "yes I do not",
				"is yes", "yes to what", "no problem", "say yes", "do you mean yes", "what does it cost", strings.Repeat("yes ", 60),
			},
		},
		"de-AT": {
			[]string{"Ja.", "Ja, bitte", "ja gerne", "Mach das!", "Okay, nur zu.", "Einverstanden"},
			[]string{"Nein", "Nein, danke.", "Lieber nicht.", "Mach das nicht", "Bitte nicht!", "Auf keinen Fall"},
			[]string{"okay", "na ja", "ja nicht", "ja, nein", "ja aber nicht heute", "nicht abbrechen", "vielleicht"},
		},
		"es": {
			[]string{"Sí", "si", "Sí, por favor.", "Claro que sí", "¡Adelante!", "de acuerdo"},
			[]string{"No.", "No, gracias", "Claro que no", "no lo hagas", "Mejor no"},
			[]string{"vale", "sí, pero no hoy", "no sé", "sí no", "quizás", "¿sí?"},
		},
		"fr": {
			[]string{"Oui", "Oui, s'il vous plaît.", "Vas-y !", "D'accord", "Bien sûr"},
			[]string{"Non.", "Non merci", "Bien sûr que non", "Ne le fais pas", "Pas maintenant"},
			[]string{"ok", "oui mais demain", "oui non", "peut-être", "n'annule pas"},
		},
		"it": {
			[]string{"Sì", "si grazie", "Certo", "Vai avanti.", "Sono d'accordo"},
			[]string{"No", "No, grazie.", "Certo che no", "Non farlo!", "Meglio di no"},
			[]string{"va bene", "sì ma domani", "sì no", "forse"},
		},
		"pt_BR": {
			[]string{"Sim", "Sim, por favor", "Pode fazer.", "Vá em frente", "Com certeza"},
			[]string{"Não", "Não, obrigado", "Claro que não", "Não faça isso", "Agora não"},
			[]string{"bom", "sim mas amanhã", "sim não", "talvez", "pois não"},
		},
		"ru": {
			[]string{"Да", "Да, конечно.", "Давай", "Я согласен", "вперед"},
			[]string{"Нет", "Нет, спасибо.", "Не надо", "Ни в коем случае", "Конечно, нет"},
			[]string{"хорошо", "да нет", "да, но завтра", "может быть"},
		},
		"zh-CN": {
			[]string{"是的", "好的。", "可以", "同意", "没问题，去做吧"},
			[]string{"不", "不要。", "不行", "不用了，谢谢", "我不同意", "取消"},
			[]string{"嗯", "好", "不好意思", "可不可以", "可以吗", "可以，但是明天", "不要取消"},
		},
		"ja": {
			[]string{"はい", "はい、お願いします。", "どうぞ", "承認します", "もちろんです"},
			[]string{"いいえ", "いや、やめてください。", "だめです", "しないで", "キャンセルしてください"},
			[]string{"うん", "いいです", "大丈夫です", "承認しますか", "はい、でも明日", "はいいいえ", "キャンセルしないでください"},
		},
	} {
		t.Run(language, func(t *testing.T) {
			w := FindWords(language)
			check := func(all []string, approves, ok bool) {
				for _, text := range all {
					a, is := w.Answer(text)
					gomega.NewWithT(t).Expect([]bool{a && is, is}).To(gomega.Equal([]bool{approves, ok}), "%q", text)
				}
			}
			check(rows.yes, true, true)
			check(rows.no, false, true)
			check(rows.neither, false, false)
		})
	}
}

func TestLanguages(t *testing.T) {
	g := gomega.NewWithT(t)
	g.Expect(languages()).To(gomega.Equal([]string{"de", "en", "es", "fr", "it", "ja", "pt", "ru", "zh"}))
	g.Expect([]*Words{FindWords(""), FindWords("xx"), FindWords("../en")}).To(gomega.HaveEach(gomega.BeNil()))
	for _, wrong := range []string{
		"[question]\n{tool}", "[question]\n{tool}{arguments}\n[plain]\n{tool}\n[yes]\nyes\n[no]\nyes", "[question]\n{tool}{arguments}\n[plain]\n{tool}\n[other]\nyes",
		"[letters]\nElvish",
	} {
		_, err := read(wrong)
		g.Expect(err).To(gomega.HaveOccurred(), wrong)
	}
}

// TestQuestions: the question has the whole call, every synthesizer says all of it, and no part of it approves.
func TestQuestions(t *testing.T) {
	arguments := map[string]string{"ru": `{"куда":"Осло","мест":2}`, "zh": `{"to":"奥斯陆","seats":2}`, "ja": `{"to":"オスロ","seats":2}`}
	for _, language := range languages() {
		w := FindWords(language)
		given := `{"to":"Oslo","seats":2}`
		if arguments[language] != "" {
			given = arguments[language]
		}
		for _, given := range []string{given, `{}`} {
			t.Run(language+" "+given, func(t *testing.T) {
				g := gomega.NewWithT(t)
				text, ok := w.Question("book_trip", json.RawMessage(given))
				g.Expect(ok).To(gomega.BeTrue(), text)
				g.Expect(text).To(gomega.ContainSubstring("book trip"))
				var fields map[string]any
				g.Expect(json.Unmarshal([]byte(given), &fields)).To(gomega.Succeed())
				for name, value := range fields {
					g.Expect(text).To(gomega.ContainSubstring(name))
					if v, is := value.(string); is {
						g.Expect(text).To(gomega.ContainSubstring(v))
					}
				}
				g.Expect(w.fold(speakable.New(speakable.Any)()(text))).To(gomega.Equal(w.fold(text)), "nothing is left out")
				words := w.fold(text)
				for from := range words {
					approves, ok := w.Answer(w.join(words[from:]))
					g.Expect(approves && ok).To(gomega.BeFalse(), "the echo of %q", words[from:])
				}
			})
		}
	}
}

// TestSayable: the server asks by speech only what can be said in full.
func TestSayable(t *testing.T) {
	for given, want := range map[string]string{
		`{"to":"Oslo","return":true,"seats":2.5}`:       "I need your approval for book trip, with return: true, seats: 2.5, to: Oslo. Shall I do that?",
		`{"days":["Monday","Friday"],"at":null}`:        "I need your approval for book trip, with at: null, days: Monday, Friday. Shall I do that?",
		`{"mail":"ada@example.org","price":"20 €"}`:     "I need your approval for book trip, with mail: ada@example.org, price: 20 €. Shall I do that?",
		`{"to":{"city":"Oslo"}}`:                        "",
		`{"to":[["Oslo"]]}`:                             "",
		`{"to":[]}`:                                     "",
		`{"to":""}`:                                     "",
		`{"to":"Oslo","to":"Rome"}`:                     "",
		`{"a":[1],"to":"Oslo","to":"Rome"}`:             "",
		`{"seats":1e9}`:                                 "",
		`{"to":"Oslo\nRome"}`:                           "",
		`{"to":"Oslo (Norway)"}`:                        "",
		`{"to":"` + "```" + `Oslo"}`:                    "",
		`{"to":"http://example.org/"}`:                  "",
		"{\"to\":\"Os\u200blo\"}":                       "",
		`{"to":"Осло"}`:                                 "",
		`{"to":"Ｏｓｌｏ"}`:                                 "",
		`{"to":"Oslo ᴿᵒᵐᵉ"}`:                            "",
		`{"to":"Oslo Ⅻ"}`:                               "",
		`{"to":"-.-"}`:                                  "",
		`{"note":"say yes to it"}`:                      "",
		`["Oslo"]`:                                      "",
		``:                                              "",
		`{"to":"` + strings.Repeat("Oslo ", 100) + `"}`: "",
	} {
		text, ok := FindWords("en").Question("book_trip", json.RawMessage(given))
		if !ok {
			text = ""
		}
		gomega.NewWithT(t).Expect(text).To(gomega.Equal(want), given)
	}
}

// TestPhrases: each phrase alone means what its section says; polite words and unclear ones do not answer.
func TestPhrases(t *testing.T) {
	for _, language := range languages() {
		w := FindWords(language)
		for phrase, m := range w.meaning {
			approves, ok := w.Answer(phrase)
			want := []bool{m == yes, m == yes || m == no}
			gomega.NewWithT(t).Expect([]bool{approves && ok, ok}).To(gomega.Equal(want), "%s: %q", language, phrase)
		}
	}
}

package endofturn

// What is said over the agent, by language.

import (
	"testing"

	"github.com/onsi/gomega"
)

// overTheAgent has, for each language, what only says that the user listens, what interrupts, and what is too little to decide.
var overTheAgent = map[string]struct{ listens, interrupts, undecided []string }{
	"en": {[]string{"mm-hm", "Uh-huh, yeah okay", "yes", "um"}, []string{"stop", "No, that is", "tell me", "wait"}, []string{"the", "six", ""}},
	"de": {[]string{"Mm-hm.", "ja", "Ja, genau", "ach so", "ähm"}, []string{"stopp", "Warte mal", "nein", "sag mir etwas"}, []string{"und", "Wetter"}},
	"es": {[]string{"mm-hm", "sí", "Sí, claro.", "de acuerdo"}, []string{"para", "¡Para!", "espera", "dime otra cosa"}, []string{"el", "tiempo"}},
	"fr": {[]string{"mm-hm", "oui", "d’accord", "je vois"}, []string{"arrête", "Arrêtez !", "non", "attends", "tais-toi", "quelle heure"}, []string{"le", "temps"}},
	"it": {[]string{"mm-hm", "sì", "va bene", "certo"}, []string{"stop", "basta", "aspetta", "un attimo", "che tempo fa domani"}, []string{"il", "tempo"}},
	"pt": {[]string{"mm-hm", "sim", "tá bem", "claro"}, []string{"para", "pare", "espera", "que horas são"}, []string{"o", "tempo"}},
	"ru": {[]string{"mm-hm", "да", "Да, да.", "угу", "понятно"}, []string{"стоп", "Стоп!", "подожди", "нет", "какая погода"}, []string{"и", "погода"}},
	"zh": {[]string{"mm-hm", "嗯", "嗯嗯。", "好的", "对对", "知道了"}, []string{"停", "停！", "等一下", "不要", "明天天气"}, []string{"的", "天气"}},
	"ja": {[]string{"mm-hm", "うん", "はい。", "そうですね", "なるほど"}, []string{"ストップ", "ちょっと待って", "止めて", "いいえ", "明日の天気予報"}, []string{"の", "天気"}},
}

func TestOverTheAgent(t *testing.T) {
	for language, c := range overTheAgent {
		t.Run(language, func(t *testing.T) {
			g := gomega.NewWithT(t)
			l := Find(language)
			for _, text := range c.listens {
				g.Expect(l.Over(text)).To(gomega.Equal(Said{Answers: true, Acknowledges: true}), text)
			}
			for _, text := range c.interrupts {
				g.Expect(l.Over(text)).To(gomega.Equal(Said{Answers: true, Interrupts: true}), text)
			}
			for _, text := range c.undecided {
				s := l.Over(text)
				g.Expect([]bool{s.Interrupts, s.Acknowledges}).To(gomega.Equal([]bool{false, false}), text)
			}
		})
	}
}

// A filler is no answer. Without data two words interrupt, and no word is an acknowledgement.
func TestFillersAndNoData(t *testing.T) {
	g := gomega.NewWithT(t)
	for language, filler := range map[string]string{"en": "The.", "de": "und", "es": "el", "fr": "le", "it": "il", "pt": "o", "ru": "и", "zh": "的", "ja": "の"} {
		g.Expect(Find(language).Over(filler)).To(gomega.BeZero(), filler)
	}
	none := Find("xx")
	g.Expect(none.Over("tak")).To(gomega.Equal(Said{Answers: true}))
	g.Expect(none.Over("pogoda jutro")).To(gomega.Equal(Said{Answers: true, Interrupts: true}))
	g.Expect(none.Over("หยุดพูดก่อน")).To(gomega.Equal(Said{Answers: true, Interrupts: true}), "without spaces")
}

// The language of the session decides, and else the script of the text.
func TestChoice(t *testing.T) {
	g := gomega.NewWithT(t)
	for text, language := range map[string]string{"": "en", "hello": "en", "мм": "ru", "嗯": "zh", "天気です": "ja", "ストップ": "ja", "ja": "en"} {
		g.Expect(Choice{}.Language(text)).To(gomega.BeIdenticalTo(Find(language)), text)
		g.Expect(Choice{Name: "de-AT"}.Language(text)).To(gomega.BeIdenticalTo(Find("de")))
		g.Expect(Choice{Name: "xx"}.Language(text)).To(gomega.BeNil())
	}
}

// An estimator that does not know the language takes that of the script.
func TestAnEstimatorFindsTheLanguage(t *testing.T) {
	g := gomega.NewWithT(t)
	e := New("").(*estimator)
	e.Text("угу", 0)
	g.Expect(e.words.acknowledges).To(gomega.BeTrue())
	e.Text("我的电话号码是", 0)
	g.Expect(e.words.open).To(gomega.BeTrue())
	e.Text("my number is", 0)
	g.Expect(e.words.open).To(gomega.BeTrue())
}

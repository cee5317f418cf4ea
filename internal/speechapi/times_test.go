package speechapi

// Transcripts with times: the formats, their rules, and recognisers that do not know the times.

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// two sentences of two speakers: the scripted recogniser gives each of the eight words 1/8 of the speech.
const twoSentences = "transcriber: {rules: [{speakers: [{name: a, text: 'Hello, Bob & Eve.'}, {name: b, text: 'How are you?'}]}]}"

func TestWordsAndSegments(t *testing.T) {
	d := open(t, script(t, twoSentences))
	type part struct {
		Word, Text string
		ID         int
		Start, End float64
	}
	ask := func(fields ...string) (body struct {
		Task, Language, Text string
		Duration             float64
		Words, Segments      []part
	},
	) {
		status, _, text := d.transcribe(said("anything"), append(fields, "response_format=verbose_json", "language=en")...)
		d.g.Expect(status).To(gomega.Equal(200), text)
		d.g.Expect(json.Unmarshal([]byte(text), &body)).To(gomega.Succeed())
		d.g.Expect([]string{body.Task, body.Language, body.Text}).To(gomega.Equal([]string{"transcribe", "en", "Hello, Bob & Eve. How are you?"}))
		return body
	}
	both := ask("timestamp_granularities[]=word", "timestamp_granularities[]=segment")
	var words []string
	last := 0.0
	for _, w := range both.Words {
		words = append(words, w.Word)
		d.g.Expect(w.Start).To(gomega.BeNumerically("~", last, 1e-9))
		d.g.Expect(w.End).To(gomega.BeNumerically(">", w.Start))
		last = w.End
	}
	d.g.Expect(words).To(gomega.Equal([]string{"Hello", "Bob", "&", "Eve", "How", "are", "you"}))
	d.g.Expect(last).To(gomega.BeNumerically("<=", both.Duration))
	d.g.Expect(both.Segments).To(gomega.Equal([]part{
		{Text: "Hello, Bob & Eve.", ID: 0, Start: both.Words[0].Start, End: both.Words[3].End},
		{Text: "How are you?", ID: 1, Start: both.Words[4].Start, End: last},
	}))
	d.g.Expect(ask("timestamp_granularities[]=word").Segments).To(gomega.BeNil())
	d.g.Expect(ask("timestamp_granularities=segment").Words).To(gomega.BeNil())
	usual := ask()
	d.g.Expect(usual.Words).To(gomega.BeNil(), "segments are the default of the protocol")
	d.g.Expect(usual.Segments).To(gomega.HaveLen(2))
}

func TestSubtitles(t *testing.T) {
	d := open(t, script(t, twoSentences))
	_, media, srt := d.transcribe(said("anything"), "response_format=srt")
	d.g.Expect(media).To(gomega.Equal("text/plain; charset=utf-8"))
	d.g.Expect(srt).To(gomega.MatchRegexp(
		`^1\n00:00:00,000 --> 00:00:0\d,\d{3}\nHello, Bob & Eve\.\n\n2\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\nHow are you\?\n\n$`))
	_, _, vtt := d.transcribe(said("anything"), "response_format=vtt")
	d.g.Expect(vtt).To(gomega.MatchRegexp(
		`^WEBVTT\n\n00:00:00\.000 --> 00:00:0\d\.\d{3}\nHello, Bob &amp; Eve\.\n\n00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}\nHow are you\?\n\n$`))

	d = open(t, script(t, "transcriber: {rules: [{text: ''}]}"))
	_, _, srt = d.transcribe(said("anything"), "response_format=srt")
	_, _, vtt = d.transcribe(said("anything"), "response_format=vtt")
	d.g.Expect([]string{srt, vtt}).To(gomega.Equal([]string{"", "WEBVTT\n\n"}), "nothing was said")
}

func TestWrongRequestsForTimes(t *testing.T) {
	d := open(t, plain())
	for want, fields := range map[string][]string{
		"want word or segment":               {"response_format=verbose_json", "timestamp_granularities[]=letter"},
		"only response_format=verbose_json":  {"timestamp_granularities[]=word"},
		"times of words and segments, not s": {"response_format=srt", "timestamp_granularities[]=word"},
		"leave out stream, or ask for json":  {"response_format=vtt", "stream=true"},
	} {
		status, _, text := d.transcribe(said("hello"), fields...)
		d.g.Expect(status).To(gomega.Equal(400))
		d.g.Expect(text).To(gomega.ContainSubstring(want))
	}
}

// untimed is a recogniser that does not know the times of words.
type untimed struct {
	pipeline.Transcriber
	says bool // it says so
}

func (u untimed) NegotiateConfig(c pipeline.TranscribeConfig) (pipeline.TranscribeConfig, error) {
	c.Words = c.Words && !u.says
	return c, nil
}

func (u untimed) Open(ctx context.Context, c pipeline.TranscribeConfig) (pipeline.Transcription, error) {
	c.Words = false
	return u.Transcriber.Open(ctx, c)
}

func TestRecognisersWithoutTimes(t *testing.T) {
	for _, says := range []bool{true, false} {
		p := plain()
		p.Transcriber = untimed{p.Transcriber, says}
		d := open(t, p)
		for _, fields := range [][]string{
			{"response_format=srt"}, {"response_format=vtt"}, {"response_format=verbose_json", "timestamp_granularities[]=word"},
		} {
			status, _, text := d.transcribe(said("hello there"), fields...)
			d.g.Expect(status).To(gomega.Equal(400), text)
			d.g.Expect(text).To(gomega.ContainSubstring("does not know the times of words: ask for json, text"))
		}
		status, _, text := d.transcribe(said("hello there"), "response_format=verbose_json")
		d.g.Expect(status).To(gomega.Equal(200), "segments that nobody asked for are no reason to refuse")
		d.g.Expect(text).To(gomega.And(gomega.ContainSubstring(`"start":0,`), gomega.ContainSubstring(`"text":"hello there"`)))
	}
}

func TestPhrases(t *testing.T) {
	g := gomega.NewWithT(t)
	const ms = time.Millisecond
	word := func(text string, start, end int) pipeline.Word {
		return pipeline.Word{Text: text, Start: time.Duration(start) * ms, End: time.Duration(end) * ms}
	}
	texts := func(text string, words ...pipeline.Word) (all []string) {
		for _, s := range phrases(spans(text, words, 20*time.Second)) {
			all = append(all, s.text)
			g.Expect(s.start).To(gomega.BeNumerically(">=", 0))
			g.Expect(s.end).To(gomega.And(gomega.BeNumerically(">=", s.start), gomega.BeNumerically("<=", 20*time.Second)))
		}
		return all
	}
	g.Expect(texts("one two three", word("one", 0, 300), word("two", 1000, 1300), word("three", 1300, 1500))).
		To(gomega.Equal([]string{"one", "two three"}), "a pause")
	g.Expect(texts("He said: “Go.” Then he left.", word("He", 0, 1), word("said", 1, 2), word("Go", 2, 3), word("Then", 3, 4), word("he", 4, 5), word("left", 5, 6))).
		To(gomega.Equal([]string{"He said: “Go.” Then he left."}), "a quotation does not end a segment")
	g.Expect(texts("It costs 20 dollars. Yes.", word("It", 0, 1), word("costs", 1, 2), word("twenty", 2, 3), word("dollars", 3, 4), word("Yes", 4, 5))).
		To(gomega.Equal([]string{"It costs 20 dollars.", "Yes."}), "no text is lost where a word is written in another way")
	g.Expect(texts("はい。そう です", word("はい", 0, 500), word("そう", 500, 700), word("です", 700, 900))).
		To(gomega.Equal([]string{"はい。", "そう です"}))
	g.Expect(texts("wrong times", word("wrong", -5, 90_000), word("times", 10, 5))).To(gomega.Equal([]string{"wrong times"}))
	long := []pipeline.Word{}
	text := ""
	for i := range 20 {
		long = append(long, word("characters", 100*i, 100*i+100))
		text += "characters "
	}
	for _, s := range texts(text, long...) {
		g.Expect(len(s)).To(gomega.BeNumerically("<=", segmentText))
	}
}

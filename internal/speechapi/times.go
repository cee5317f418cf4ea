package speechapi

// Transcripts with times: the words and segments of verbose_json, and subtitles in SubRip (srt) and WebVTT.

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
	"github.com/antiphon-rt/antiphon/server/pipeline"
)

// Values of the field response_format.
const (
	formatJSON    = "json"
	formatText    = "text"
	formatVerbose = "verbose_json"
	formatSRT     = "srt"
	formatVTT     = "vtt"
)

// Names of the fields of the form that ask for times.
const (
	fieldFormat = "response_format"
	fieldTimes  = "timestamp_granularities"
)

// takeFormat takes the value of response_format.
func (q *transcriptionRequest) takeFormat(text string) *answer.Problem {
	all := []string{formatJSON, formatText, formatVerbose, formatSRT, formatVTT}
	if !slices.Contains(all, text) {
		return bad(fieldFormat, "%q; want %s", text, strings.Join(all, ", "))
	}
	q.format = text
	return nil
}

// takeTimes takes a value of timestamp_granularities.
func (q *transcriptionRequest) takeTimes(text string) *answer.Problem {
	switch text {
	case "word":
		q.words = true
	case "segment":
		q.segments = true
	default:
		return bad(fieldTimes, "%q; want word or segment", text)
	}
	return nil
}

// check looks at the fields of the form together, once all are read.
func (q *transcriptionRequest) check() *answer.Problem {
	asked := q.words || q.segments
	switch {
	case q.pcm == nil:
		return bad("file", "the form has no file")
	case asked && q.format != formatVerbose:
		return bad(fieldTimes, "only response_format=verbose_json has times of words and segments, not %s: ask for both, or leave it out", q.format)
	case q.stream && q.format != formatJSON && q.format != formatText:
		return bad(fieldFormat, "a stream has deltas of the text and no %s: leave out stream, or ask for json", q.format)
	}
	q.config.Words = asked || q.format == formatSRT || q.format == formatVTT || q.format == formatVerbose
	return nil
}

// needsTimes returns the field that cannot be answered without the times of words; "" if none can.
func (q *transcriptionRequest) needsTimes() string {
	switch {
	case q.words || q.segments:
		return fieldTimes
	case q.format == formatSRT || q.format == formatVTT:
		return fieldFormat
	}
	return ""
}

// noTimes is the response to a request for times which the recogniser does not know.
func noTimes(param string) *answer.Problem {
	return bad(param, "the recogniser of this server does not know the times of words: ask for json, text, or verbose_json without %s. "+
		"The server's operator can change that: docs/models.md lists the recognisers that know the times", fieldTimes)
}

// span is a part of a transcript with its time.
type span struct {
	start, end time.Duration
	text       string
}

// seconds writes a time as the protocol does.
func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// spans returns the parts of a text that belong to its words, in order: from the begin of a word to that of the next one, so that all parts together are the
// whole text. The times are within the recording and do not go back.
func spans(text string, words []pipeline.Word, length time.Duration) []span {
	all := make([]span, 0, len(words))
	last, after := time.Duration(0), 0 // where the word before ends in the text
	begins := make([]int, 0, len(words))
	for _, w := range words {
		begin, end := find(text, bare(w.Text), after)
		if len(begins) == 0 {
			begin = 0
		}
		begins, after = append(begins, begin), end
		start := min(max(w.Start, last), length)
		all = append(all, span{start: start, end: min(max(w.End, start), length)})
		last = start
	}
	for i := range all {
		end := len(text)
		if i+1 < len(all) {
			end = begins[i+1]
		}
		all[i].text = text[begins[i]:end]
	}
	return all
}

// farthest is how far behind the word before a word is looked for, in bytes. A recogniser may write a word in another way in the text.
const farthest = 48

// find returns where a word stands in a text after a place. A mark before it belongs to it. A word that is not there has no text.
func find(text, word string, after int) (begin, end int) {
	window := text[after:min(len(text), after+len(word)+farthest)]
	i := strings.Index(window, word)
	if i < 0 || word == "" {
		return after, after
	}
	begin = after + i
	if space := strings.LastIndexFunc(window[:i], unicode.IsSpace); space >= 0 {
		begin = after + space + 1
	}
	return begin, after + i + len(word)
}

// bare returns a word without the marks around it.
func bare(word string) string {
	return strings.TrimFunc(word, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSpace(r) })
}

// Limits of a segment, which are those of good subtitles: two lines of 42 characters, 7 seconds.
const (
	segmentText   = 84 // characters
	segmentLength = 7 * time.Second
	segmentPause  = 700 * time.Millisecond // a segment ends at a pause that is as long
)

// phrases joins the parts of a text to segments. A segment ends with a sentence, at a pause, or before it becomes too long.
func phrases(parts []span) (all []span) {
	for _, p := range parts {
		if n := len(all); n > 0 {
			last := &all[n-1]
			trimmed := strings.TrimRightFunc(last.text, unicode.IsSpace)
			mark, _ := utf8.DecodeLastRuneInString(trimmed)
			if !strings.ContainsRune(".?!…。？！", mark) && p.start-last.end < segmentPause && p.end-last.start <= segmentLength &&
				utf8.RuneCountInString(last.text+strings.TrimSpace(p.text)) <= segmentText {
				last.text, last.end = last.text+p.text, max(last.end, p.end)
				continue
			}
		}
		all = append(all, p)
	}
	for i := range all {
		all[i].text = strings.Join(strings.Fields(all[i].text), " ")
	}
	return slices.DeleteFunc(all, func(p span) bool { return p.text == "" })
}

// writeTimed answers with a transcript that has times.
func writeTimed(w http.ResponseWriter, q transcriptionRequest, last pipeline.TranscriptResult) *answer.Problem {
	length := time.Duration(len(q.pcm)) * time.Second / pipeline.InputRate
	parts := spans(last.Text, last.Words, length)
	segments := phrases(parts)
	if len(parts) == 0 && strings.TrimSpace(last.Text) != "" {
		if param := q.needsTimes(); param != "" {
			return noTimes(param)
		}
		segments = []span{{end: length, text: last.Text}}
	}
	switch q.format {
	case formatSRT:
		writeSubtitles(w, "", segments, func(i int, s span) string {
			return fmt.Sprintf("%d\n%s --> %s\n%s\n\n", i+1, clock(s.start, ","), clock(s.end, ","), s.text)
		})
	case formatVTT:
		escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
		writeSubtitles(w, "WEBVTT\n\n", segments, func(_ int, s span) string {
			return fmt.Sprintf("%s --> %s\n%s\n\n", clock(s.start, "."), clock(s.end, "."), escape.Replace(s.text))
		})
	default:
		answer.JSON(w, http.StatusOK, verbose(q, last, parts, segments))
	}
	return nil
}

func writeSubtitles(w http.ResponseWriter, head string, segments []span, one func(i int, s span) string) {
	var b strings.Builder
	b.WriteString(head)
	for i, s := range segments {
		b.WriteString(one(i, s))
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte(b.String()))
}

// clock writes a time as subtitles do. point stands before the milliseconds.
func clock(d time.Duration, point string) string {
	ms := d.Milliseconds()
	return fmt.Sprintf("%02d:%02d:%02d%s%03d", ms/3_600_000, ms/60_000%60, ms/1000%60, point, ms%1000)
}

// verbose returns the body of verbose_json. It has segments unless the request asks for words only.
func verbose(q transcriptionRequest, last pipeline.TranscriptResult, parts, segments []span) map[string]any {
	length := float64(len(q.pcm)) / pipeline.InputRate
	body := map[string]any{"task": "transcribe", "language": q.language, "duration": length, "text": last.Text, "usage": usage(length)}
	if q.words {
		words := make([]map[string]any, len(parts))
		for i, p := range parts {
			text := bare(last.Words[i].Text)
			if text == "" {
				text = last.Words[i].Text
			}
			words[i] = map[string]any{"word": text, "start": seconds(p.start), "end": seconds(p.end)}
		}
		body["words"] = words
	}
	if q.segments || !q.words {
		list := make([]map[string]any, len(segments))
		for i, s := range segments {
			list[i] = map[string]any{
				"id": i, "start": seconds(s.start), "end": seconds(s.end), "text": s.text,
				// The protocol requires the following figures of Whisper's, which this server does not have.
				"seek": 0, "tokens": []int{}, "temperature": 0, "avg_logprob": 0, "compression_ratio": 0, "no_speech_prob": 0,
			}
		}
		body["segments"] = list
	}
	return body
}

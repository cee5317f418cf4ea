package logbook

// Logbooks of strangers, and logbooks whose disk is slow or full.

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/antiphon-rt/antiphon/internal/call/listening"
	"github.com/antiphon-rt/antiphon/internal/env"
	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// book returns a logbook with these lines.
func book(lines ...string) io.Reader {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	_, _ = io.WriteString(zip, strings.Join(lines, "\n")) // a buffer takes all
	_ = zip.Close()
	return &b
}

func TestALogbookOfAStranger(t *testing.T) {
	head := func(format int, seed string) string {
		return fmt.Sprintf(`{"antiphon_logbook":%d,"version":"9.9","seed":%q,"config":{}}`, format, seed)
	}
	good := head(Format, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")
	for what, c := range map[string]struct {
		in   io.Reader
		says string
	}{
		"no gzip":            {strings.NewReader("hullo"), "not in gzip"},
		"nothing":            {book(), "the first line is not that of a logbook"},
		"other lines":        {book(`{"a":1}`), "the first line is not that of a logbook"},
		"another format":     {book(head(Format+1, "")), "has format 2, of antiphon 9.9, and this version plays format 1"},
		"no seed":            {book(head(Format, "")), "its seed has not 32 bytes"},
		"an unknown setting": {book(strings.Replace(good, `{}`, `{"Q":1}`, 1)), "of antiphon 9.9, cannot be played by this version: this version knows no struct"},
		"no entry":           {book(good), "the logbook is cut off after 0 entries"},
		"no JSON":            {book(good, "{"), "entry 1 of the logbook cannot be read"},
		"an unknown event":   {book(good, `{}`, `{}`, `{"t":1500000,"in":{"listening.Q":{}}}`), "entry 3 at 1.500 s cannot be played: this version knows no listening.Q"},
		"an unknown field":   {book(good, `{}`, `{}`, `{"t":1,"in":{"logbook.Missing":{"Q":1}}}`), "this version knows no logbook.Missing.Q"},
		"two events":         {book(good, `{}`, `{}`, `{"in":{"a":1,"b":2}}`), "is no value of a interface"},
		"too much audio":     {book(good, `{}`, `{}`, `{"in":{"logbook.Audio":{"PCM":99999999999}}}`), "is no length of audio"},
		"a panic":            {book(good, `{"did":["sends that"]}`), "entry 1 at 0.000 s differs\n  in the logbook: sends that\n  played:         panics: oh"},
		"a missing answer":   {book(good, `{"a":["sent 1"]}`), "in the logbook: asks for sent\n  played:         asks for voice"},
	} {
		t.Run(what, func(t *testing.T) {
			g := gomega.NewWithT(t)
			d, err := Play(c.in, NewCodec([]any{Missing{}, Audio{}}, nil, nil), &struct{}{})
			for err == nil {
				_, _, err = d.Next(func(int, any) {
					switch what {
					case "a panic":
						panic("oh")
					case "a missing answer":
						_ = Ask(d, "voice", func() error { return nil })
					}
				})
			}
			g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring(c.says)))
		})
	}
}

func TestACutLogbookSaysWhereItEnds(t *testing.T) {
	g := gomega.NewWithT(t)
	whole, _ := io.ReadAll(book(`{"antiphon_logbook":1}`, strings.Repeat("{}\n", 2000)+strings.Repeat(`{"in":"`+fmt.Sprint(rand.Uint64())+`"}`, 1)))
	r, err := NewReader(bytes.NewReader(whole[:len(whole)-9]))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for err == nil {
		_, err = r.Next()
	}
	g.Expect(err).To(gomega.MatchError(gomega.MatchRegexp(`the logbook is cut off after \d+ entries: unexpected EOF`)))
}

// slow is a disk that stalls until it is released.
type slow struct {
	bytes.Buffer
	release chan struct{}
}

// Write implements io.Writer.
func (s *slow) Write(p []byte) (int, error) {
	<-s.release
	return s.Buffer.Write(p)
}

// Close implements io.Closer.
func (s *slow) Close() error { return nil }

func TestASlowDiskEndsTheLogbookAndHoldsUpNothing(t *testing.T) {
	g := gomega.NewWithT(t)
	disk := &slow{release: make(chan struct{})}
	w := NewWriter(disk, func(f func()) { go f() })
	w.Write(&Header{Format: Format})
	for range 2 * maxLines {
		w.Write(&Entry{Did: []string{"sends"}})
	}
	close(disk.release)
	w.Close()
	r, err := NewReader(disk)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var e Entry
	n := 0
	for ; e.End == ""; n++ {
		e, err = r.Next()
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	g.Expect(e.End).To(gomega.Equal(Slow))
	g.Expect(n).To(gomega.BeNumerically("~", maxLines, 2*flushed))
}

func TestAFullLogbookEnds(t *testing.T) {
	g := gomega.NewWithT(t)
	disk := &slow{release: make(chan struct{})}
	close(disk.release)
	queued := make(chan struct{}, 1)
	w := NewWriter(disk, func(f func()) { go func() { <-queued; f() }() })
	w.most = 1000
	w.Write(&Header{Format: Format})
	for range 4 * flushed {
		w.Write(&Entry{In: fmt.Appendf(nil, "%d", rand.Uint64())})
	}
	queued <- struct{}{}
	w.Close()
	r, err := NewReader(disk)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	var e Entry
	for e.End == "" {
		e, err = r.Next()
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	g.Expect(e.End).To(gomega.Equal(Full))
}

// every has a value of each kind that events have.
type every struct {
	Yes    bool
	Long   time.Duration
	Text   string
	Bytes  []byte
	Raw    wire.Raw
	PCM    []int16
	Words  []pipeline.Word
	Err    error
	Event  any
	Held   *pipeline.Usage
	Named  map[string]pipeline.Prompt
	Half   float64
	Number uint32
}

func TestValuesComeBack(t *testing.T) {
	g := gomega.NewWithT(t)
	codec := NewCodec([]any{pipeline.TextDelta{}}, []error{context.Canceled, pipeline.ErrMaxTokens}, []error{&pipeline.StageError{}})
	in := every{
		true, time.Second, "<\xff>", []byte("\x00\xfe"), wire.Raw(`{"a":"\u003c"}`),
		[]int16{1, -2},
		[]pipeline.Word{{Text: "Ho", Prob: 0.25}},
		fmt.Errorf("it failed: %w", &pipeline.StageError{Stage: "model", Err: pipeline.ErrMaxTokens}),
		pipeline.TextDelta{Text: "a \"word\""},
		&pipeline.Usage{InputTokens: 3},
		map[string]pipeline.Prompt{"a": {Text: "b"}, "": {}},
		0.1, 7,
	}
	for _, sound := range []bool{true, false} {
		text, err := codec.Append(nil, &in, sound)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		var out every
		g.Expect(codec.Decode(text, &out)).To(gomega.Succeed(), string(text))
		var stage *pipeline.StageError
		g.Expect(errors.As(out.Err, &stage)).To(gomega.BeTrue())
		g.Expect(stage.Stage).To(gomega.Equal("model"))
		g.Expect(errors.Is(out.Err, pipeline.ErrMaxTokens) && !errors.Is(out.Err, context.Canceled)).To(gomega.BeTrue())
		g.Expect(out.Err.Error()).To(gomega.Equal(in.Err.Error()))
		if !sound {
			g.Expect(out.PCM).To(gomega.Equal([]int16{0, 0}))
			out.PCM = in.PCM
		}
		out.Err = in.Err
		g.Expect(out).To(gomega.Equal(in))
	}
	var unknown any = pipeline.ToolCallDone{}
	_, err := codec.Append(nil, &unknown, true)
	g.Expect(err).To(gomega.MatchError("a pipeline.ToolCallDone has no place in a logbook"))
}

// A link that fails after a frame was judged fails there again.
func TestALinkThatFailsFailsAgain(t *testing.T) {
	g := gomega.NewWithT(t)
	var sent []string
	play := func(d *Deck, fails error) {
		d.Frame(listening.Speech | listening.Like)
		for range 3 {
			if err := d.send(func() error { return fails }); err != nil {
				sent = append(sent, err.Error())
			}
			fails = errors.New("it is full")
		}
	}
	disk := &slow{release: make(chan struct{})}
	close(disk.release)
	r := &Recording{Open: func(string) (io.WriteCloser, error) { return disk, nil }}
	codec := NewCodec([]any{FirstFrame{}}, nil, nil)
	d := r.Deck(env.System(), codec)
	g.Expect(d.Open(r, "sess_1", &struct{}{})).To(gomega.Succeed())
	d.End()
	d.Took(FirstFrame{})
	play(d, nil)
	d.End()
	d.Close()
	p, err := Play(disk, codec, &struct{}{})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	for end := ""; end == ""; {
		_, end, err = p.Next(func(n int, _ any) {
			if n == 3 {
				play(p, nil)
			}
		})
		g.Expect(err).NotTo(gomega.HaveOccurred())
	}
	g.Expect(sent).To(gomega.Equal([]string{"it is full", "it is full", "it is full", "it is full"}))
}

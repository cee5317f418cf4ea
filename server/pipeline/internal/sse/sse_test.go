package sse

// The reader with streams that are cut, split and wrong.

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/onsi/gomega"
)

// all returns the events of a stream as "name=data", and the error that ended it.
func all(r io.Reader, limit int) (got []string, err error) {
	for s := NewReader(r, limit); ; {
		e, err := s.Next()
		if err != nil {
			return got, err
		}
		got = append(got, e.Name+"="+string(e.Data))
	}
}

func TestStreams(t *testing.T) {
	for name, test := range map[string]struct {
		in   string
		want []string
	}{
		"one event":             {"data: a\n\n", []string{"=a"}},
		"a name":                {"event: done\ndata: a\n\n", []string{"done=a"}},
		"lines are joined":      {"data: a\ndata:b\ndata\n\n", []string{"=a\nb\n"}},
		"only one space is cut": {"data:  a\n\n", []string{"= a"}},
		"a comment":             {": ping\n\ndata: a\n\n", []string{"=a"}},
		"an unknown field":      {"id: 7\nretry: 1\nthing\ndata: a\n\n", []string{"=a"}},
		"a name without data":   {"event: x\n\ndata: a\n\n", []string{"=a"}},
		"carriage returns":      {"data: a\rdata: b\r\rdata: c\r\r", []string{"=a\nb", "=c"}},
		"both line ends":        {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"=a", "=b"}},
		"a byte order mark":     {"\xef\xbb\xbfdata: a\n\n", []string{"=a"}},
		"the last event is cut": {"data: a\n\ndata: b\n", []string{"=a"}},
		"nothing":               {"", nil},
		"no stream at all":      {"<html>\n\n<p>data</p>\n\n", nil},
		"colons in the data":    {"data: {\"a\":1}\n\n", []string{`={"a":1}`}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			for _, in := range []io.Reader{strings.NewReader(test.in), iotest.OneByteReader(strings.NewReader(test.in))} {
				got, err := all(in, 100)
				g.Expect(err).To(gomega.MatchError(io.EOF))
				g.Expect(got).To(gomega.Equal(test.want))
			}
		})
	}
}

func TestAnEventHasALimit(t *testing.T) {
	g := gomega.NewWithT(t)
	for _, in := range []string{"data: 01234567890\n\n", "data: 0123\ndata: 4567\n\n", strings.Repeat("x", 1000)} {
		_, err := all(strings.NewReader("data: ok\n\n"+in), 16)
		g.Expect(err).To(gomega.MatchError(ErrTooLong), in)
	}
}

func TestTheErrorOfTheStreamComesThrough(t *testing.T) {
	g := gomega.NewWithT(t)
	broken := errors.New("broken")
	got, err := all(io.MultiReader(strings.NewReader("data: a\n\nda"), iotest.ErrReader(broken)), 100)
	g.Expect(got).To(gomega.Equal([]string{"=a"}))
	g.Expect(err).To(gomega.MatchError(broken))
}

// FuzzReader: a stream gives the same events however it is split, and no event is longer than the limit.
func FuzzReader(f *testing.F) {
	f.Add("event: a\r\ndata: b\r\ndata: c\n\r\n: d\n\n")
	f.Add("\xef\xbb\xbfdata\n\ndata:\r\r")
	f.Fuzz(func(t *testing.T, in string) {
		g := gomega.NewWithT(t)
		whole, err := all(strings.NewReader(in), 64)
		split, err2 := all(iotest.OneByteReader(strings.NewReader(in)), 64)
		g.Expect(split).To(gomega.Equal(whole))
		g.Expect(errors.Is(err2, ErrTooLong)).To(gomega.Equal(errors.Is(err, ErrTooLong)))
		for _, e := range whole {
			g.Expect(len(e)).To(gomega.BeNumerically("<=", 65))
		}
	})
}

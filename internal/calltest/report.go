package calltest

// The results of calls, for people and for programs.

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/sdk/native"
)

// Result is what one call has shown. It is passed if it has no Problems.
type Result struct {
	File       string   `json:"file"`
	Name       string   `json:"name"`
	Problems   []string `json:"problems,omitempty"`
	Transcript []string `json:"transcript"`
	Answers    []Times  `json:"answers"`
	Seconds    float64  `json:"seconds"`
	Kept       []string `json:"kept,omitempty"` // the files that Keep has written: the picture, the user's sound, the agent's sound

	pending     []string
	picture     *picture
	user, agent []int16 // what both sides have said, at native.Rate
}

// MarshalJSON gives milliseconds.
func (t Times) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"first_ms":%d,"yield_ms":%d}`, t.First.Milliseconds(), t.Yield.Milliseconds()), nil
}

// Passed reports whether the agent did all that was expected.
func (r *Result) Passed() bool { return len(r.Problems) == 0 }

// Forget drops the sound of both sides: ten minutes take 58 MB, and there may be a thousand results.
func (r *Result) Forget() { r.user, r.agent = nil, nil }

// Keep writes the sound of both sides and a picture of the call into a folder: NAME-user.wav, NAME-agent.wav and NAME.svg.
func (r *Result) Keep(folder, name string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	pcm := func(pcm []int16) func(io.Writer) error {
		return func(w io.Writer) error { return native.WriteWAV(w, pcm) }
	}
	for _, one := range []struct {
		ending string
		write  func(io.Writer) error
	}{{".svg", r.picture.write}, {"-user.wav", pcm(r.user)}, {"-agent.wav", pcm(r.agent)}} {
		path := filepath.Join(folder, name+one.ending)
		f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if err := errors.Join(one.write(f), f.Close()); err != nil {
			return err
		}
		r.Kept = append(r.Kept, path)
	}
	return nil
}

// WriteJSON writes all results as a JSON list.
func WriteJSON(w io.Writer, all []*Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(append([]*Result{}, all...)) // a list, also without results
}

// suite is a file for the test reports of CI systems: the JUnit format, as Jenkins documents it.
type suite struct {
	XMLName  xml.Name   `xml:"testsuite"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Time     string     `xml:"time,attr"`
	Cases    []testCase `xml:"testcase"`
}

type testCase struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	Time    string   `xml:"time,attr"`
	Failure *failure `xml:"failure,omitempty"`
	Output  string   `xml:"system-out,omitempty"`
}

type failure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes all results in the JUnit format.
func WriteJUnit(w io.Writer, all []*Result) error {
	s := suite{Name: "antiphon test", Tests: len(all)}
	total := 0.0
	for _, r := range all {
		total += r.Seconds
		one := testCase{Class: r.File, Name: r.Name, Time: seconds(r.Seconds), Output: strings.Join(r.Transcript, "\n")}
		for _, path := range r.Kept {
			one.Output += "\n[[ATTACHMENT|" + path + "]]" // Jenkins and GitLab show these files
		}
		if !r.Passed() {
			s.Failures++
			one.Failure = &failure{r.Problems[0], strings.Join(r.Problems, "\n")}
		}
		s.Cases = append(s.Cases, one)
	}
	s.Time = seconds(total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	return errors.Join(e.Encode(s), e.Close())
}

func seconds(s float64) string {
	return fmt.Sprintf("%.3f", time.Duration(s*float64(time.Second)).Seconds())
}

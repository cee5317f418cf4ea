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

	"github.com/antiphon-rt/antiphon/cmd/antiphon/internal/terminal"
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

	pending     []string
	user, agent []int16 // what both sides have said, at native.Rate
}

// MarshalJSON gives milliseconds.
func (t Times) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `{"first_ms":%d,"yield_ms":%d}`, t.First.Milliseconds(), t.Yield.Milliseconds()), nil
}

// Passed reports whether the agent did all that was expected.
func (r *Result) Passed() bool { return len(r.Problems) == 0 }

// Print writes the result of one call in words. The texts of the server cannot control a terminal.
func (r *Result) Print(w io.Writer) {
	word := "ok    "
	if !r.Passed() {
		word = "FAILED"
	}
	fmt.Fprintf(w, "%s %s (%.1f s", word, r.Name, r.Seconds)
	for _, t := range r.Answers {
		if t.First > 0 {
			fmt.Fprintf(w, ", answer after %d ms", t.First.Milliseconds())
		}
		if t.Yield > 0 {
			fmt.Fprintf(w, ", silent after %d ms", t.Yield.Milliseconds())
		}
	}
	fmt.Fprintln(w, ")")
	if r.Passed() {
		return
	}
	for _, p := range r.Problems {
		fmt.Fprintln(w, "  "+terminal.Clean(p))
	}
	for _, l := range r.Transcript {
		fmt.Fprintln(w, "    "+terminal.Clean(l))
	}
}

// Keep writes the sound of both sides into a folder, as NAME-user.wav and NAME-agent.wav.
func (r *Result) Keep(folder, name string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	for side, pcm := range map[string][]int16{"user": r.user, "agent": r.agent} {
		f, err := os.OpenFile(filepath.Join(folder, name+"-"+side+".wav"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		if err := errors.Join(native.WriteWAV(f, pcm), f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON writes all results as a JSON list.
func WriteJSON(w io.Writer, all []*Result) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(all)
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

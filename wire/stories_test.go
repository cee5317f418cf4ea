package wire

// The stories of refused messages and of session.update (testdata).

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestRefused tells the stories of what is refused and how: testdata/refused.txt. Each line of input is one message.
func TestRefused(t *testing.T) {
	datadriven.RunTest(t, "testdata/refused.txt", func(t *testing.T, d *datadriven.TestData) string {
		var out strings.Builder
		for line := range strings.Lines(d.Input) {
			_, err := decode([]byte(strings.TrimSuffix(line, "\n")), d.Cmd == "server")
			fmt.Fprintln(&out, describe(err))
		}
		return out.String()
	})
}

// TestMerge tells the stories of session.update: testdata/merge.txt. "defaults" begins with the default session, "merge" patches it
// and prints what changed.
func TestMerge(t *testing.T) {
	var s Session
	datadriven.RunTest(t, "testdata/merge.txt", func(t *testing.T, d *datadriven.TestData) string {
		if d.Cmd == "defaults" {
			s = DefaultSession()
			return "ok\n"
		}
		before := leaves(t, &s)
		if err := s.Merge(Raw(d.Input)); err != nil {
			if !maps.Equal(before, leaves(t, &s)) {
				t.Errorf("%s: a refused patch changed the session", d.Pos)
			}
			return describe(err) + "\n"
		}
		return changes(before, leaves(t, &s))
	})
}

// describe is an error as the stories show it.
func describe(err error) string {
	var refused *DecodeError
	if !errors.As(err, &refused) {
		return fmt.Sprint("ok ", err)
	}
	return fmt.Sprintf("%s param=%q event=%q at %d: %s", refused.Code, refused.Param, refused.EventID, refused.Pos, refused.Message)
}

// leaves are the values of the session's JSON text by path.
func leaves(t *testing.T, s *Session) map[string]string {
	t.Helper()
	all := map[string]string{}
	event := view(t, AppendServer(nil, &SessionUpdated{Session: *s})).(map[string]any)
	collect(all, "", event["session"])
	return all
}

func collect(all map[string]string, path string, v any) {
	if object, ok := v.(map[string]any); ok && len(object) > 0 {
		for name, member := range object {
			collect(all, strings.TrimPrefix(path+"."+name, "."), member)
		}
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	all[path] = string(b)
}

func changes(before, after map[string]string) string {
	var out strings.Builder
	paths := maps.Clone(before)
	maps.Copy(paths, after)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		was, is := before[path], after[path]
		if was != is {
			fmt.Fprintf(&out, "%s: %s -> %s\n", path, orNone(was), orNone(is))
		}
	}
	if out.Len() == 0 {
		return "nothing changed\n"
	}
	return out.String()
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}

package wire

// Helpers for the tests of the codec: they read events.table and examples.

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// row is a row of events.table as a test reads it.
type row struct {
	server   bool
	typ      string
	required []string
}

// rows reads the table anew, so that a mistake of the generator does not hide itself.
func rows(t testing.TB) []row {
	t.Helper()
	text, err := os.ReadFile("events.table")
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	var all []row
	for line := range strings.Lines(string(text)) {
		cols := strings.Split(strings.TrimSpace(line), " | ")
		if len(cols) < 3 || cols[0] != "client" && cols[0] != "server" {
			continue
		}
		r := row{server: cols[0] == "server", typ: strings.TrimSpace(cols[1])}
		eventID := r.server
		for _, f := range strings.Fields(strings.TrimSuffix(cols[2], " |")) {
			name, kind, _ := strings.Cut(f, ":")
			name, _, _ = strings.Cut(name, "=")
			if name == "event_id" {
				eventID = false
			}
			if !strings.ContainsAny(kind, "?~|") && kind != "" {
				r.required = append(r.required, name)
			}
		}
		if eventID {
			r.required = append(r.required, "event_id")
		}
		all = append(all, r)
	}
	return all
}

// examples are the lines of a file by the type of the event.
func examples(t testing.TB, file string) map[string]string {
	t.Helper()
	g := gomega.NewWithT(t)
	text, err := os.ReadFile(file)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	all := map[string]string{}
	for line := range strings.Lines(string(text)) {
		var head struct{ Type string }
		g.Expect(json.Unmarshal([]byte(line), &head)).To(gomega.Succeed(), line)
		all[head.Type] = strings.TrimSpace(line)
	}
	return all
}

func allExamples(t testing.TB) map[bool]map[string]string {
	t.Helper()
	return map[bool]map[string]string{true: examples(t, "testdata/server.jsonl"), false: examples(t, "testdata/client.jsonl")}
}

// decode and encode are the codec of one direction.
func decode(b []byte, server bool) (Event, error) {
	if server {
		return result(DecodeServer(b))
	}
	return result(DecodeClient(b))
}

// result keeps a nil event from becoming an Event that is not nil.
func result[E Event](e E, err error) (Event, error) {
	if err != nil {
		return nil, err
	}
	return e, nil
}

func encode(e Event) []byte {
	switch e := e.(type) {
	case ServerEvent:
		return AppendServer(nil, e)
	case ClientEvent:
		return AppendClient(nil, e)
	}
	return nil
}

// view is a JSON text as encoding/json sees it.
func view(t testing.TB, b []byte) any {
	t.Helper()
	var v any
	gomega.NewWithT(t).Expect(json.Unmarshal(b, &v)).To(gomega.Succeed(), string(b))
	return v
}

// without is the object without one of its members.
func without(t testing.TB, text, name string) []byte {
	t.Helper()
	g := gomega.NewWithT(t)
	var members map[string]json.RawMessage
	g.Expect(json.Unmarshal([]byte(text), &members)).To(gomega.Succeed())
	g.Expect(members).To(gomega.HaveKey(name))
	delete(members, name)
	b, err := json.Marshal(members)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return b
}

func ptr[T any](v T) *T { return &v }

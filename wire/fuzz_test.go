package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzDecodeClient(f *testing.F) { fuzzDecode(f, "testdata/client.jsonl", false) }

func FuzzDecodeServer(f *testing.F) { fuzzDecode(f, "testdata/server.jsonl", true) }

func fuzzDecode(f *testing.F, seeds string, server bool) {
	for _, text := range examples(f, seeds) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decode(b, server)
		checkVerdict(t, b, err)
		if err != nil {
			return
		}
		once := encode(e)
		if !json.Valid(once) || !utf8.Valid(once) {
			t.Fatalf("written as %q", once)
		}
		again, err := decode(once, server)
		if err != nil {
			t.Fatalf("%s does not read back: %v", once, err)
		}
		if twice := encode(again); string(twice) != string(once) {
			t.Fatalf("not stable:\n%s\n%s", once, twice)
		}
	})
}

// checkVerdict compares what is called invalid with encoding/json's opinion.
func checkVerdict(t *testing.T, b []byte, err error) {
	t.Helper()
	var refused *DecodeError
	if err != nil && !errors.As(err, &refused) {
		t.Fatalf("error of type %T", err)
	}
	if refused == nil {
		if !json.Valid(b) {
			t.Fatalf("taken, but no JSON")
		}
		return
	}
	if refused.Pos < 0 || refused.Pos > len(b) {
		t.Fatalf("place %d of %d", refused.Pos, len(b))
	}
	if refused.Message == "" || !utf8.ValidString(refused.Error()) {
		t.Fatalf("message %q", refused.Message)
	}
	tooDeep := strings.Contains(refused.Message, "levels")
	if invalid := refused.Code == CodeInvalidJSON; invalid == json.Valid(b) && !tooDeep {
		t.Fatalf("%v, but validity is %v", refused, json.Valid(b))
	}
}

func FuzzMerge(f *testing.F) {
	for _, patch := range []string{
		`{}`, `{"audio":{"input":{"turn_detection":null}}}`, `{"audio":{"input":{"turn_detection":{"type":"semantic_vad","eagerness":"low"}}}}`,
		`{"audio":{"output":{"voice":{"id":"v"},"speed":1.5}},"max_output_tokens":7,"tools":[{"type":"function","name":"f"}]}`,
		`{"type":"transcription","include":["a"],"audio":{"input":{"transcription":{"model":"m"},"format":{"type":"audio/pcmu"}}}}`,
	} {
		f.Add([]byte(patch))
	}
	text := func(s *Session) string { return string(AppendServer(nil, &SessionUpdated{Session: *s})) }
	untouched := DefaultSession()
	before := text(&untouched)
	f.Fuzz(func(t *testing.T, patch []byte) {
		s := DefaultSession()
		err := s.Merge(patch)
		checkVerdict(t, patch, err)
		if err != nil {
			if text(&s) != before {
				t.Fatalf("refused, but changed: %s", text(&s))
			}
			return
		}
		once := text(&s)
		if !json.Valid([]byte(once)) {
			t.Fatalf("written as %s", once)
		}
		if err := s.Merge(patch); err != nil || text(&s) != once {
			t.Fatalf("the same patch again: %v\n%s\n%s", err, once, text(&s))
		}
		own, _ := Raw(once).Field("session")
		if err := s.Merge(own); err != nil || text(&s) != once {
			t.Fatalf("the session's own text as a patch: %v\n%s\n%s", err, once, text(&s))
		}
	})
}

package badserver

// The ways in which a server misbehaves.

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// fault is one way to misbehave.
type fault struct {
	name  string
	only  string // the begin of the media types to which the fault applies; empty: all
	want  string // what the error must say
	serve func(w http.ResponseWriter, r *http.Request, good Answer)
}

const (
	events = "text/event-stream"
	object = "application/json"
	sound  = "audio/"
)

// faults returns all faults.
func faults() []fault {
	all := append(silences(), statuses()...)
	return append(all, contents()...)
}

// begin sends the header and the first part of a good answer.
func begin(w http.ResponseWriter, good Answer) {
	w.Header().Set("Content-Type", good.Type)
	w.Header().Set("Content-Length", "1000000")
	_, _ = io.WriteString(w, good.Body[:len(good.Body)/3])
	w.(http.Flusher).Flush()
}

// silences are servers that do not answer, or not to the end.
func silences() []fault {
	return []fault{
		{"slow first byte", "", "did not answer within 500ms", func(_ http.ResponseWriter, r *http.Request, _ Answer) {
			<-r.Context().Done()
		}},
		{"header and no byte", "", "sent nothing for 500ms at the begin of its answer", func(w http.ResponseWriter, r *http.Request, good Answer) {
			w.Header().Set("Content-Type", good.Type)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}},
		{"stall in mid-stream", "", "sent nothing for 500ms in the middle of its answer", func(w http.ResponseWriter, r *http.Request, good Answer) {
			begin(w, good)
			<-r.Context().Done()
		}},
		{"cut connection", "", "ended in the middle of its answer", func(w http.ResponseWriter, _ *http.Request, good Answer) {
			begin(w, good)
			panic(http.ErrAbortHandler)
		}},
		{"hangs up", "", "cannot be reached", func(http.ResponseWriter, *http.Request, Answer) { panic(http.ErrAbortHandler) }},
		{"empty answer", "", "", func(w http.ResponseWriter, _ *http.Request, good Answer) {
			w.Header().Set("Content-Type", good.Type)
		}},
	}
}

// refuse returns a server that answers with a status.
func refuse(code int, text string) func(http.ResponseWriter, *http.Request, Answer) {
	return func(w http.ResponseWriter, _ *http.Request, _ Answer) {
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.Header().Set("Content-Type", object)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
	}
}

// statuses are servers that refuse the request.
func statuses() []fault {
	return []fault{
		{"400", "", "answered 400 Bad Request: bad field", refuse(400, `{"error":{"message":"bad field\nsecond line","type":"invalid_request_error"}}`)},
		{"401", "", "answered 401 Unauthorized: wrong key *** (check key_env", refuse(401, `{"error":{"message":"wrong key `+Key+`"}}`)},
		{"403", "", "answered 403 Forbidden", refuse(403, "")},
		{"404 model", "", `answered 404 Not Found: model "x" not found`, refuse(404, `{"error":"model \"x\" not found, try pulling it first"}`)},
		{"422", "", "answered 422 Unprocessable Entity", refuse(422, `{"detail":[{"loc":["body","x"],"msg":"Field required"}]}`)},
		{"429 with Retry-After", "", "answered 429 Too Many Requests: slow down", refuse(429, `{"message":"slow down"}`)},
		{"500", "", "answered 500 Internal Server Error: out of [31mmemory", refuse(500, "out of \x1b[31mmemory\nat line 3")},
		{"503", "", "answered 503 Service Unavailable: Loading model", refuse(503, `{"error":{"code":503,"message":"Loading model"}}`)},
		{"204 without an answer", "", "", func(w http.ResponseWriter, _ *http.Request, _ Answer) { w.WriteHeader(http.StatusNoContent) }},
		{"redirect to another host", "", "redirects to another host", func(w http.ResponseWriter, r *http.Request, _ Answer) {
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("the key follows to another host") }))
			defer other.Close()
			http.Redirect(w, r, other.URL+"/v1", http.StatusTemporaryRedirect)
		}},
		{"redirect to itself", "", "redirects more than three times", func(w http.ResponseWriter, r *http.Request, _ Answer) {
			http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
		}},
	}
}

// send returns a server that answers 200 with this text, whatever was asked.
func send(kind, text string) func(http.ResponseWriter, *http.Request, Answer) {
	return func(w http.ResponseWriter, _ *http.Request, good Answer) {
		w.Header().Set("Content-Type", cmp.Or(kind, good.Type))
		_, _ = io.WriteString(w, text)
	}
}

// contents are servers whose answer is not what it should be.
func contents() []fault {
	page := "<!DOCTYPE html>\n<html><h1>Welcome</h1></html>"
	long, _ := json.Marshal(strings.Repeat("a", 1<<20))
	delta := `data: {"choices":[{"delta":{"content":` + string(long) + `}}],"delta":` + string(long) + `,"type":"response.output_text.delta"}` + "\n\n"
	return []fault{
		{"HTML", "", `answered with "text/html" instead of `, send("text/html", page)},
		{"HTML that says it is right", "", "", send("", page)},
		{"wrong content type", "", `answered with "image/png" instead of `, send("image/png", "\x89PNG\r\n\x1a\n")},
		{"malformed events", events, "", send("", "data: {\"choices\":[{\"delta\n\ndata: [DONE]\n\n")},
		{"events that are no objects", events, "", send("", "data: 7\n\ndata: [DONE]\n\n")},
		{"an error as an event", events, "the context is too long", send("", "data: {\"type\":\"error\",\"error\":{\"message\":\"the context is too long\"}}\n\n")},
		{"a megabyte in one token", events, "sent an event of more than ", send("", delta)},
		{"malformed JSON", object, "", send("", `{"text":"hel`)},
		{"an odd byte", sound, "half a sample", func(w http.ResponseWriter, _ *http.Request, good Answer) {
			w.Header().Set("Content-Type", good.Type)
			_, _ = io.WriteString(w, good.Body+"\x01")
		}},
	}
}

package badserver

// The ways in which a server misbehaves.

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

// fault is one way to misbehave.
type fault struct {
	name  string
	only  string // the begin of the media types to which the fault applies; empty: all
	want  string // what the error must say
	serve func(w http.ResponseWriter, r *http.Request, good Answer)

	firstByte, idle time.Duration // the adapter's limits; long if 0
}

const (
	events = "text/event-stream"
	object = "application/json"
	sound  = "audio/"
)

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
		{name: "slow first byte", want: "did not answer within 500ms", firstByte: short, serve: func(_ http.ResponseWriter, r *http.Request, _ Answer) {
			<-r.Context().Done()
		}},
		{
			name: "header and no byte", want: "sent nothing for 500ms at the begin of its answer", firstByte: short, idle: short,
			serve: func(w http.ResponseWriter, r *http.Request, good Answer) {
				w.Header().Set("Content-Type", good.Type)
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			},
		},
		{
			name: "stall in mid-stream", want: "sent nothing for 500ms in the middle of its answer", idle: short,
			serve: func(w http.ResponseWriter, r *http.Request, good Answer) {
				begin(w, good)
				<-r.Context().Done()
			},
		},
		{name: "cut connection", want: "ended in the middle of its answer", serve: func(w http.ResponseWriter, _ *http.Request, good Answer) {
			begin(w, good)
			panic(http.ErrAbortHandler)
		}},
		{name: "hangs up", want: "cannot be reached", serve: func(http.ResponseWriter, *http.Request, Answer) { panic(http.ErrAbortHandler) }},
		{name: "empty answer", serve: func(w http.ResponseWriter, _ *http.Request, good Answer) {
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
		{name: "400", want: "answered 400 Bad Request: bad field", serve: refuse(400, `{"error":{"message":"bad field\nsecond line","type":"invalid_request_error"}}`)},
		{name: "401", want: "answered 401 Unauthorized: wrong key *** (check key_env", serve: refuse(401, `{"error":{"message":"wrong key `+Key+`"}}`)},
		{name: "403", want: "answered 403 Forbidden", serve: refuse(403, "")},
		{name: "404 model", want: `answered 404 Not Found: model "x" not found`, serve: refuse(404, `{"error":"model \"x\" not found, try pulling it first"}`)},
		{name: "422", want: "answered 422 Unprocessable Entity", serve: refuse(422, `{"detail":[{"loc":["body","x"],"msg":"Field required"}]}`)},
		{name: "429 with Retry-After", want: "answered 429 Too Many Requests: slow down", serve: refuse(429, `{"message":"slow down"}`)},
		{name: "500", want: "answered 500 Internal Server Error: out of [31mmemory", serve: refuse(500, "out of \x1b[31mmemory\nat line 3")},
		{name: "503", want: "answered 503 Service Unavailable: Loading model", serve: refuse(503, `{"error":{"code":503,"message":"Loading model"}}`)},
		{name: "204 without an answer", serve: func(w http.ResponseWriter, _ *http.Request, _ Answer) { w.WriteHeader(http.StatusNoContent) }},
		{name: "redirect to another host", want: "redirects to another host", serve: func(w http.ResponseWriter, r *http.Request, _ Answer) {
			other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("the key follows to another host") }))
			defer other.Close()
			http.Redirect(w, r, other.URL+"/v1", http.StatusTemporaryRedirect)
		}},
		{name: "redirect to itself", want: "redirects more than three times", serve: func(w http.ResponseWriter, r *http.Request, _ Answer) {
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
		{name: "HTML", want: `answered with "text/html" instead of `, serve: send("text/html", page)},
		{name: "HTML that says it is right", serve: send("", page)},
		{name: "wrong content type", want: `answered with "image/png" instead of `, serve: send("image/png", "\x89PNG\r\n\x1a\n")},
		{name: "malformed events", only: events, serve: send("", "data: {\"choices\":[{\"delta\n\ndata: [DONE]\n\n")},
		{name: "events that are no objects", only: events, serve: send("", "data: 7\n\ndata: [DONE]\n\n")},
		{name: "an error as an event", only: events, want: "the context is too long", serve: send("", "data: {\"type\":\"error\",\"error\":{\"message\":\"the context is too long\"}}\n\n")},
		{name: "a megabyte in one token", only: events, want: "sent an event of more than ", serve: send("", delta)},
		{name: "malformed JSON", only: object, serve: send("", `{"text":"hel`)},
		{name: "an odd byte", only: sound, want: "half a sample", serve: func(w http.ResponseWriter, _ *http.Request, good Answer) {
			w.Header().Set("Content-Type", good.Type)
			_, _ = io.WriteString(w, good.Body+"\x01")
		}},
	}
}

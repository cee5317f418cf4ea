// Package offers reads SDP offers from requests, and writes the SDP answers.
package offers

import (
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/antiphon-rt/antiphon/internal/httpapi/answer"
)

// Most is the size of an SDP offer, in bytes.
const Most = 64 << 10

// Read reads a body that is an SDP offer.
func Read(w http.ResponseWriter, r *http.Request) (sdp string, p *answer.Problem) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/sdp" {
		return "", &answer.Problem{Status: http.StatusUnsupportedMediaType, Code: "unsupported_media_type", Message: "send the SDP offer as application/sdp"}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, Most))
	if err != nil {
		return "", answer.BadBody(err)
	}
	return string(body), nil
}

// ReadForm reads the parts sdp and session of a form; session is nil without the second. Each is a field or a file, because browsers send Blobs as files. No part is larger
// than maxPart bytes.
func ReadForm(form *multipart.Reader, maxPart int64) (sdp string, session []byte, p *answer.Problem) {
	seen := map[string]bool{}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", nil, answer.BadBody(err)
		}
		name, size := part.FormName(), maxPart
		if name == "sdp" {
			size = Most
		}
		body, err := io.ReadAll(http.MaxBytesReader(nil, part, size))
		if err != nil {
			return "", nil, answer.BadBody(err)
		}
		if seen[name] {
			return "", nil, answer.BadField("repeated_field", name, "the form has more than one part of this name: send one")
		}
		seen[name] = name == "sdp" || name == "session"
		switch name {
		case "sdp":
			sdp = string(body)
		case "session":
			session = body
		}
	}
	if strings.TrimSpace(sdp) == "" {
		return "", nil, answer.BadField("missing_field", "sdp", "the form has no part named sdp with the SDP offer")
	}
	return sdp, session, nil
}

// Write writes an SDP answer.
func Write(w http.ResponseWriter, status int, sdp string) {
	w.Header().Set("Content-Type", "application/sdp")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, sdp) // after an error the client is gone: the call waits for it, or ends
}

package once

// What a request says of itself: its idempotency key, how long it waits, whose it is, and what its content is.

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
)

// Header is the header with the key. Replayed is the header of a response that was stored for an earlier try.
const (
	Header   = "Idempotency-Key"
	Replayed = "Idempotency-Replayed"
)

// maxKey is the longest key, in bytes.
const maxKey = 255

var (
	errNoKey  = errors.New("there is no key")
	errTwice  = errors.New("there are several: send the header once")
	errLength = errors.New("it has " + strconv.Itoa(maxKey) + " bytes at most, and at least one")
	errSyntax = errors.New(`write it as a string in double quotes, such as "8e03978e-40d5-43e8-bc93-6894a57f9324", or without the quotes if it has neither spaces nor quotes nor commas`)
)

// readKey returns the key of a request. The draft wants a string in double quotes (RFC 8941); most clients send the bare key. Both are the same key.
func readKey(h http.Header) (string, error) {
	values := h.Values(Header)
	if len(values) == 0 {
		return "", errNoKey
	}
	if len(values) > 1 {
		return "", errTwice
	}
	text := strings.Trim(values[0], " ")
	if !strings.HasPrefix(text, `"`) {
		return bareKey(text)
	}
	var key strings.Builder
	for i := 1; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '"' && i == len(text)-1:
			return checked(key.String())
		case c == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
			c = text[i]
		case c == '"' || c == '\\' || c < ' ' || c > '~':
			return "", errSyntax
		}
		key.WriteByte(c)
	}
	return "", errSyntax // the quotes are not closed
}

func bareKey(text string) (string, error) {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c > '~' || c == '"' || c == ',' || c == '\\' {
			return "", errSyntax
		}
	}
	return checked(text)
}

func checked(key string) (string, error) {
	if key == "" || len(key) > maxKey {
		return "", errLength
	}
	return key, nil
}

// readWait returns how long a request waits for the response of another try: wait=SECONDS of the header Prefer (RFC 7240), at most most.
// A preference that cannot be read is none.
func readWait(h http.Header, most time.Duration) time.Duration {
	for _, line := range h.Values("Prefer") {
		for part := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			if seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(value), `"`), 10, 31); err == nil {
				return min(time.Duration(seconds)*time.Second, most)
			}
		}
	}
	return 0
}

// safeMethod reports whether the method changes nothing (RFC 9110, 9.2.1): such requests need no key.
func safeMethod(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}

// scope returns the name of a key in the store. Keys of different principals, methods or paths have nothing in common.
func scope(principal, method, path, key string) string {
	h := sha256.New()
	for _, text := range []string{principal, method, path, key} {
		part(h, []byte(text))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fingerprint stands for the content of a request: query, content type, encoding, body. It is not 0. A browser takes a new boundary each time that it sends
// a form, so the boundary of a form does not count.
func fingerprint(r *http.Request, body []byte) idempotency.Payload {
	h, kind := sha256.New(), r.Header.Get("Content-Type")
	if form, params, err := mime.ParseMediaType(kind); err == nil && form == "multipart/form-data" && params["boundary"] != "" {
		kind, body = form, bytes.ReplaceAll(body, []byte("--"+params["boundary"]), []byte("--"))
	}
	for _, text := range []string{r.URL.RawQuery, kind, r.Header.Get("Content-Encoding")} {
		part(h, []byte(text))
	}
	part(h, body)
	return max(1, idempotency.Payload(binary.BigEndian.Uint64(h.Sum(nil))))
}

// part writes a text and its length, so that two lists of texts never look alike.
func part(h hash.Hash, text []byte) {
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(text)))
	h.Write(n[:])
	h.Write(text)
}

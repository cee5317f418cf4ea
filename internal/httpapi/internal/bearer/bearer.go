// Package bearer reads the key or the client secret of a request.
package bearer

// The key in a header, or in a WebSocket subprotocol for pages, which cannot set headers.

import (
	"net/http"
	"strings"
)

// KeyProtocol begins the WebSocket subprotocol that contains a key.
const KeyProtocol = "openai-insecure-api-key."

// Protocols returns the WebSocket subprotocols that a client offers.
func Protocols(r *http.Request) []string {
	var all []string
	for _, header := range r.Header.Values("Sec-WebSocket-Protocol") {
		for protocol := range strings.SplitSeq(header, ",") {
			all = append(all, strings.TrimSpace(protocol))
		}
	}
	return all
}

// Key returns the key or client secret of a request, or "".
func Key(r *http.Request) string {
	if kind, key, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(kind, "Bearer") {
		return strings.TrimSpace(key)
	}
	for _, protocol := range Protocols(r) {
		if key, ok := strings.CutPrefix(protocol, KeyProtocol); ok {
			return key
		}
	}
	return ""
}

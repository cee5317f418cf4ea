package cluster

// Marks and seals: the mark of a server in an id or a token, and the header of a request that one server passes on to another.

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"net/http"
	"net/netip"
	"strings"
)

// Lengths of the parts of a marked text, in letters. The text itself is between them.
const (
	idLength    = 8
	sealLength  = 8
	longestText = 64
)

// letters is the alphabet of rand.Text.
var letters = base32.StdEncoding.WithPadding(base32.NoPadding)

// sealKey is the key of all seals of a cluster. All its servers have it from the store.
type sealKey []byte

// seal returns the message authentication code of parts, for one purpose, in letters.
func (k sealKey) seal(purpose string, parts ...string) string {
	return letters.EncodeToString(k.code(purpose, parts...))
}

// code returns the message authentication code of parts, for one purpose.
func (k sealKey) code(purpose string, parts ...string) []byte {
	mac := hmac.New(sha256.New, k)
	for _, part := range append([]string{purpose}, parts...) {
		mac.Write([]byte(part)) // a hash does not fail
		mac.Write([]byte{0})
	}
	return mac.Sum(nil)
}

// mark returns a text with the mark of a server.
func (k sealKey) mark(id, text string) string {
	return id + text + k.seal("mark", id, text)[:sealLength]
}

// owner returns the id of the server that has marked a text. ok is false for a text that no server of the cluster has marked.
func (k sealKey) owner(marked string) (id string, ok bool) {
	if len(marked) <= idLength+sealLength || len(marked) > idLength+longestText+sealLength {
		return "", false
	}
	id, text, seal := marked[:idLength], marked[idLength:len(marked)-sealLength], marked[len(marked)-sealLength:]
	return id, hmac.Equal([]byte(seal), []byte(k.seal("mark", id, text)[:sealLength]))
}

// header says that one server has passed a request on to another. Its value is the receiver's id, the address of the client or "-", and a seal.
const header = "Antiphon-Node"

// passage returns the header of a request that goes to the server with that id.
func (k sealKey) passage(to string, client netip.Addr, r *http.Request) string {
	address := "-"
	if client.IsValid() {
		address = client.String()
	}
	return to + " " + address + " " + k.seal("pass", to, address, r.Method, r.URL.RequestURI())
}

// passenger returns the address of the client of a request that a server has passed on to the one with the id own. ok is false if no server of this cluster
// has written the header.
func (k sealKey) passenger(own string, r *http.Request) (client netip.Addr, ok bool) {
	parts := strings.Split(r.Header.Get(header), " ")
	if len(parts) != 3 || parts[0] != own {
		return client, false
	}
	if !hmac.Equal([]byte(parts[2]), []byte(k.seal("pass", own, parts[1], r.Method, r.URL.RequestURI()))) {
		return client, false
	}
	client, _ = netip.ParseAddr(parts[1]) // "-" is no address
	return client, true
}

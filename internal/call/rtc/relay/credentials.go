package relay

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // the mechanism of TURN servers asks for it
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// Credentials of TURN servers that live for minutes. A server and those who hand out credentials share a secret
// (draft-uberti-behave-turn-rest-00; coturn's option use-auth-secret).

// Credential is what a client shows to a TURN server.
type Credential struct {
	Username, Password string
	Expires            time.Time // no allocation can be made later; allocations that exist live on
}

// Issue returns a credential that expires at a time. Its username is new, so that a quota counts for each credential, and has a mark of its payer, so that a quota
// counts for all credentials of the payer.
func Issue(secret, payer string, expires time.Time) Credential {
	username := strconv.FormatInt(expires.Unix(), 10) + ":" + password(secret, "payer "+payer)[:12] + "." + rand.Text()[:12]
	return Credential{Username: username, Password: password(secret, username), Expires: expires}
}

func password(secret, username string) string {
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write([]byte(username))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// payer returns the mark of the payer in a username.
func payer(username string) string {
	_, rest, _ := strings.Cut(username, ":")
	mark, _, _ := strings.Cut(rest, ".")
	return mark
}

// expiry returns when a username expires. ok is false if it has not the form that Issue gives it.
func expiry(username string) (at time.Time, ok bool) {
	seconds, _, found := strings.Cut(username, ":")
	n, err := strconv.ParseInt(seconds, 10, 64)
	return time.Unix(n, 0), found && err == nil
}

package sip

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"maps"
	mathrand "math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/emiago/sipgo/sip"
	"github.com/icholy/digest"

	"github.com/antiphon-rt/antiphon/internal/httpguard"
)

// Admission: who a message comes from. A stranger is asked for credentials, and leaves nothing behind but an entry in a table of fixed size.

const (
	// nonceLife is how long a nonce may be used.
	nonceLife = 30 * time.Second
	// maxStranger is the size of the largest message of a stranger that is looked at.
	maxStranger = 8 << 10
	// triesPerSecond and triesAtOnce bound how many messages of one network of strangers are looked at.
	triesPerSecond, triesAtOnce = 5, 20
	// maxNetworks is how many networks of strangers are told apart. Above it all others share one budget.
	maxNetworks = 4096
	// admittedFor is how long a caller with credentials is known by its address after its last message, and maxAdmitted how many are.
	admittedFor = time.Hour
	maxAdmitted = 4096
	// bytesPerSecond and bytesAtOnce bound the messages of a trunk, for each call that it may have. A datagram counts perDatagram more: sipgo remembers each request for 32 s.
	bytesPerSecond, bytesAtOnce, perDatagram = 4 << 10, 32 << 10, 1 << 10
)

const realm = "antiphon"

// door decides who may send messages. It is safe for concurrent use.
type door struct {
	trunks []Trunk
	secret [32]byte // of the nonces
	now    func() time.Time

	mu       sync.Mutex
	admitted map[netip.AddrPort]admission
	used     map[string]use // by nonce
	tries    map[netip.Prefix]bucket
	bytes    map[string]bucket // by trunk
	swept    time.Time         // when the full budgets were removed last
}

// admission is a caller with credentials.
type admission struct {
	trunk *Trunk
	last  time.Time
}

// use is the last use of a nonce with good credentials.
type use struct {
	count int // nc; 0 where the telephone does not count
	until time.Time
}

// bucket is a budget of messages, or of bytes.
type bucket struct {
	left float64
	at   time.Time
}

// refill adds what a budget gets in the time since it was used.
func (b *bucket) refill(now time.Time, perSecond, most float64) {
	b.left, b.at = min(most, b.left+now.Sub(b.at).Seconds()*perSecond), now
}

func newDoor(trunks []Trunk, now func() time.Time) *door {
	d := &door{trunks: trunks, now: now, admitted: map[netip.AddrPort]admission{}, used: map[string]use{}, tries: map[netip.Prefix]bucket{}, bytes: map[string]bucket{}}
	_, _ = rand.Read(d.secret[:]) // it never fails
	return d
}

// known returns the trunk that messages from this address belong to, or nil for a stranger. always is false for one that has shown credentials.
func (d *door) known(from netip.AddrPort) (t *Trunk, always bool) {
	if t := byAddress(d.trunks, from.Addr()); t != nil {
		return t, true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	a, ok := d.admitted[from]
	if !ok || d.now().Sub(a.last) > admittedFor {
		return nil, false
	}
	a.last = d.now()
	d.admitted[from] = a
	return a.trunk, false
}

// try takes one message from the budget of a stranger's network. It reports false if there is none left.
func (d *door) try(from netip.Addr) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	network, now := httpguard.Network(from), d.now()
	b, ok := d.tries[network]
	if !ok {
		if len(d.tries) >= maxNetworks {
			d.forget(now)
		}
		if len(d.tries) >= maxNetworks {
			network = netip.Prefix{}
			b, ok = d.tries[network]
		}
	}
	if !ok {
		b = bucket{triesAtOnce, now}
	}
	b.refill(now, triesPerSecond, triesAtOnce)
	enough := b.left >= 1
	if enough {
		b.left--
	}
	d.tries[network] = b
	return enough
}

// spend takes bytes from the budget of a trunk. If there is nothing left it takes none, and returns how long to wait.
func (d *door) spend(t *Trunk, n int) (wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	rate, most := float64(bytesPerSecond*t.limit()), float64(bytesAtOnce*t.limit())
	b, ok := d.bytes[t.Name]
	if !ok {
		b = bucket{most, d.now()}
	}
	b.refill(d.now(), rate, most)
	if b.left > 0 {
		b.left -= float64(n)
	} else {
		wait = time.Duration((1 - b.left) / rate * float64(time.Second))
	}
	d.bytes[t.Name] = b
	return wait
}

// forget removes the budgets that are full again, at most once a second: each forged address would cost a look at all of them. The caller holds mu.
func (d *door) forget(now time.Time) {
	if now.Sub(d.swept) < time.Second {
		return
	}
	d.swept = now
	for network, b := range d.tries {
		if now.Sub(b.at) > triesAtOnce/triesPerSecond*time.Second {
			delete(d.tries, network)
		}
	}
}

// verify returns the trunk whose credentials a request shows, and admits the address. It returns nil for wrong credentials and for none. use is true for a request that uses
// up the credentials: they are good once. stale means that credentials were good for another nonce, or were used before.
func (d *door) verify(r *sip.Request, from netip.AddrPort, use bool) (t *Trunk, stale bool) {
	h := r.GetHeader("Authorization")
	if h == nil {
		return nil, false
	}
	shown, err := digest.ParseCredentials(h.Value())
	if err != nil || shown.Realm != realm || !about(shown.URI, r) {
		return nil, false
	}
	t = byUser(d.trunks, shown.Username)
	password := "" // of nobody: the work is the same
	if t != nil {
		password = t.Password
	}
	challenge := d.challenge(shown.Nonce)
	if shown.QOP == "" {
		challenge.QOP = nil // RFC 2069, of old telephones
	}
	want, err := digest.Digest(challenge, digest.Options{
		Method: r.Method.String(), URI: shown.URI, Username: shown.Username, Password: password, Cnonce: shown.Cnonce, Count: shown.Nc,
	})
	if err != nil || subtle.ConstantTimeCompare([]byte(want.Response), []byte(shown.Response)) != 1 || t == nil {
		return nil, false
	}
	if !d.fresh(shown.Nonce, from.Addr()) || !d.unused(shown, use) {
		return nil, true
	}
	d.admit(from, t)
	return t, false
}

// about reports whether credentials for this address are for this request: for the number that it calls, where the address has one. Hosts differ behind a router or a proxy.
func about(address string, r *sip.Request) bool {
	var uri sip.Uri
	return sip.ParseUri(address, &uri) == nil && (uri.User == "" || uri.User == r.Recipient.User)
}

// maxUsed is how many nonces are remembered until they are too old.
const maxUsed = 4096

// unused reports whether credentials were not used before, and notes their use. A telephone counts the uses of a nonce (nc); one that does not has one.
func (d *door) unused(shown *digest.Credentials, note bool) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	last, ok := d.used[shown.Nonce]
	if ok && shown.Nc <= last.count || !note {
		return !ok || shown.Nc > last.count
	}
	now := d.now()
	if len(d.used) >= maxUsed {
		maps.DeleteFunc(d.used, func(_ string, u use) bool { return now.After(u.until) })
	}
	if len(d.used) >= maxUsed {
		return false // it has good credentials for the next nonce, too
	}
	d.used[shown.Nonce] = use{shown.Nc, now.Add(nonceLife)}
	return true
}

func (d *door) admit(from netip.AddrPort, t *Trunk) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	if len(d.admitted) >= maxAdmitted {
		oldest, at := from, now
		for address, a := range d.admitted {
			if a.last.Before(at) {
				oldest, at = address, a.last
			}
		}
		delete(d.admitted, oldest)
	}
	d.admitted[from] = admission{t, now}
}

// challenge returns what asks for credentials. It leaves out that the algorithm is MD5, as RFC 2617 lets it.
func (d *door) challenge(nonce string) *digest.Challenge {
	return &digest.Challenge{Realm: realm, Nonce: nonce, QOP: []string{"auth"}}
}

// ask returns the answer that asks a stranger for credentials; stale says that those of the request are too old. It is short, so that it is no larger than a short INVITE.
func (d *door) ask(r *sip.Request, from netip.Addr, stale bool) *sip.Response {
	if to := r.To(); to != nil && !to.Params.Has("tag") {
		r = r.Clone()
		r.To().Params.Add("tag", rand.Text()[:8])
	}
	answer := sip.NewResponseFromRequest(r, sip.StatusUnauthorized, "Unauthorized", nil)
	challenge := d.challenge(d.nonce(from, d.now()))
	challenge.Stale = stale
	answer.AppendHeader(sip.NewHeader("WWW-Authenticate", challenge.String()))
	return answer
}

// saltBits is how many random bits a nonce has: telephones behind one address are asked in the same second.
const saltBits = 24

// nonce returns a nonce for an address: the time with a salt, and a code over both. So nobody needs to remember it.
func (d *door) nonce(from netip.Addr, at time.Time) string {
	return d.sign(from, uint64(at.Unix())<<saltBits|uint64(mathrand.Uint32N(1<<saltBits)))
}

// sign returns the nonce with a stamp.
func (d *door) sign(from netip.Addr, stamp uint64) string {
	b := binary.BigEndian.AppendUint64(nil, stamp)
	mac := hmac.New(sha256.New, d.secret[:])
	mac.Write(b)
	mac.Write(from.AsSlice())
	return hex.EncodeToString(mac.Sum(b)[:len(b)+8])
}

// fresh reports whether a nonce was made for this address lately.
func (d *door) fresh(nonce string, from netip.Addr) bool {
	b, err := hex.DecodeString(nonce)
	if err != nil || len(b) != 16 {
		return false
	}
	stamp := binary.BigEndian.Uint64(b)
	age := d.now().Sub(time.Unix(int64(stamp>>saltBits), 0))
	return age > -time.Second && age < nonceLife && hmac.Equal([]byte(d.sign(from, stamp)), []byte(nonce))
}

// pass decides on a datagram of a stranger: it passes an INVITE with good credentials. It returns an answer to one without, and nothing for all else.
func (d *door) pass(b []byte, from netip.AddrPort) (passes bool, answer []byte) {
	if len(b) > maxStranger || !d.try(from.Addr()) {
		return false, nil
	}
	m, err := sip.ParseMessage(b)
	if err != nil {
		return false, nil
	}
	r, ok := m.(*sip.Request)
	if !ok || !r.IsInvite() || r.Via() == nil || r.To() == nil || r.From() == nil || r.CallID() == nil || r.CSeq() == nil || r.To().Params.Has("tag") {
		return false, nil
	}
	r.SetTransport("UDP")
	r.SetSource(from.String())
	t, stale := d.verify(r, from, false)
	if t != nil {
		return true, nil
	}
	answer = []byte(d.ask(r, from.Addr(), stale).String())
	if len(answer) > len(b) {
		return false, nil // a forged address gets no more than was sent for it
	}
	return false, answer
}

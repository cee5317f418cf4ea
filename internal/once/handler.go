package once

// The middleware: its configuration, and what it does with a request before the machine of its key.

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	shared "github.com/antiphon-rt/antiphon/internal/account"
	"github.com/antiphon-rt/antiphon/internal/coord/idempotency"
	"github.com/antiphon-rt/antiphon/internal/store"
)

// Config configures a Handler. Store is required; other fields that are zero take the default that they name.
type Config struct {
	// Store keeps the keys. It stays open while the Handler is used.
	Store *store.Store
	// Name is the beginning of the names of the buckets; "" takes "once". Handlers with the same Store and Name share their keys.
	Name string
	// Required refuses requests of methods that change something if they have no key.
	Required bool
	// Safe reports whether the operation of a request may be repeated: if its holder dies, another try sends it again. nil: none may.
	Safe func(*http.Request) bool
	// Principal returns who sends a request. Keys of different principals have nothing in common. nil takes the header Authorization.
	// The Handler stores a hash of it only.
	Principal func(*http.Request) string
	// Keep is how long a key and its response are kept; 0 takes 24 h.
	Keep time.Duration
	// Lease is how long a holder may be silent before its lock is over; 0 takes 15 s.
	Lease time.Duration
	// Timeout is how long the service may take for one request; 0 takes 60 s. A response that streams begins within this time, and each further piece comes within
	// this time after the one before; it ends within an hour.
	Timeout time.Duration
	// MaxWait is the longest wait that a client may ask for with Prefer: wait=SECONDS; 0 takes 30 s.
	MaxWait time.Duration
	// MaxBody and MaxResponse are limits of a request with a key, in bytes; 0 takes 1 MiB and 4 MiB.
	MaxBody, MaxResponse int
	// Memory is how many bytes the bodies of all requests with a key take that are in progress, and the long responses that are replayed; 0 takes 64 MiB, or four times MaxBody if that is more. One principal has
	// half of them.
	Memory int
	// MaxRequests is how many requests with a key are in progress at a time; 0 takes 256. One principal has half of them at most.
	MaxRequests int
	// PerPrincipal limits what one principal stores.
	PerPrincipal Quota
	// Retry reports whether a response with this status says that nothing was done, and that the client tries again. Such a response of an operation
	// that may be repeated is not stored: the next try is sent again. nil: there is no such status.
	Retry func(status int) bool
	// Announces reports whether the service of a request calls Sending before it changes anything. If it refuses the request without that call, nothing was done: a
	// response for which Retry holds is not stored then, although the operation may not be repeated. nil: no service does.
	Announces func(*http.Request) bool
	// Headers are the names of further headers of a response that every try gets.
	Headers []string
	// Refuse writes an error of the Handler for a client. nil writes application/problem+json (RFC 9457).
	Refuse func(w http.ResponseWriter, status int, code, detail string)
	// Logger gets what an operator should know. nil discards it.
	Logger *slog.Logger

	history uint8 // of the records; tests read it
}

// Quota is what one principal may store in the time Config.Keep, in this process.
type Quota struct {
	Keys  int // new keys; 0 takes 100,000
	Bytes int // of responses; 0 takes a quarter of the limit of the Store
}

// withDefaults returns the configuration with defaults for its zero fields.
func (c Config) withDefaults() (Config, error) {
	if c.Store == nil {
		return c, errors.New("once: Config.Store is missing")
	}
	if c.Keep < 0 || c.Lease < 0 || c.Timeout < 0 || c.MaxWait < 0 || c.MaxBody < 0 || c.MaxResponse < 0 || c.Memory < 0 || c.MaxRequests < 0 || c.PerPrincipal.Keys < 0 ||
		c.PerPrincipal.Bytes < 0 {
		return c, errors.New("once: a limit is negative")
	}
	if c.Safe == nil {
		c.Safe = func(*http.Request) bool { return false }
	}
	if c.Retry == nil {
		c.Retry = func(int) bool { return false }
	}
	if c.Announces == nil {
		c.Announces = func(*http.Request) bool { return false }
	}
	if c.Refuse == nil {
		c.Refuse = writeProblem
	}
	if c.Principal == nil {
		c.Principal = func(r *http.Request) string { return r.Header.Get("Authorization") }
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Name = cmp.Or(c.Name, "once")
	c.Keep = cmp.Or(c.Keep, 24*time.Hour)
	c.Lease = cmp.Or(c.Lease, 15*time.Second)
	c.Timeout = cmp.Or(c.Timeout, time.Minute)
	c.MaxWait = cmp.Or(c.MaxWait, 30*time.Second)
	c.MaxBody = cmp.Or(c.MaxBody, 1<<20)
	c.MaxResponse = cmp.Or(c.MaxResponse, 4<<20)
	c.Memory = cmp.Or(c.Memory, max(64<<20, 4*c.MaxBody))
	c.MaxRequests = cmp.Or(c.MaxRequests, 256)
	c.PerPrincipal.Keys = cmp.Or(c.PerPrincipal.Keys, 100_000)
	c.PerPrincipal.Bytes = cmp.Or(c.PerPrincipal.Bytes, int(c.Store.MaxBytes()/4))
	return c, nil
}

// Handler is the middleware. It is safe for concurrent use.
type Handler struct {
	cfg     Config
	next    http.Handler
	book    *book
	limits  *limits
	waiters *waiters
	sent    *inFlight
}

// New returns a Handler before next, which may be nil if only Serve is called. It opens its buckets in the store.
func New(ctx context.Context, next http.Handler, cfg Config) (*Handler, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	records, err := cfg.Store.Bucket(ctx, store.BucketConfig{Name: cfg.Name + "-keys", Keep: cfg.Keep, History: cfg.history})
	if err != nil {
		return nil, err
	}
	// A body is stored before its record, so it has to stay longer than the record.
	bodies, err := cfg.Store.Bucket(ctx, store.BucketConfig{Name: cfg.Name + "-bodies", Keep: cfg.Keep + time.Hour})
	if err != nil {
		return nil, err
	}
	sent := &inFlight{of: map[string]sentTry{}}
	return &Handler{
		cfg: cfg, next: next,
		book: &book{
			store: cfg.Store, records: records, bodies: bodies, node: cfg.Store.Process(), lease: cfg.Lease, sent: sent,
			kind: kind{Table: idempotency.Table, Decode: decode, Encode: encode},
		},
		limits:  &limits{requests: cfg.MaxRequests, share: max(1, cfg.MaxRequests/2), memory: cfg.Memory, keys: cfg.PerPrincipal.Keys, stored: cfg.PerPrincipal.Bytes, keep: cfg.Keep, of: map[string]*usage{}},
		waiters: &waiters{of: map[string]*waiter{}},
		sent:    sent,
	}, nil
}

// ServeHTTP implements http.Handler. Requests of safe methods, and requests without a key unless it is required, go to the service unchanged.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	principal := h.cfg.Principal(r)
	h.Serve(w, r, principal, principal, h.next)
}

// Serve does the same for a server that knows already who sends the request: next is the service of this one request. account names who pays in the limits; the
// client must not be able to choose it. keys is a name space: requests with different values of keys share no idempotency key.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request, account, keys string, next http.Handler) {
	key, err := readKey(r.Header)
	switch {
	case safeMethod(r.Method), errors.Is(err, errNoKey) && !h.cfg.Required:
		next.ServeHTTP(w, r)
		return
	case errors.Is(err, errNoKey):
		h.refuse(w, http.StatusBadRequest, CodeMissing, 0, "this service wants the header Idempotency-Key: send a new UUID for each new request, and the same for each try of it")
		return
	case err != nil:
		h.refuse(w, http.StatusBadRequest, CodeInvalid, 0, "the header Idempotency-Key: "+err.Error())
		return
	}
	_, connects := next.(*Proxy)
	announces := !connects && h.cfg.Announces(r)
	t := &try{id: newTry(), next: next, connects: connects || announces, announces: announces, uses: h.limits.open(hashed(account), time.Now())}
	defer func() {
		if !t.given {
			t.uses.close()
		}
	}()
	body, ok := h.readBody(w, r, t)
	if !ok {
		return
	}
	if err := t.uses.begin(); err != nil { // a body that comes slowly takes the place of no other request
		h.tooMany(w, err)
		return
	}
	t.key, t.payload, t.safe, t.body = scope(hashed(keys), r.Method, r.URL.EscapedPath(), key), fingerprint(r, body), h.cfg.Safe(r), body
	h.serve(w, r, t)
}

// readBody reads the body of a request. It refuses a request whose body is too long, does not come whole, or has no room beside those of others.
func (h *Handler) readBody(w http.ResponseWriter, r *http.Request, t *try) (body []byte, ok bool) {
	most := int64(h.cfg.MaxBody)
	read := func() (err error) {
		if r.ContentLength > most {
			return &http.MaxBytesError{Limit: most}
		}
		body, err = io.ReadAll(&borrowing{http.MaxBytesReader(w, r.Body, most), t.uses})
		return err
	}
	err := read()
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		h.refuse(w, http.StatusRequestEntityTooLarge, CodeBody, 0, fmt.Sprintf("a request with an Idempotency-Key has %d bytes at most", most))
	case errors.Is(err, errBusy), errors.Is(err, errShare), errors.Is(err, shared.ErrFull):
		h.tooMany(w, err)
	case err != nil:
		h.refuse(w, http.StatusBadRequest, CodeBody, 0, "the request's body did not arrive whole")
	}
	return body, err == nil
}

// borrowing is a body whose bytes count in the memory of all requests as they come.
type borrowing struct {
	io.Reader
	uses *account
}

// Read implements io.Reader.
func (b *borrowing) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if noRoom := b.uses.borrow(n); noRoom != nil {
		return 0, noRoom
	}
	return n, err
}

// hashed returns the hash of a principal, so that no credential is stored.
func hashed(principal string) string {
	sum := sha256.Sum256([]byte(principal))
	return hex.EncodeToString(sum[:])
}

// withBody returns the request as the service gets it, with the body that was read before.
func withBody(ctx context.Context, r *http.Request, body []byte) *http.Request {
	out := r.WithContext(ctx)
	out.Body, out.GetBody, out.ContentLength, out.TransferEncoding = io.NopCloser(bytes.NewReader(body)), nil, int64(len(body)), nil
	return out
}

// tooMany answers a request that is beyond a limit.
func (h *Handler) tooMany(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, errBusy):
		h.refuse(w, http.StatusServiceUnavailable, CodeLimit, 1, err.Error())
	case errors.Is(err, errShare), errors.Is(err, shared.ErrFull):
		h.refuse(w, http.StatusTooManyRequests, CodeLimit, 1, err.Error())
	default:
		h.refuse(w, http.StatusTooManyRequests, CodeLimit, 60, err.Error())
	}
}

// storeFailed answers a try for which the store did not work.
func (h *Handler) storeFailed(w http.ResponseWriter, err error) {
	if errors.Is(err, errQuota) || errors.Is(err, errBusy) || errors.Is(err, errShare) {
		h.tooMany(w, err)
		return
	}
	h.cfg.Logger.Error("once: a request got no answer, because the store failed", "err", err)
	h.refuse(w, http.StatusServiceUnavailable, CodeStore, 2,
		"the store of the idempotency keys does not work now. The request was not sent by this try, or its response could not be stored: try again with the same key")
}

package sip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"
)

// Registrations: this server logs in at a provider or a telephone exchange, which then sends its calls here.

const (
	// registeredFor is how long a registration is asked for. It is refreshed when half of what was granted has passed.
	registeredFor = 10 * time.Minute
	// registersWithin bounds one try, and leavesWithin the end of a registration.
	registersWithin, leavesWithin = 10 * time.Second, 2 * time.Second
	// firstRetry is the wait after a try that failed. It doubles up to lastRetry.
	firstRetry, lastRetry = 5 * time.Second, 5 * time.Minute
	// shortest is the shortest time between two registrations, whatever the registrar grants.
	shortest = 10 * time.Second
	// aliveEvery is the time between two packets that keep a router's port open for the registrar.
	aliveEvery = 20 * time.Second
)

// Registration is a login at a registrar over UDP. The trunk's Networks have the registrar: its calls come from there.
type Registration struct {
	// Registrar is HOST or HOST:PORT.
	Registrar string
	// User is the account. Calls come for the number User.
	User, Password string
}

// hostPort returns the host and the port of HOST or HOST:PORT.
func hostPort(address string) (host string, port int, err error) {
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		return strings.Trim(address, "[]"), sip.DefaultUdpPort, nil
	}
	n, err := strconv.ParseUint(number, 10, 16)
	return host, int(n), err
}

// check returns what is wrong with a registration of a trunk.
func (r *Registration) check(t *Trunk) error {
	host, _, err := hostPort(r.Registrar)
	switch {
	case err != nil || host == "":
		return errors.New("register: server: want a host, or a host and a port such as sip.example.org:5060")
	case r.User == "" || r.Password == "":
		return errors.New("register: give user and a password")
	case len(t.Networks) == 0:
		return errors.New("register: give the provider's addresses, too: its calls come from there")
	}
	return nil
}

// registrar keeps the registration of a trunk.
type registrar struct {
	server             *Server
	trunk              *Trunk
	at                 netip.AddrPort // where the registrar was found
	id                 string         // Call-ID of all its requests
	cseq               uint32
	registered, failed bool // how the try before ended: the log says only what is new
}

// register keeps the registration of a trunk until ctx is done, and then ends it.
func (s *Server) register(ctx context.Context, t *Trunk) {
	r := &registrar{server: s, trunk: t, id: newID()}
	wait := firstRetry
	for ctx.Err() == nil {
		granted, err := r.try(ctx, registeredFor)
		switch {
		case err == nil:
			if !r.registered {
				s.cfg.Logger.Info("registered", "trunk", t.Name, "at", t.Register.Registrar, "for", granted)
			}
			r.registered, r.failed, wait = true, false, firstRetry
			r.keepAlive(ctx, max(shortest, granted/2))
			continue
		case ctx.Err() == nil && !r.failed:
			s.cfg.Logger.Warn("not registered: no call comes from there, and the server tries again", "trunk", t.Name, "at", t.Register.Registrar, "error", err)
			r.registered, r.failed = false, true
		}
		pause(ctx, wait)
		wait = min(2*wait, lastRetry)
	}
	if r.registered {
		leaving, cancel := context.WithTimeout(context.WithoutCancel(ctx), leavesWithin)
		defer cancel()
		_, _ = r.try(leaving, 0) // the registration ends by itself
	}
}

// pause waits, unless ctx is done before.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// keepAlive waits, and keeps the router's port open meanwhile.
func (r *registrar) keepAlive(ctx context.Context, d time.Duration) {
	for until := time.Now().Add(d); ctx.Err() == nil && time.Now().Before(until); {
		_, _ = r.server.udp.WriteTo([]byte("\r\n\r\n"), net.UDPAddrFromAddrPort(r.at)) // like any datagram, it may be lost
		pause(ctx, min(aliveEvery, time.Until(until)))
	}
}

// find looks up HOST or HOST:PORT of a trunk. An address outside of the trunk's networks is an error: what comes from there would be a stranger's.
func (t *Trunk) find(ctx context.Context, address string) (netip.AddrPort, error) {
	host, port, err := hostPort(address)
	if err != nil {
		return netip.AddrPort{}, err
	}
	all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, err
	}
	for _, at := range all {
		if at = at.Unmap(); t.has(at) {
			return netip.AddrPortFrom(at, uint16(port)), nil
		}
	}
	return netip.AddrPort{}, fmt.Errorf("%s has the addresses %v, and addresses: of the trunk has none of them", host, all)
}

// try registers once for some time; 0 ends the registration. It returns what was granted.
func (r *registrar) try(ctx context.Context, want time.Duration) (granted time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, registersWithin)
	defer cancel()
	if want > 0 {
		if r.at, err = r.trunk.find(ctx, r.trunk.Register.Registrar); err != nil {
			return 0, err
		}
	}
	client := r.server.clientTo(r.at, nil)
	req := r.request(want)
	res, err := client.Do(ctx, req)
	if err == nil && (res.StatusCode == sip.StatusUnauthorized || res.StatusCode == sip.StatusProxyAuthRequired) {
		res, err = client.DoDigestAuth(ctx, req, res, sipgo.DigestAuth{Username: r.trunk.Register.User, Password: r.trunk.Register.Password})
		r.cseq++
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("the registrar does not answer: %w", err)
	case !res.IsSuccess():
		return 0, fmt.Errorf("the registrar answers %d %.60q", res.StatusCode, res.Reason)
	}
	return min(registeredFor, expiry(res, want)), nil
}

// request returns a REGISTER.
func (r *registrar) request(want time.Duration) *sip.Request {
	host, port, _ := hostPort(r.trunk.Register.Registrar) // Check has read it
	user := r.trunk.Register.User
	if port == sip.DefaultUdpPort {
		port = 0
	}
	req := sip.NewRequest(sip.REGISTER, sip.Uri{Scheme: "sip", Host: host, Port: port})
	from := sip.FromHeader{Address: sip.Uri{Scheme: "sip", User: user, Host: host}}
	from.Params.Add("tag", newID())
	id := sip.CallIDHeader(r.id)
	r.cseq++
	contact := r.server.contact(r.server.reach(r.at.Addr()), "UDP")
	contact.Address.User = user
	for _, h := range []sip.Header{
		&from, &sip.ToHeader{Address: from.Address}, &id, &sip.CSeqHeader{SeqNo: r.cseq, MethodName: sip.REGISTER}, &contact,
		sip.NewHeader("Expires", strconv.Itoa(int(want.Seconds()))),
	} {
		req.AppendHeader(h)
	}
	req.SetTransport("UDP")
	return req
}

// expiry returns for how long an answer grants a registration; what was asked for if it does not say.
func expiry(res *sip.Response, want time.Duration) time.Duration {
	text := ""
	if c := res.Contact(); c != nil {
		text, _ = c.Params.Get("expires")
	}
	if h := res.GetHeader("Expires"); h != nil {
		text = cmp.Or(text, h.Value())
	}
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 24)
	if err != nil {
		return want
	}
	return time.Duration(n) * time.Second
}

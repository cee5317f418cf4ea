package sip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/emiago/sipgo"
	"github.com/emiago/sipgo/sip"
)

// The configuration: trunks, and what they may do.

// Trunk is who may call. It has Networks, or User and Password, or both: then each of them is enough.
type Trunk struct {
	Name           string
	Networks       []netip.Prefix
	User, Password string
	// Register, when not nil, is where this server logs in, so that calls come.
	Register *Registration
	// Out, when not nil, says how this server places calls over the trunk.
	Out *Out
	// Calls is how many calls the trunk has at a time; 0 takes 30.
	Calls int
}

// Audio says how calls carry their sound.
type Audio struct {
	// Public are addresses under which telephones reach this machine and which no interface has.
	Public []netip.Addr
	// FirstPort and LastPort are the UDP ports of the calls; 0 takes any.
	FirstPort, LastPort uint16
	// Quiet is how long a caller may send nothing before the call ends; 0 takes 30 s.
	Quiet time.Duration
}

// Check returns what is wrong with trunks.
func Check(trunks []Trunk) error {
	var all error
	for i, t := range trunks {
		switch {
		case t.Name == "":
			all = errors.Join(all, errors.New("a trunk has no name"))
		case slices.IndexFunc(trunks, func(o Trunk) bool { return o.Name == t.Name }) != i:
			all = errors.Join(all, fmt.Errorf("two trunks have the name %s", t.Name))
		case len(t.Networks) == 0 && t.User == "":
			all = errors.Join(all, fmt.Errorf("trunk %s: nobody can call over it: give addresses, or user and a password", t.Name))
		case (t.User == "") != (t.Password == ""):
			all = errors.Join(all, fmt.Errorf("trunk %s: give user and a password, or neither", t.Name))
		case t.User != "" && slices.IndexFunc(trunks, func(o Trunk) bool { return o.User == t.User }) != i:
			all = errors.Join(all, fmt.Errorf("trunk %s: another trunk has the user %s", t.Name, t.User))
		}
		if t.Register != nil {
			if err := t.Register.check(&t); err != nil {
				all = errors.Join(all, fmt.Errorf("trunk %s: %w", t.Name, err))
			}
		}
		if err := t.Out.check(&t); err != nil {
			all = errors.Join(all, fmt.Errorf("trunk %s: out: %w", t.Name, err))
		}
	}
	return all
}

// mostCalls is how many calls a trunk has, unless its configuration says another number.
const mostCalls = 30

// limit returns how many calls the trunk has at a time.
func (t *Trunk) limit() int { return cmp.Or(t.Calls, mostCalls) }

// target returns where the requests of this server within a call go: to where its INVITE came from, or to the first of its Record-Route if that is the trunk's. All else would
// let a caller choose somebody who gets them.
func (t *Trunk) target(invite *sip.Request, peer netip.AddrPort) netip.AddrPort {
	first := invite.RecordRoute()
	if first == nil {
		return peer
	}
	at, err := netip.ParseAddr(strings.Trim(first.Address.Host, "[]"))
	if err != nil || at.Unmap() != peer.Addr() && !t.has(at.Unmap()) {
		return peer
	}
	return netip.AddrPortFrom(at.Unmap(), uint16(cmp.Or(first.Address.Port, sip.DefaultPort(invite.Transport()))))
}

// route is where the requests of a call go. It implements sipgo.ClientTransactionRequester.
type route struct {
	ua       *sipgo.UserAgent
	from, to netip.AddrPort                  // from is the UDP socket
	invite   *sip.ClientTx                   // of the newest INVITE: sipgo's dialog does not show it
	connect  func(ctx context.Context) error // opens a connection if there is none; nil for UDP and for one that has come in
}

// Request implements sipgo.ClientTransactionRequester.
func (o *route) Request(ctx context.Context, r *sip.Request) (sip.ClientTransaction, error) {
	r.SetDestination(o.to.String())
	if strings.EqualFold(r.Transport(), "UDP") {
		r.Laddr = sip.Addr{IP: o.from.Addr().AsSlice(), Port: int(o.from.Port())} // another socket would take messages of strangers
	}
	if o.connect != nil {
		if err := o.connect(ctx); err != nil {
			return nil, err
		}
	}
	if r.IsAck() {
		return nil, o.ua.TransportLayer().WriteMsg(r) // it has no transaction
	}
	tx, err := o.ua.TransactionLayer().Request(ctx, r)
	if r.IsInvite() {
		o.invite = tx
	}
	return tx, err
}

// clientTo returns a client whose requests go to one address, whatever their headers say. connect is what connects returns, and nil for a connection that has come in.
func (s *Server) clientTo(to netip.AddrPort, connect func(ctx context.Context) error) *sipgo.Client {
	c, _ := sipgo.NewClient(s.ua, sipgo.WithClientNAT(), sipgo.WithClientLogger(quiet)) // these options never fail
	c.TxRequester = &route{ua: s.ua, from: s.at, to: to, connect: connect}
	return c
}

// clientWithin returns a client for the requests within a call that has come in.
func (s *Server) clientWithin(t *Trunk, invite *sip.Request, peer netip.AddrPort) *sipgo.Client {
	to := t.target(invite, peer)
	if to == peer {
		return s.clientTo(to, nil) // the connection of the call
	}
	return s.clientTo(to, s.connects(t, invite.Transport(), to))
}

// has reports whether an address is one of the trunk's.
func (t *Trunk) has(at netip.Addr) bool {
	return slices.ContainsFunc(t.Networks, func(n netip.Prefix) bool { return n.Contains(at) })
}

// byAddress returns the trunk that has this address, or nil.
func byAddress(trunks []Trunk, from netip.Addr) *Trunk {
	for i := range trunks {
		if trunks[i].has(from) {
			return &trunks[i]
		}
	}
	return nil
}

// byUser returns the trunk with this user, or nil.
func byUser(trunks []Trunk, user string) *Trunk {
	for i := range trunks {
		if trunks[i].User != "" && trunks[i].User == user {
			return &trunks[i]
		}
	}
	return nil
}

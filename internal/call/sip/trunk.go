package sip

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// The configuration: trunks, and what they may do.

// Trunk is who may call. It has Networks, or User and Password, or both: then each of them is enough.
type Trunk struct {
	Name           string
	Networks       []netip.Prefix
	User, Password string
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
	}
	return all
}

// mostCalls is how many calls a trunk has, unless its configuration says another number.
const mostCalls = 30

// limit returns how many calls the trunk has at a time.
func (t *Trunk) limit() int { return cmp.Or(t.Calls, mostCalls) }

// byAddress returns the trunk that has this address, or nil.
func byAddress(trunks []Trunk, from netip.Addr) *Trunk {
	for i := range trunks {
		for _, n := range trunks[i].Networks {
			if n.Contains(from) {
				return &trunks[i]
			}
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

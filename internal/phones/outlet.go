package phones

// Calls out: who may be called, and how often.

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Outlet says which calls go out over a trunk. Its bounds hold for all calls of the trunk together. Each principal has an equal part of them.
type Outlet struct {
	// Trunk is the name of the trunk, whose Out is not nil.
	Trunk string
	// Principals are those whose keys place calls.
	Principals []string
	// Allow are patterns of targets: +4930* for numbers, sip:*@example.org for others. * stands for any characters. None allows none.
	Allow []string
	// Calls, PerMinute and PerHour are how many calls there may be at a time, and how many may be placed; 0 takes 5, 10 and 60.
	Calls, PerMinute, PerHour int
	// Rings is how long a call may ring; 0 takes 30 s.
	Rings time.Duration
	// Greeting is what the agent says first when a call is answered: see Config.Greeting.
	Greeting *string
}

// WithDefaults returns o with all its bounds.
func (o Outlet) WithDefaults() Outlet {
	o.Calls, o.PerMinute, o.PerHour, o.Rings = cmp.Or(o.Calls, 5), cmp.Or(o.PerMinute, 10), cmp.Or(o.PerHour, 60), cmp.Or(o.Rings, 30*time.Second)
	return o
}

var (
	number  = regexp.MustCompile(`^\+?[0-9]{2,20}$`)
	address = regexp.MustCompile(`^sip:[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,253}(:[1-9][0-9]{0,4})?$`)
)

// ErrTarget means that a text is no target of a call.
var ErrTarget = errors.New("want a number such as +4930123456, or an address such as sip:reception@example.org")

// Target returns whom a text calls: a number, or an address of SIP. A number may begin with tel:. There is one spelling of each, so that patterns say what they allow.
func Target(text string) (string, error) {
	if rest, ok := strings.CutPrefix(text, "tel:"); ok && number.MatchString(rest) {
		return rest, nil
	}
	if number.MatchString(text) || address.MatchString(text) {
		return text, nil
	}
	return "", ErrTarget
}

// allowedPattern is the form of a pattern: a target in which * stands for any characters.
var allowedPattern = regexp.MustCompile(`^(\+?[0-9*]+|sip:[A-Za-z0-9._+*-]+@[A-Za-z0-9.*-]+(:[0-9*]+)?)$`)

// check returns what is wrong with an outlet.
func (o *Outlet) check(p *Config) error {
	for _, t := range p.Trunks {
		if t.Name != o.Trunk {
			continue
		}
		for _, pattern := range o.Allow {
			if !allowedPattern.MatchString(pattern) {
				return fmt.Errorf("trunks: %s: out: allow: %s: want a pattern such as +4930* or sip:*@example.org", o.Trunk, pattern)
			}
		}
		if t.Out != nil && len(o.Principals) > 0 && !slices.Contains(o.Principals, "") {
			return nil
		}
		return fmt.Errorf("trunks: %s: out: nobody may call: name principals, or the principal of phones", o.Trunk)
	}
	return fmt.Errorf("there is no trunk %s", o.Trunk)
}

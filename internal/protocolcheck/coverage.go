package protocolcheck

// Counts which events and fields of the protocol were seen.

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Coverage counts which events and fields of the protocol were seen, over which transport. The zero value is empty. It is
// not safe for concurrent use.
type Coverage struct {
	events map[string]map[string]int // how often each event was seen, by key and transport
	fields map[string]int
}

// Add counts what a report has seen, over OnWebRTC or OnWebSocket.
func (c *Coverage) Add(r Report, on string) {
	if c.events == nil {
		c.events, c.fields = map[string]map[string]int{}, map[string]int{}
	}
	for k, n := range r.events {
		if c.events[k] == nil {
			c.events[k] = map[string]int{}
		}
		c.events[k][on] += n
	}
	for f, n := range r.fields {
		c.fields[f] += n
	}
}

// count returns how often an event was seen over the transports that it belongs to.
func (c *Coverage) count(e Event) (there, elsewhere int, missing []string) {
	seen := c.events[key(e.Server, e.Type)]
	for _, on := range []string{OnWebRTC, OnWebSocket} {
		switch belongs := e.On == OnAll || e.On == on; {
		case !belongs:
			elsewhere += seen[on]
		case seen[on] == 0:
			missing = append(missing, on)
		default:
			there += seen[on]
		}
	}
	return there, elsewhere, missing
}

// Excluded says which events of the protocol no session of this server sends, and why. A coverage that contains one of them
// fails, and so does a coverage without any of the other events.
func Excluded() map[string]string {
	return map[string]string{
		"conversation.item.created": "the earlier name of conversation.item.added, which is sent",
	}
}

// Gaps returns the gaps, one on each line: an event that was not seen over a transport where it belongs, an event that was
// seen where it does not belong or that is Excluded, and a required field that was not seen.
func (c *Coverage) Gaps() []string {
	var out []string
	excluded := Excluded()
	for _, e := range Events() {
		there, elsewhere, missing := c.count(e)
		name := key(e.Server, e.Type)
		_, isOut := excluded[e.Type]
		switch {
		case isOut && there+elsewhere > 0:
			out = append(out, name+" is excluded and was seen: take it out of Excluded")
		case isOut:
		case elsewhere > 0 && e.Server:
			out = append(out, fmt.Sprintf("%s was seen where it does not belong: it is for %s", name, e.On))
		case len(missing) > 0:
			out = append(out, fmt.Sprintf("%s was not seen over %s", name, strings.Join(missing, " and ")))
		}
	}
	for _, f := range c.lacking(true) {
		out = append(out, f+" was not seen")
	}
	return out
}

// lacking returns the fields that were not seen: all of them, or only the required ones.
func (c *Coverage) lacking(required bool) []string {
	var out []string
	for _, f := range allFields(required) {
		if c.fields[f] == 0 {
			out = append(out, f)
		}
	}
	return out
}

// Lacking returns the fields of the protocol, optional ones too, that were not seen in any event.
func (c *Coverage) Lacking() []string { return c.lacking(false) }

// allFields returns the fields of all events that are not excluded, and of the objects in them.
func allFields(required bool) []string {
	excluded := Excluded()
	all := map[string]bool{}
	for _, e := range Events() {
		if _, no := excluded[e.Type]; !no {
			rules.reach(key(e.Server, e.Type), e.Fields, all)
		}
	}
	if required {
		maps.DeleteFunc(all, func(f string, _ bool) bool { return rules.optional(f) })
	}
	return slices.Sorted(maps.Keys(all))
}

// optional reports whether a field, named as in allFields, may be missing or belongs to an object that is optional.
func (t *table) optional(name string) bool {
	owner, field, _ := strings.Cut(name, ": ")
	fields := t.objects[owner]
	if e, ok := t.events[owner]; ok {
		fields = e.Fields
	}
	for _, f := range fields {
		if f.Name == field {
			return f.Optional
		}
	}
	return false
}

// String returns the coverage in two lines, such as "events covered 47 / 57".
func (c *Coverage) String() string {
	events := Events()
	covered := 0
	for _, e := range events {
		if there, _, missing := c.count(e); there > 0 && len(missing) == 0 {
			covered++
		}
	}
	fields := len(allFields(false))
	return fmt.Sprintf("events covered %d / %d (%d excluded)\nfields covered %d / %d",
		covered, len(events), len(Excluded()), fields-len(c.Lacking()), fields)
}

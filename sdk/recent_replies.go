package sdk

// Numbers for the replies that are heard.

import "github.com/antiphon-rt/antiphon/coord/id"

// recentReplies number the replies that were heard last, so that the machine can tell them apart.
type recentReplies struct {
	last    id.Response // the number of the newest; 0 before the first
	names   [8]string   // the protocol's ids of the last ones, by number
	playing id.Response // the reply that is heard now, as the server or the player says; 0 when none is
}

// started notes that this reply is heard from now on. The id may be empty, and the same reply may start again.
func (r *recentReplies) started(name string) {
	if r.playing != 0 && r.name(r.playing) == name {
		return
	}
	r.last++
	r.playing = r.last
	r.names[r.last%id.Response(len(r.names))] = name
}

// name returns the id of a reply that was heard lately.
func (r *recentReplies) name(n id.Response) string { return r.names[n%id.Response(len(r.names))] }

// number returns the number of a reply that was heard lately, 0 for any other.
func (r *recentReplies) number(name string) id.Response {
	oldest := max(int(r.last)-len(r.names)+1, 1)
	for n := int(r.last); n >= oldest; n-- {
		if r.names[n%len(r.names)] == name {
			return id.Response(n)
		}
	}
	return 0
}

package sdk

// Numbers for the last responses that were played: the barge-in machine knows responses by number, the protocol by id.

import "github.com/antiphon-rt/antiphon/coord/id"

// recentResponses gives numbers to the responses that were played last, so that the barge-in machine can tell them apart.
type recentResponses struct {
	last    id.Response // the number of the newest; 0 before the first
	names   [8]string   // the protocol's ids of the last ones, by number
	playing id.Response // the response that is heard now, as the server or the player says; 0 when none is
}

// started notes that this response is heard from now on. The id may be empty, and the same response may start again.
func (r *recentResponses) started(name string) {
	if r.playing != 0 && r.name(r.playing) == name {
		return
	}
	r.last++
	r.playing = r.last
	r.names[r.last%id.Response(len(r.names))] = name
}

// name returns the id of a response that was heard lately.
func (r *recentResponses) name(n id.Response) string { return r.names[n%id.Response(len(r.names))] }

// number returns the number of a response that was heard lately, 0 for any other.
func (r *recentResponses) number(name string) id.Response {
	oldest := max(int(r.last)-len(r.names)+1, 1)
	for n := int(r.last); n >= oldest; n-- {
		if r.names[n%len(r.names)] == name {
			return id.Response(n)
		}
	}
	return 0
}

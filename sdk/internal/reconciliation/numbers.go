package reconciliation

// Small numbers for the protocol's ids, so that coord/view can hold turns and responses by number.

// idNumbers gives numbers to ids in the order in which they appear, from 1. It knows the last keptIDs ids: an older one that
// appears again gets a new number.
type idNumbers struct {
	ring []string // nil before the first id, then keptIDs long
	last uint64
}

const keptIDs = 32

// number returns the number of an id, and makes one where there is none.
func (n *idNumbers) number(name string) uint64 {
	if i := n.find(name); i != 0 {
		return i
	}
	if n.ring == nil {
		n.ring = make([]string, keptIDs)
	}
	n.last++
	n.ring[n.last%keptIDs] = name
	return n.last
}

// find returns the number of an id; 0 where there is none.
func (n *idNumbers) find(name string) uint64 {
	oldest := uint64(1)
	if n.last > keptIDs {
		oldest = n.last - keptIDs + 1
	}
	for i := n.last; i >= oldest; i-- {
		if n.ring[i%keptIDs] == name {
			return i
		}
	}
	return 0
}

// name returns the id with this number; "" where it is not known.
func (n *idNumbers) name(number uint64) string {
	if number == 0 || number > n.last || n.last-number >= keptIDs {
		return ""
	}
	return n.ring[number%keptIDs]
}

package sdk

// idNumbers number what the protocol names, as it appears. The last of them are known: an older one that comes again gets a
// new number.
type idNumbers struct {
	ring []string // len keptNames, once there is a name
	last uint64
}

const keptIDs = 32

// number is the name's, made where there is none.
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

// find is the name's number, 0 where there is none.
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

// name is a number's, "" where it is not known.
func (n *idNumbers) name(number uint64) string {
	if number == 0 || number > n.last || n.last-number >= keptIDs {
		return ""
	}
	return n.ring[number%keptIDs]
}

package sdk

// names number what the protocol names, as it appears. The last of them are known: an older one that comes again gets a
// new number.
type names struct {
	ring [32]string
	last uint64
}

// number is the name's, made where there is none.
func (n *names) number(name string) uint64 {
	if i := n.find(name); i != 0 {
		return i
	}
	n.last++
	n.ring[n.last%uint64(len(n.ring))] = name
	return n.last
}

// find is the name's number, 0 where there is none.
func (n *names) find(name string) uint64 {
	oldest := uint64(1)
	if kept := uint64(len(n.ring)); n.last > kept {
		oldest = n.last - kept + 1
	}
	for i := n.last; i >= oldest; i-- {
		if n.ring[i%uint64(len(n.ring))] == name {
			return i
		}
	}
	return 0
}

// name is a number's, "" where it is not known.
func (n *names) name(number uint64) string {
	if number == 0 || number > n.last || n.last-number >= uint64(len(n.ring)) {
		return ""
	}
	return n.ring[number%uint64(len(n.ring))]
}

// Package conform compares a spec with the code: the graph that the checker found,
// node by node and edge by edge, with what the Go table does.
//
// The two are walked together from where they begin. Wherever they stand, each step
// that the spec can take must be an event that the table has a row for, not an
// ignored one, and must lead to the same state with the same effects in the same
// order; each event that may come there and that the spec does not take must be an
// ignored pair. So neither side does what the other does not. On the way every node
// of the spec and every row of the table must be met: what is met by neither walk is
// not compared.
//
// One adapter a machine says how the two are told to be the same: which label of the
// spec is which event, and which variable is which field. adapter_response.go is the
// one to start from.
package conform

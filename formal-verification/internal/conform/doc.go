// Package conform compares a specification with the Go code. It takes the specification's
// graph, as the model checker has explored it: the nodes are states, the edges are steps.
//
// The comparison follows both sides together, from their first states on. For each step
// that the specification can take, the code must have a row that is not an ignored one,
// and both must lead to the same state with the same effects in the same order. If an
// event may come and the specification has no step for it, the code must ignore it. So
// neither side does what the other one does not do. In the end, every node of the
// specification and every row of the table must have been visited.
//
// There is one adapter for each specification. It says which label of the specification is
// which event of the code, and which variable is which field. Start with
// adapter_response.go.
//
// A specification may also describe what is not our code, such as a store or a network.
// Such a specification takes its own steps, and its adapter says what each step is for our
// code (Part).
package conform

// Package coordtest has what the tests of all machines share: a machine is
// explored whole, mutated in every place, told as stories, drawn, and
// timed. It is imported by tests only, so it may use fmt and reflect.
//
// A machine's tests describe it once as a Subject and hand that to
//   - Prove: every state-event pair has its row, every row is taken, every
//     invariant holds on every reachable transition, no mutant of the table goes
//     unseen, every invariant catches some mutant by its own name, the package's
//     constant Fingerprint is that of the explored graph;
//   - Race, which Prove runs too: several writers at one Coordinator's queue;
//   - Leads: what must be reachable from where (the liveness side);
//   - Stories: testdata/*.txt, one story a file;
//   - Diagram: testdata/diagram.txt, the table as a Mermaid state diagram;
//   - Bench: Next beside a plain switch.
//
// `go test ./coord/... -args -rewrite` writes the expected outputs anew: read the
// difference before you commit it.
package coordtest

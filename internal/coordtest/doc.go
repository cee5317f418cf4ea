// Package coordtest has the test code that all machines share. Only tests import it, so
// it may use fmt and reflect.
//
// A machine's test describes the machine once, as a Subject, and gives it to these
// functions:
//   - Prove explores the machine. It checks that every pair of state and event has a row,
//     that every row is taken, and that every invariant holds on every step. It makes
//     mutants (copies of the table with one fault), and checks that each one is noticed, and
//     that each invariant notices one. It checks the package's constant Fingerprint.
//   - Race, which Prove calls too: several goroutines send to one Coordinator's queue.
//   - Leads: from some states some other states must be reachable (liveness).
//   - Stories: plays the stories in testdata/*.txt, one in each file.
//   - Diagram: compares testdata/diagram.txt with the table as a Mermaid state diagram.
//   - Bench: compares the time of Next with that of a plain switch statement.
//
// `go test ./coord/... -args -rewrite` writes the expected outputs again. Read the
// difference before you commit it.
package coordtest

// Package gate lets a spec pass only when it says something, when what it says holds,
// when every one of its assertions is shown to bite, and when the code does the same.
//
// For each specs/NAME.fizz, in this order:
//   - it parses strictly, and every assignment has a target that exists;
//   - the house rules hold (Rules): they close what the checker would let through;
//   - it is explored whole, every assertion is decided and holds, every action happens
//     somewhere, and every question in its `# ask` lines has the answer yes;
//   - every assertion that the design names is there;
//   - every mutant of specs/NAME.mutants, a one-line edit, makes its assertion fail, and
//     every assertion has one;
//   - the Go table of that name does what the spec does (package conform);
//   - the figures are those of specs/golden.txt.
//
// It fails closed: no specs, no checker, a spec without code, a table without a spec, a
// figure that nobody has written down are all red.
package gate

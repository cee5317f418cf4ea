// Package gate checks the specifications (specs). A spec passes only if its assertions hold,
// if every assertion can fail, and if the Go code does the same as the spec.
//
// For each specs/NAME.fizz, in this order:
//   - the parser accepts it, and every assignment is to a name that exists;
//   - the house rules hold (Rules): they refuse what the model checker would let pass;
//   - it is explored completely, every assertion is decided and holds, every action occurs,
//     and every question in its `# ask` lines has the answer yes;
//   - it has every assertion that names.go demands;
//   - every mutant in specs/NAME.mutants, an edit of one line, makes its assertion fail, and
//     every assertion has a mutant;
//   - the Go table of that name does the same as the spec (package conform);
//   - the figures are those of specs/golden.txt.
//
// If something is missing, the gate fails: if there are no specs, no checker, a spec without
// code, a table without a spec, or a figure that is not in golden.txt.
package gate

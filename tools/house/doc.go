// Package house holds the tests of the repository itself: that the import
// rules bite, that the code keeps to the rules which the linter cannot
// express, and that the documents tell the truth. It has no other code.
//
// The tests read files of the module above, which Go's test cache does not
// watch: run them with -count=1, as `make house` does.
package house

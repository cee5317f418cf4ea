// Package steps stores machines: it gives an event to a machine whose state is in a store, and stores the new state by compare and swap.
//
// Swap changes one value. It reads the newest version, lets its caller make the next one, and writes that if nobody else has written meanwhile. If
// somebody has, it begins again. If the store does not say whether it has taken the write, Swap reads back what follows the version that it has found:
// this is either its own write or that of another writer. A Kind does the same for the values that have the state of a machine.
//
// The package knows no store. A Place is one value of any store: internal/store has some, and internal/journal has the logs of calls.
package steps

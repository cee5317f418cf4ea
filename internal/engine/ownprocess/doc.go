// Package ownprocess has what the stages share whose engines run in processes of this program.
//
// Such a stage starts its own program again for each process. In that process, the init function of the stage's package serves the engine
// and exits before main begins. So a program that uses the stage needs no code for it and no second binary.
package ownprocess

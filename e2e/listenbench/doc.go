// Command listenbench measures how well the server listens: whether it ends a turn when the user has finished, and only then. `make
// bench-listening` runs it. It prints tables in Markdown.
//
// The turns are a person's sentences with pauses inside (turns.go). The voice activity detector and the sherpa recogniser hear them as in a call
// (hear.go). Then each way to end a turn is applied to what they heard (ends.go), and once more with Smart Turn where the folder of models has it (judge.go). With -fit the command also prints the weights of package endofturn
// that fit the turns best (fit.go).
package main

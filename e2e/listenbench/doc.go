// Package listenbench measures whether the server ends a turn when the user has finished, and only then, with a Go benchmark: `make bench-listening`
// runs it.
//
// The turns are a person's sentences with pauses inside (turns_test.go). The voice activity detector and the sherpa recogniser hear them as in a call
// (hear_test.go). Then each way to end a turn is applied to what they heard (ends_test.go), and once more with Smart Turn where the folder of models has it
// (judge_test.go). With -fit the benchmark also prints the weights of package endofturn that fit the turns best (fit_test.go).
package listenbench

// Package endofturn estimates whether a user who is silent has finished the turn, or only thinks.
//
// An [Estimator] follows one turn. It gets the audio with the judgement of the voice activity detector, and the words that the recogniser has
// found so far. From 150 ms of silence on it returns a probability, every 100 ms and for each new text.
//
// The estimator of [New] needs no model. It has two sources:
//
//   - The words (words.go): an open conjunction, article or preposition, an unfinished number or address, a hesitation, a condition without its
//     main clause, the shapes of questions and commands. What a language's words mean is data: a file in the folder languages, or of the
//     user's own ([Read]).
//   - The sound (prosody.go): the pitch at the end and how it moves, the lengthening of the last syllable, the level, the speaking rate.
//
// A logistic function joins them (weigh.go). If the recogniser's text does not reach to the end of the speech yet, the sound counts alone.
//
// The same files say what words mean that a user says over the agent, for the judge of barge-ins ([Language.Over]): "stop" interrupts, "mm-hm" does not.
//
// An estimator needs about 4 us for a frame of 10 ms, and at most 0.1 ms for an estimate. It has no goroutine and no clock, and its memory does not grow with the turn.
package endofturn

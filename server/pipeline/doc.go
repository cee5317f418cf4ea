// Package pipeline names the three stages of a voice pipeline (transcriber, model, synthesizer) and what they exchange.
//
//	16 kHz float32 -> Transcriber -> text -> Model -> TextDelta -> Clauses -> Synthesizer -> 24 kHz int16
//
// An adapter is a [Pipeline]: three stages, the state of each component, a warm-up and a Close. Everything in a Pipeline may
// be used by many conversations at the same time; what a stage opens for one of them (a [Transcription], one Generate, one
// Synthesize) belongs to that one.
//
// The rules every adapter keeps:
//
//   - A cancelled context ends the call soon, with ctx.Err() (or an error that wraps it), and leaves no goroutine and no
//     process behind.
//   - Audio and text are bounded: a stage refuses with an error what it cannot hold, it never grows without limit.
//   - An error that a person may read is a [StageError]: it names the stage and says what to do.
//   - Slices that are passed in belong to the callee only during the call, slices passed to an emit function likewise.
//
// Adapters: pipeline/scripted (deterministic, for tests and benchmarks), pipeline/embedded (flite and pocketsphinx).
// pipeline/backend runs a transcriber's engine in its own process.
package pipeline

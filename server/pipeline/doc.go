// Package pipeline names the three stages of a voice pipeline (transcriber, model, synthesizer) and the data that they exchange.
//
//	16 kHz float32 -> Transcriber -> text -> Model -> TextDelta -> Clauses -> Synthesizer -> 24 kHz int16
//
// An adapter provides a [Pipeline]: three stages, the state of each component, a warm-up and a Close. Many conversations may use
// a Pipeline at the same time. A [Transcription], a call of Generate and a call of Synthesize belong to one conversation.
//
// Each adapter keeps these rules:
//
//   - When the context is cancelled, a call returns soon, with ctx.Err() or an error that wraps it. No goroutine and no process
//     of the call is left then.
//   - Audio and text have limits. A stage returns an error for input beyond its limit.
//   - An error that a user may read is a [StageError]: it names the stage and says what to do.
//   - The callee may use a slice that it gets only during the call. This also holds for the slices that emit functions get.
//
// An adapter of one stage provides a [Stage]; [Compose] makes a Pipeline of three of them.
//
// Package embedded makes the pipeline that needs no server: sherpa-onnx, the built-in assistant and flite. Package config makes a pipeline as a
// file says: of engines on this machine, and of servers for recognition, language models and speech.
package pipeline

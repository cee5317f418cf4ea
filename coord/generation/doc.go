// Package generation is the making of one response, in the conversation or out of band: when its body (the model and the
// synthesizer) begins, what ends it, and when nothing of it is left. The response machine decides which response is
// live; this machine keeps how far one response has got. Each response has a machine of its own.
//
// # Invariants
//
//   - RunOnce: a body runs at most once, and only after it was asked for.
//   - CloseOnce: the terminal event is announced exactly once, and the state says whether it is.
//   - NothingAfterClose: after the terminal event no body begins.
//   - EndIsReported: if a body was asked for, its end is reported exactly once, and only after BodyOver. A body reports BodyOver itself. For a
//     body that never began, BodyOver follows ReportRefused.
//   - StopOnlyWhatRuns: only goroutines that run are stopped, and a cancel of a body that runs stops it.
//   - EndedAtRest: the state is Ended exactly when the terminal event is announced and no body runs or is awaited.
//
// Liveness, where a body that runs reports its end and the response machine answers: GenerationEnds.
//
// # Contract with the driver
//
// Ask, Cancel and Terminal are the response machine's StartBody, CancelBody and EmitTerminal for this response. The driver
// answers every Ask with Begin or Refuse, as soon as the model's input is complete. Run starts the body's goroutines,
// which report BodyOver once, after everything else. ReportRefused and ReportOver tell the synthesis and the response
// machines that the body has ended; ReportRefused does so after the current event.
package generation

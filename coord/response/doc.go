// Package response decides which response of a session is live and which body may
// run. A response is live from its announcement (the protocol's response.created)
// to its terminal (response.done). Its body is the goroutine that generates it.
// The two do not end together: a terminal goes out at once when the user
// interrupts, while the cancelled body still needs time to return. A machine that
// counts only live responses lets cancelled bodies pile up; this one waits.
//
// # Invariants
//
//   - AtMostOneLive: a response is announced only when the one before it has ended.
//   - AtMostOneBody: a body starts only when the one before it has returned.
//   - ExactlyOneTerminal: what was announced ends once, and the state forgets none.
//   - TerminalAfterCreated: nothing ends that was never announced.
//   - NoStartAfterShutdown: after Shutdown nothing is announced and nothing starts.
//   - StaleIsHarmless: the report of a body that does not run changes nothing.
//   - DoneOnceAndLast: ReportDone comes once, when nothing runs, and nothing follows it.
//   - BodyIsLiveOrCancelled: a body runs for the live response or was told to stop.
//   - EveryRequestIsAnswered: a create is announced or refused; a cancel ends what
//     it means or is refused.
//
// Liveness, under the one assumption that every body returns: EveryCreatedTerminates
// and DrainingEnds. What a response says (NoContentAfterTerminal, EveryAddedIsDone)
// is the driver's to hold, since only it knows the content.
//
// # Contract with the driver
//
// Identifiers are fresh and count up. BodyEnded comes exactly once for each
// StartBody, whatever ended the body, and never before its StartBody was performed.
// Performing EmitTerminal first closes every open part and item; what a cancelled
// body still says is dropped. The steps of a server-side tool loop belong to one
// body and one response. A response outside the conversation (conversation "none")
// has a machine of its own. CreateByTurn with Interrupt false is sent only when
// nothing is live: a turn that must not interrupt waits (docs/decisions/004).
//
// # Where the rules come from
//
// The OpenAI Realtime protocol (GA): one response at a time writes to the default
// conversation; a second response.create while one is active is the error
// conversation_already_has_active_response; response.cancel with nothing active is
// response_cancel_not_active; every created response is followed by one
// response.done, cancelled with the reason turn_detected or client_cancelled.
//
// # Where it departs from a simpler machine
//
// Idle and Active would do if cancelling were instant. Draining and Replacing exist
// because it is not: Replacing announces the new response at once, so that the
// client sees no gap, and starts its body when the old one has returned.
// Terminating exists because a session may end while a body still runs.
package response

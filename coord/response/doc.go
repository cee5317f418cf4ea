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
//   - AtMostOneBody: a body starts only when the body before it has returned, cancelled or not.
//   - ExactlyOneTerminal: every announced response gets one terminal event.
//   - TerminalAfterCreated: a response that was not announced gets no terminal event.
//   - NoStartAfterShutdown: after the shutdown no response is announced and no body starts.
//   - StaleIsHarmless: the report of a body that does not run changes nothing.
//   - DoneOnceAndLast: after the shutdown the machine ends when no response is live and no body runs. No effect comes after that.
//   - BodyIsLiveOrCancelled: a body starts for the live response. If the response ends before its body, the body is cancelled. Only a body that
//     runs is cancelled.
//   - EveryRequestIsAnswered: until the shutdown, every Create leads to an announced response or is refused. A turn that may interrupt is never
//     refused. Every Cancel ends the response that it names, or is refused.
//
// Liveness, under the one assumption that every body returns: EveryCreatedTerminates
// and DrainingEnds. The driver keeps the rules about a response's content
// (NoContentAfterTerminal, EveryAddedIsDone), because the machine does not know it.
//
// # Contract with the driver
//
// Identifiers are fresh and count up. BodyEnded comes exactly once for each
// StartBody, whatever ended the body, and never before its StartBody was performed.
// To perform EmitTerminal, the driver first closes every open part and item. It drops
// everything that a cancelled body still reports. The steps of a server-side tool loop belong to one
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
// If a body returned as soon as it is cancelled, the states Idle and Active would be
// enough. Draining and Replacing exist because it does not: Replacing announces the new response at once, so that the
// client sees no gap, and starts its body when the old one has returned.
// Terminating exists because a session may end while a body still runs.
package response

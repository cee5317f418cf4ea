// Package continuation decides what a session does with the newest answer of a call whose former session was killed. It follows the responses of the conversation, so
// that the journal has what goes on after a kill at any time.
//
// # Invariants
//
//   - EffectsFit: each event has the effects that follow from it. What goes on is asked for as it was, once, when the client is back and nobody
//     speaks. The client learns of each loss, each response that was cut off ends, and the server asks its own questions again, once for each
//     kill.
//   - StateAgrees: the state says which answer goes on, and whether it is due. None does that was cancelled, has called a function of the
//     client, or is a question of the server.
//
// The specification proves more: see continuation.fizz. Liveness, if the client comes back and there are pauses: DueIsSaid.
//
// # Contract with the driver
//
// The driver is internal/call/survival. It keeps what the client has asked of the answers that the state names, and stores both with the events of a step. A session that
// goes on with a call begins with Kept, if the journal has an answer, then Lost for each response, then TakenOver. Free comes at a pause: no turn is open or waits for
// its response, and no response is live.
package continuation

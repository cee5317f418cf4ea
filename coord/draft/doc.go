// Package draft decides when to begin an answer before the user's turn has ended. A draft is an answer that the model writes, and whose first clause the
// synthesizer speaks, while the end of the turn is likely and not certain. Nothing of it is announced, sent or heard. When the turn
// has ended and the response's body begins, the body adopts the draft if its input is what the draft has read. Otherwise the driver throws
// the draft away.
//
// # Invariants
//
//   - OneDraft: at most one draft is at work, and each has a new generation number.
//   - AloneAtWork: no draft begins while a body runs or after the end of the session, and none is at work beside a body.
//   - AdoptedWhenCertain: a draft is adopted at most once, after its turn was committed, by a body with the same input; and then it is adopted.
//   - StoppedOnce: only a draft at work is stopped.
//   - GoneWhenWrong: no draft is at work after speech has resumed before the commit, after a body has begun, after the turn or the response was
//     dropped, and after the end of the session.
//   - StateAgrees: the state says whether a draft is at work, whether its turn is committed, and whether a body runs.
//
// Liveness, if a committed turn gets a body or is dropped: DraftEnds.
//
// # Contract with the driver
//
// The driver sends Likely when the end of the open turn becomes likely, and again when the text of the turn changes while it is likely. It
// limits how often that happens in one turn. It sends Resumed when speech goes on, Committed when the turn becomes an item,
// and Dropped when the turn or the response that would answer it is dropped. Began is sent when the body of a response in the conversation
// begins, before its goroutines start, and Over when they have ended. The effects of a draft's goroutines stay with the driver until Adopt: no
// event, no item, no sound and no call of a tool leaves it before.
//
// The machine is not part of coord/session, because it neither reads nor changes what the client knows.
package draft

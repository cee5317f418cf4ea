// Package idempotency decides what happens to the tries of one request. A client that
// gets no answer sends its request again under the same key; the machine of that key
// lets one try through to the server, and gives its response to all of them.
//
// # Invariants
//
//   - RequestIsProcessedOnlyOnce: once a request was sent that is not declared safe,
//     none is sent again under its key.
//   - AtMostOneHolder: to check the key and to lock it is one step.
//   - OnlyTheHolderSends: a request is sent by the try that holds the lock, once a lease.
//   - EveryTryIsAnswered: what a try asks or reports has one answer.
//   - EveryTryGetsTheSameResponse.
//   - OtherPayloadIsRefused: another request under the same key is an error.
//   - UnknownIsSaid: where nobody knows whether the request was processed, every try is
//     told so, until an answer comes after all.
//   - RetriedOnlyWhereSafe: a lock whose request was sent is given to another try only
//     where the operation is declared safe.
//   - LeaseIsArmed: every lock has a lease of its own, and leases only grow.
//   - StaleIsHarmless: who does not hold the lock any more changes nothing.
//   - WaitersAreWoken: whoever waits for the lock is woken when it is given up.
//
// Liveness, where the holder goes on or its lease runs out, and who is woken checks
// again: EveryReqFinishAsCachedOrFromCache, where no holder dies; where one may,
// EveryTryEnds. Keys have nothing in common: AttemptsCanBeProcessedConcurrently.
//
// # Contract with the driver
//
// The state is kept in a store that all nodes share; each step is stored by comparing
// with what was read, or taken again. That makes check and lock atomic. Effects are
// performed once the step is stored: so a request is sent only after the mark that it
// is. Tries are fresh numbers. A try that was told to wait checks again when it is
// woken; one that was told to check again does so at once. A lease runs out by the
// store's clock, whoever notices; a holder that lives arms its lease anew.
// GaveUp means that no answer will come: refused, reset, or taking too long. A key that
// is Cached or Unknown may be forgotten after the time that the service promises.
//
// # Where the rules come from
//
// A proxy before a server that cannot repeat what it did: each request reaches it once,
// each try of it gets the same response, and requests do not wait for each other. The
// statuses of a try (pending, in the proxy, lock, processed, cached, from the cache) are
// the driver's; the spec has them.
//
// # Where it departs from a simpler machine
//
// Free, locked and cached would do if no node died. Sent tells a holder that died before
// it sent anything, which harms nobody, from one that died after; only the second is
// Unknown. A driver that needs no such difference takes Check and Sending in one write.
package idempotency

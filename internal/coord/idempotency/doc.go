// Package idempotency decides what happens when a client sends one request several times.
// A client that gets no answer sends its request again with the same idempotency key. Each
// time is a try. The machine of this key lets one try through to the server that processes
// the request, and gives the server's response to all tries. There is one machine for each
// key.
//
// # Invariants
//
//   - RequestIsProcessedOnlyOnce: a request that is not declared safe to repeat is sent at most once for its key.
//   - AtMostOneHolder: a try gets the lock only if no other try holds it. The state and the monitor agree on the holder.
//   - OnlyTheHolderSends: only the try that holds the lock sends its request, once for each lease. (A lease is the time for which a try may hold
//     the lock.)
//   - EveryTryIsAnswered: every event of a try gets one answer. No other try gets one.
//   - EveryTryGetsTheSameResponse: every try gets the response that the server gave. Replayed is set if another try has sent the request.
//   - OtherPayloadIsRefused: a try is refused exactly if its request differs from the key's request.
//   - UnknownIsSaid: a try gets SayUnknown exactly if it is unknown whether the server has processed the request, and the state is then Unknown.
//   - RetriedOnlyWhereSafe: if the holder of the lock has sent its request and gets no response, another try may send it only if the operation
//     is declared safe.
//   - LeaseIsArmed: every lock has its own lease, which is armed before the holder gets the lock. The numbers of leases grow.
//   - StaleIsHarmless: a try that does not hold the lock changes nothing, except that it may bring a missing response. Its report is answered
//     with CheckAgain.
//   - WaitersAreWoken: when the holder loses the lock, the tries that wait are woken.
//
// Liveness, if the holder goes on or its lease runs out, and if woken tries check again:
// EveryReqFinishAsCachedOrFromCache, if no holder dies; EveryTryEnds, if one may die. The
// machines of different keys are independent: AttemptsCanBeProcessedConcurrently.
//
// # Contract with the driver
//
// The driver keeps the state in a store that all servers share. It stores a step only if
// the state in the store is still the one that it has read (compare and swap); otherwise it
// reads again and repeats the step. It performs the effects after the step is stored, so the
// store says that a request was sent before it is sent. The numbers of tries are new. A
// try that got Wait checks again when it is woken. A try that got CheckAgain checks again
// at once. The store's clock decides when a lease runs out. A holder that is alive renews its
// lease in time. GaveUp means that no response will come: the connection was refused or
// reset, or it took too long. The driver may delete a key that is Cached or Unknown after
// the time that the service promises.
//
// # Where the rules come from
//
// A proxy stands before a server whose operations cannot be repeated. Each request may
// reach the server once, all its tries get the same response, and different requests do not
// wait for each other. The driver keeps the status of each try (pending, in the proxy, lock,
// processed, cached, from the cache). The specification has these statuses too.
//
// # Where it departs from a simpler machine
//
// If no server ever died, the states Free, Locked and Cached would be enough. The field
// Sent says whether the holder died before or after it sent its request. Only in the second
// case the state becomes Unknown. A driver that does not need this difference stores Check
// and Sending in one write.
package idempotency

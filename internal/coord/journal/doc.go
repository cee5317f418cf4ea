// Package journal decides what the owner of a call may tell its client while the call is written to a log, so that another server can take the call
// over. Each call has one log in the store, and each server that owns a call has one such machine. An entry is appended only if the newest entry of
// the log is the one that the server expects (compare and swap). A server that takes the call over appends a claim with the next epoch. So the next append of
// the former owner fails: it is fenced.
//
// What the session does is in records, which count up. The server withholds the client's events of a record until the record is in the log. If this takes too
// long, the call is broken: it is not journalled, and all events go out at once, until one full entry stands for everything before it.
//
// # Invariants
//
//   - ReleasedIsStored: unless the call is broken, the events of a record are released only when the record is in the log. Nothing is released
//     twice.
//   - OneAtATime: the store is asked for one thing at a time.
//   - DoubtIsResolved: after an append whose outcome is not known, nothing is appended until the newest entry was read. An append has what is
//     recorded, and a full one is made only where the call is broken.
//   - FencedIsSilent: when another server owns the call, the session ends, and this server writes and releases nothing more. The same holds
//     after the end.
//   - BrokenIsToldOnce: Break and Restore come in turns.
//   - RestoredIsWhole: a call is journalled again when all that was released is in the log.
//   - RemovedAfterTheEnd: the log is removed only when its end is stored, and then at once.
//   - WaitIsBounded: a time is armed for the oldest record that is withheld, and for the end of the log.
//   - StoreIsAsked: while a record is withheld, or the call is broken, or has ended in order, the store is being asked, unless the log is gone.
//   - StateAgrees: the state says what is recorded, stored and released.
//
// Liveness, if armed times come: WithheldIsReleased. If the store answers as well: BrokenIsRestored.
//
// # Contract with the driver
//
// A call that begins here starts as Resting{}, with an empty log: its first record is a full one. A call that is taken over starts as Resting{} with the claim
// as the newest entry of its log. Each owner counts its records from 1. An entry has the epoch of its owner and the number of its newest record. The driver
// remembers the revision of the newest entry that it has appended or found, and each append expects this one.
//
// The driver withholds the client's events that belong to a record before it sends Recorded, and knows which client event the session has accepted last: that
// is in the record. Found and Taken differ by the epoch of the newest entry. If an entry ends the log, the answer is Taken. If the log has no entry, the
// answer is Gone; but if this server was to append the very first entry and it is not there, the answer is Found{0}.
//
// For AppendFull the driver writes one entry with everything that the session has, and says in Stored up to which record that was. Over comes when the call has
// ended in order and its last record is made. The driver drops the events that are still withheld when the machine is Fenced or Closed. A server may remove the log only
// for Remove, never otherwise: a server that was hanging does not know that another one owns the call.
//
// # What the machine cannot know
//
// A server that is cut off from the store cannot mark its call as broken there. So a server that takes a call over asks the client for the last event that it has
// received: if the log does not have that event, the call cannot be taken over. Identifiers of events must differ between the owners of a call.
package journal

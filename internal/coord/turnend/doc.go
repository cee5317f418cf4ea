// Package turnend decides whether the end of a user's turn is final. An end that the detector found is tentative at first. If the user goes on
// soon after it, the session takes the end back: what was said before and after it becomes one turn, and the answer to the first part is removed.
//
// # Invariants
//
//   - EffectsFit: each event has the effects that follow from it. Each end becomes final or is taken back, once. Only the turn that the user has
//     opened next after an end is joined with the turn of that end, and only when its words are there.
//   - StateAgrees: the state says whose end is tentative, and which turn the user goes on with.
//
// The specification proves more: see turnend.fizz. Liveness, if the timer fires and each turn ends: EndIsFinalAtLast.
//
// # Contract with the driver
//
// The driver is internal/call/listening. It sends Opened for each turn or candidate of the user, and then Dropped, or Ended and Worded, or Fixed. For
// Arm it starts the timer, which Opened stops, and sends Expired when it fires. Until Settle, the driver begins nothing that cannot
// be undone for the turn, such as a call of a function. For Join it removes the item of Turn and the answer to it, and puts the words of Turn before those of Into.
package turnend

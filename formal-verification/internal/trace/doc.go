// Package trace checks what a running server did: the log that `antiphon serve --trace FILE` writes, one step of one machine
// a line, is a path of the machines' tables and, with identifiers renamed into the spec's small domain, of the specs.
//
// Of every line it is checked that
//   - it has exactly the fields that it should have, with values of that machine;
//   - the machine goes on from where its last step in this session left it, and first from where it begins;
//   - the table takes this event there with this action, to this state, with these effects in this order, or ignores it for
//     this reason; where the composition itself moves a machine, or keeps an event from it, by the composition's rules;
//   - the machine's own invariants hold, as its monitor sees them;
//   - the spec takes the same step, or ignores the event, in the renamed state (see Spec).
//
// The log has the events that a session took and the effects that it performed. A response out of band is no session, and has
// steps alone. Of a session it is also checked that
//   - the composition leads from each event to these steps, in this order, and to no others;
//   - the session performs the effects of the composition, each once and in order;
//   - a specification of the session (session*.fizz) that has this state and this event has the same step. Such a specification
//     leaves out how far the recogniser and the synthesizer are, so that is left out of the state, too.
//
// A step is refused with its file and line. What a log does not tell, it cannot check: that no line is missing at its end.
package trace

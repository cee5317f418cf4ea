// Package trace checks what a real server did. `antiphon serve --trace FILE` writes a log with one step of one machine on each
// line. The package checks that these steps are steps of the machines' tables and of the specs. For the specs it renames the
// identifiers, because a spec has only a few.
//
// For every line it checks that
//   - it has exactly the fields that it should have, with values of that machine;
//   - the state before the step is the state after the machine's last step in this session, or the machine's first state;
//   - the table has a row for the state and the event with this action, this next state and these effects in this order, or ignores the
//     event for this reason. If the composition sets the machine's state itself, or does not give it an event, the composition's rules hold;
//   - the machine's invariants hold;
//   - the spec takes the same step, or ignores the event, in the renamed state (see Spec).
//
// The log has the events that a session took and the effects that it performed. A response out of band is no session, and has
// steps alone. Of a session it is also checked that
//   - the composition leads from each event to these steps, in this order, and to no others;
//   - the session performs the effects of the composition, each once and in order;
//   - a specification of the session (session*.fizz) that has this state and this event has the same step. Such a specification
//     leaves out how far the recogniser and the synthesizer are, so that is left out of the state, too.
//
// An error names the file and the line. The package cannot check that no line is missing at the end of a log.
package trace

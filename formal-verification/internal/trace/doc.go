// Package trace checks what a real server did. `antiphon serve --trace FILE` writes a log with one step of one machine on each
// line. The package checks that these steps are steps of the machines' tables and of the specs. A spec has only a few
// identifiers, so a step is compared with it by a form in which the identifiers of both are numbered alike.
//
// For every line it checks that
//   - it has exactly the fields that it should have, with values of that machine;
//   - the state before the step is the state after the machine's last step in this session, or the machine's first state;
//   - the table has a row for the state and the event with this action, this next state and these effects in this order, or ignores the
//     event for this reason. If the composition sets the machine's state itself, or does not give it an event, the composition's rules hold;
//   - the machine's invariants hold;
//   - the spec takes the same step, or ignores the event, in that form (see Spec).
//
// The log has the events that a session took and the effects that it performed. A response out of band is no session, and has
// steps alone. Of a session it is also checked that
//   - the composition leads from each event to these steps, in this order, and to no others;
//   - the session performs the effects of the composition, each once and in order;
//   - a specification of the session (session*.fizz) that has this state and this event has the same step. Such a specification
//     leaves out how far the recogniser and the synthesizer are, so that is left out of the state, too.
//
// Three machines belong to no session: the journal of a call, at each of its owners; a run; and an idempotency key. An owner of a call is in one log alone. The steps of
// a run or a key may come from several servers. A line has the revisions of the state before and after the step, so it is checked over all logs that
//   - no two steps are stored after the same revision: the key or the run had one owner at a time;
//   - a step has found the state that the write before it has stored.
//
// The monitors of runs and keys are not asked, because they need all steps in order.
//
// An error names the file and the line. The package cannot check that no line is missing at the end of a log. It does not notice that
// a step of a run or a key is missing.
package trace

// Package runs keeps the runs of a server: pieces of the agent's work that outlive a sentence, the call in which they began, and the process that does
// them. It drives the machine of internal/coord/run, one for each run. docs/runs.md says what a client sees and what is guaranteed.
//
// # How a run goes
//
//   - Start appends the first entry to the run's log in the store (internal/store). A log is all that the store has of a run.
//   - A Runner claims a queued run: it appends turn.started with the next attempt. Then it calls the run's Worker.
//   - Each entry is appended with compare and swap, and has the machine's event, the state after it, and the messages that it publishes. So two owners
//     never both write: the one that was taken over finds a newer attempt in the log, and stops.
//   - A Worker does its work in steps, and asks the user through its Turn. The log has the output of each step that was done and each answer. After
//     an answer or a restart the Worker is called again from its beginning, and its Turn returns what the log has in place of doing it again.
//   - An owner that dies leaves a running run. In a store that only one process can use, the next process takes the run over at once; otherwise a
//     process does when the owner's lease has run out.
//
// # Files
//
//	runner.go, claim.go, turn.go  the Runner: what it claims, takes over and ends, and one turn of a Worker
//	worker.go                     what a Worker is, and what its Turn offers
//	book.go, record.go            the logs: one step of a machine, and what an entry has
//	message.go, schema.go         the published messages, and the check of each against contract.json
//	requests.go, stream.go        what a principal may do with its runs. Package runsapi has the HTTP API,
//	                              package toolrun the tools of the server as workers
package runs

// Package remotecall is one call of a remote tool by MCP: whether the user has to approve it, that the tool is called once, and how the call ends.
//
// # Invariants
//
//   - CalledOnce: the tool is called at most once, whatever becomes of the servers.
//   - OnlyApproved: a call that needs approval is asked for, and made only after the approval.
//   - ClosedOnce: the call gets one outcome, and nothing happens after it.
//   - TrueOutcome: Deliver follows the end of the tool, Deny follows a refusal, Lose follows the end of a server.
//
// Liveness, if every tool ends or its time is over: RunningEnds.
//
// # Contract with the driver
//
// The driver keeps the state with the item of the call in the journal. A server that takes the
// conversation over restores the state from there and sends Lost for each call that was not
// over. A request for approval stands: its Answer may come to any server. For each Call the
// driver sends one Ended. The driver is internal/call/speaking. The machine is not part of
// coord/session, because no other machine depends on it.
//
// # Where the rules come from
//
// A remote tool may have an effect, such as a payment, and MCP has no idempotency keys. So a
// call whose outcome is unknown is never made again.
package remotecall

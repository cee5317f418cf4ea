// Package settings owns the session object of one session: the settings that a client reads and changes, the locks that
// a client secret puts on them, and what the pipeline lets a client choose. It merges updates, refuses what this server
// does not do, and checks what a response.create asks for itself.
//
// A Settings belongs to the session's actor. The functions Merge, Transcribing, Object and ParseLocks need no session;
// the HTTP side uses them for client secrets and for calls that have not begun.
package settings

// Package conversation owns the items of one session's conversation: it adds, deletes, retrieves and truncates them, keeps
// some of their audio, knows which words belong to which position of the audio, and makes of them what the model is asked.
//
// A Settings has the session object: it merges updates, refuses what this server does not do and what a client secret locks, and checks what a response.create asks for
// itself. It also has what the client has said of itself. The functions Merge, Transcribing, Object and ParseLocks need no session.
//
// A Summariser (summariser.go, writing.go) drives coord/compaction: the model writes a summary of the oldest items, and then reads it in place of these items. The
// client still sees them.
//
// The items of an out-of-band response are Items too, but no Conversation contains them. Everything belongs to the
// session's actor but the goroutine that writes a summary, which only posts its result.
package conversation

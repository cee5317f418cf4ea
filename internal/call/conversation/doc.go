// Package conversation owns the items of one session's conversation: it adds, deletes, retrieves and truncates them, keeps
// some of their audio, knows which words belong to which position of the audio, and makes of them what the model is asked.
//
// The items of an out-of-band response are Items too, but no Conversation contains them. Everything belongs to the
// session's actor.
package conversation

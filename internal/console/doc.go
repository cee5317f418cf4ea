// Package console keeps what an operator sees of a server's calls: those that there are, and those that ended last. It serves this at /v1/antiphon/console/ to the holders of an
// operator's key. The page is in package web.
//
// The sessions only put notes into a queue with a limit, and never wait: notes for which there is no room are dropped and counted. One goroutine takes the notes. A reader gets
// the newest state of each call that has changed, and not each change: a slow reader costs no memory. The Console keeps no words of a conversation unless Config.Words is set.
package console

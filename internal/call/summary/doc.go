// Package summary keeps what the model reads of a long conversation short: it has the session's model write a summary of the oldest items. The model
// then reads the summary in place of these items. The conversation itself, which the client sees, keeps them.
//
// A Summariser is the driver of coord/compaction. Files: summariser.go (the machine and its effects), writing.go (the goroutine that asks the
// model). Everything belongs to the session's goroutine but that goroutine, which only posts its result.
package summary

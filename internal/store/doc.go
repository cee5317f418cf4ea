// Package store keeps small values that must survive the end of the process, or that several processes share. Below it is NATS JetStream: a
// server inside this process, with files in a folder or in memory alone, or a NATS server elsewhere. The code above is the same for all three.
//
// # What it guarantees
//
//   - A write that returned no error is stored. With a folder, the file is synced before the write returns (unless Config.Unsynced is set). A NATS
//     server elsewhere syncs as its own configuration says.
//   - Create and Update are compare and swap: they fail with ErrConflict if somebody else was first.
//   - A write that returns ErrUnavailable may be stored, or not: the caller reads again.
//   - After a write that failed, because the disk is full, every write fails with ErrFull until the disk has room. Then the store reads its files again and goes on.
//   - Every call has a deadline (Config.Timeout), and so have Open and Close.
//   - A bucket has a limit. Before a caller begins something new it asks Bucket.Room, which keeps a reserve for what was begun before.
//
// Only this package imports NATS. A program that does not import this package does not contain NATS.
package store

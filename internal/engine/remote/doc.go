// Package remote calls model servers over HTTP for the adapters of the pipeline.
//
// A [Client] knows the servers of one stage. It gives each call deadlines, tries the next server when one does not answer, tries again
// after a pause, never sends a key to another host, and turns each failure into a [pipeline.StageError] that names the stage, the
// address without secrets, the status, and the first line of the answer.
//
// [Outcome] and [Line] serve adapters of other protocols, too.
package remote

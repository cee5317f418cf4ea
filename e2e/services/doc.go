// Package services tests the adapters of the pipeline against speech services that other projects wrote: wyoming-piper,
// wyoming-faster-whisper and faster-whisper-server. `make services` installs them and runs the tests, which have the build tag services.
package services

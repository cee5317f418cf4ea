// Package scripted is a voice pipeline that computes everything: deterministic, it needs nothing installed. It is for tests
// and benchmarks, and says so in its components.
//
// Without a script it behaves thus.
//
// Transcriber: speech that carries a text in tones ([Tones]) is that text; the audio of a fixture is the fixture's text; any
// other sound is reported by its length ("speech of 1.2 s"), and silence is the empty text. Partial results come as the audio
// does. A complete message of tones is an end of utterance, or a backchannel when it is one ("uh-huh").
//
// Model: a text that contains the name of one of the session's function tools calls that tool with arguments made to fit its
// schema, and its result is answered with "Tool said: …". "say N words" is answered with N words. The word "fail" fails the
// model and "stall" stalls it until it is cancelled. Anything else is answered "You said: …".
//
// Synthesizer: 60 ms of tone a character, of exact length, 20 times faster than real time. The tones spell the text, so that
// a test can read what was heard ([Heard]).
//
// A script (a YAML file: see docs/pipelines.md) replaces any of it by rules, with delays, failures and stalls.
package scripted

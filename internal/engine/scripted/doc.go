// Package scripted is a deterministic voice pipeline that needs nothing installed. It is for tests and benchmarks, and says so in its
// components.
//
// Without a script it behaves as follows.
//
// Recogniser: for tones that contain a text ([Tones]) the result is that text. For other sound it is the length
// ("speech of 1.2 s"), and for silence it is empty. Partial results come while the audio comes. A complete message of tones is an end of utterance, or a backchannel where its text is one ("uh-huh").
//
// Model: if the user's text contains the name of a tool of the session, the model calls that tool with arguments that fit its
// schema, and answers the result with "Tool said: …". It answers "say N words" with N words. With the word "fail" it fails, and with
// "stall" it waits until it is cancelled. It answers everything else with "You said: …".
//
// Synthesizer: exactly 60 ms of tone for each character, 20 times faster than real time. The tones contain the text, so that a test
// can read what was played ([Heard]).
//
// A script (a YAML file, see docs/pipelines.md) replaces any of this by rules, with delays, failures and stalls.
package scripted

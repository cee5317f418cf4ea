// Package config builds a pipeline from a file, antiphon.yaml, that says what recognises speech, what writes the answers and what speaks
// them:
//
//	session: {instructions: Be brief.}
//	stt: {kind: sherpa}
//	llm: {kind: assistant}
//	tts: {kind: flite}
//
// Each of the three stages has a kind, and the kinds mix freely. A stage that is left out takes the best of what this
// machine has: sherpa to recognise, assistant to answer, and sherpa or else flite to speak. [Kinds] lists the kinds, which are in one table in kinds.go. docs/models.md describes the file.
//
// A file never has a secret. It names an environment variable (key_env) or a file (key_file) that has one.
package config

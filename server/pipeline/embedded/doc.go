// Package embedded is the pipeline that needs no network, no key and no downloaded model. pocketsphinx recognises speech, Flite
// speaks; both are packages of the Linux distribution. The model is a small assistant that is built in.
package embedded

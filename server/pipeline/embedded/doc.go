// Package embedded is the pipeline that needs no network and no key. sherpa-onnx recognises speech with a model that
// `antiphon models get neural-en` fetches. Flite, a package of the Linux distribution, speaks. A small built-in assistant is the model.
package embedded

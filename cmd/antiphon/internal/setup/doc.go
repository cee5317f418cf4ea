// Package setup finds model servers on this machine and writes antiphon.yaml for them.
package setup

// Package setup finds servers of models on this machine and writes antiphon.yaml for them.
package setup

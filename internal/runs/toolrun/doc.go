// Package toolrun makes a tool of the server work in the background: Worker does its runs, and Offer is the tool that a language model calls to begin one.
package toolrun

// Package confine limits what the processes of a pipeline's engines may use: memory, processor time, files. An engine reads what
// strangers say, so a fault in it must not take the machine away.
package confine

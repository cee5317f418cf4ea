// Package offer reads and checks the SDP offers of clients before pion negotiates them, so that an error says what is wrong with the
// offer, and completes pion's answers.
package offer

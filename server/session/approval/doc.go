// Package approval is the approval of runs by speech: which question the server asks the user, and what the user's answer is.
//
// An Approvals knows which runs of the call wait for the user, and follows the question from its response to the turn that answers it. The session's
// actor calls its methods. Words has a language's question and answers.
package approval

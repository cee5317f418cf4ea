// Package approval is the answer to the questions of runs by speech: which question the server asks the user, and what the user's answer is.
//
// A run asks for an approval, or it has a question that wants any words or one of several choices. An Approvals knows which runs of the call wait for the user, and follows the
// question from its response to the turn that answers it. The session's actor calls its methods. Words has a language's questions and answers.
package approval

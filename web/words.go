package web

// The texts for states, hints, stages and components.

import "cmp"

// statusText returns the state of the call in a few words.
func (s Snapshot) statusText() string {
	switch s.Phase {
	case PhaseLoading:
		return "Getting ready"
	case PhaseIdle:
		return "Ready when you are"
	case PhaseConnecting:
		return "Connecting"
	case PhaseListening:
		return s.listeningText()
	case PhaseHearing:
		return "You are speaking"
	case PhaseThinking:
		if s.Progress == "loading" {
			return "Loading the model"
		}
		return "Thinking"
	case PhaseSpeaking:
		return "Speaking"
	case PhaseInterrupted:
		return "Interrupted"
	case PhaseReconnecting:
		return "Connection lost, trying again"
	case PhaseError:
		return "The call failed"
	}
	return string(s.Phase)
}

func (s Snapshot) listeningText() string {
	switch {
	case s.TextOnly:
		return "Waiting for your message"
	case s.ByHand && s.Muted:
		return "Ready for you"
	case s.Muted:
		return "Your microphone is muted"
	default:
		return "Listening"
	}
}

// hintText returns what the user can do now.
func (s Snapshot) hintText() string {
	switch s.Phase {
	case PhaseLoading:
		return "The page is loading its program."
	case PhaseIdle:
		if stage := s.Pipeline.incomplete(); stage != "" {
			return cmp.Or(incompleteHints[stageName(stage)], "A part is missing: see Pipeline.")
		}
		return "Press the button and speak, or write a message."
	case PhaseConnecting:
		if s.MicAsked {
			return "Allow the microphone in your browser's question."
		}
		return "One moment."
	case PhaseListening:
		return s.listeningHint()
	case PhaseHearing:
		return "Pause when you have finished."
	case PhaseThinking:
		return s.thinkingHint()
	case PhaseSpeaking:
		if s.TextOnly {
			return "Press Interrupt to stop the answer."
		}
		return "Speak to interrupt, or press Interrupt."
	case PhaseInterrupted:
		return "It stopped. Go on."
	case PhaseReconnecting:
		return "Nothing is lost yet. This can take a few seconds."
	case PhaseError:
		if len(s.Lines) == 0 {
			return "Read below what you can do."
		}
		return "What was said stays on this page until the next call."
	}
	return ""
}

// incompleteHints are what the user can do while a stage is missing or does not work, by the stage's name on the page.
var incompleteHints = map[string]string{
	"Recognition": "Speech is not understood: see Pipeline. Writing works.",
	"Answers":     "The model does not work, and nothing is answered: see Pipeline.",
	"Voice":       "The voice does not work: see Pipeline. The answers come in writing.",
}

// thinkingHint returns why the answer is not there yet, as far as the server has said.
func (s Snapshot) thinkingHint() string {
	switch s.Progress {
	case "loading":
		return "The first answer takes longer, because the model is being loaded."
	case "thinking":
		return "The model thinks before it answers. This can take a while."
	}
	return "The answer is on its way."
}

func (s Snapshot) listeningHint() string {
	switch {
	case s.TextOnly:
		return "This call has no microphone. Write a message."
	case s.ByHand:
		return "Hold the button, or the space bar, while you speak."
	case s.Muted:
		return "Unmute to be heard again, or write a message."
	default:
		return "Say something, or write a message."
	}
}

// talkLabel returns the name of the big button: the action of a press.
func (s Snapshot) talkLabel() string {
	switch {
	case s.Phase == PhaseLoading:
		return "Loading"
	case s.Phase == PhaseConnecting:
		return "Cancel"
	case s.Phase.InCall():
		return "End"
	default:
		return "Talk"
	}
}

// canInterrupt reports whether there is an answer to stop.
func (s Snapshot) canInterrupt() bool {
	return s.Phase == PhaseSpeaking || s.Phase == PhaseThinking
}

// canSpeak reports whether the call has a microphone.
func (s Snapshot) canSpeak() bool { return s.Phase.InCall() && !s.TextOnly }

// stageNames are the words that the page shows for the stages of a pipeline.
var stageNames = map[string]string{"transcriber": "Recognition", "model": "Answers", "synthesizer": "Voice"}

func stageName(stage string) string { return cmp.Or(stageNames[stage], stage) }

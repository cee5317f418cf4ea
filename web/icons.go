package web

// The embedded pictures.

import (
	_ "embed"

	"github.com/antiphon-rt/antiphon/web/internal/ui"
)

// The pictures of the page, drawn for it. They carry no text: each stands
// beside a word or in a button that has a name.
var (
	//go:embed icons/mark.svg
	iconMark string
	//go:embed icons/mic.svg
	iconMic string
	//go:embed icons/mic-off.svg
	iconMicOff string
	//go:embed icons/end.svg
	iconEnd string
	//go:embed icons/interrupt.svg
	iconInterrupt string
	//go:embed icons/send.svg
	iconSend string
	//go:embed icons/copy.svg
	iconCopy string
	//go:embed icons/done.svg
	iconDone string
	//go:embed icons/save.svg
	iconSave string
	//go:embed icons/settings.svg
	iconSettings string
	//go:embed icons/close.svg
	iconClose string
)

// icon shows one of the embedded pictures. Raw is safe here, because the text is
// a constant of this program.
func icon(svg string) *ui.Node { return ui.Raw(svg) }

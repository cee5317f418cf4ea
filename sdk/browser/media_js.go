package browser

// Devices, and the errors of opening a microphone.

import (
	"context"
	"errors"

	"github.com/antiphon-rt/antiphon/sdk"
)

// microphoneError returns the sdk's error for a microphone that the browser did not open.
func microphoneError(err error) error {
	thrown, ok := errors.AsType[*jsError](err)
	if !ok {
		return err
	}
	told := &sdk.Error{Kind: sdk.ErrMicrophoneBusy, Cause: thrown} // NotReadableError, AbortError, and any other name
	switch thrown.name {
	case "NotAllowedError", "SecurityError":
		told.Kind = sdk.ErrPermission
	case "NotFoundError", "OverconstrainedError":
		told.Kind = sdk.ErrNoMicrophone
	case "TypeError", "NotSupportedError":
		told.Kind, told.Detail = sdk.ErrUnsupported, "it gives no microphone to this page"
	}
	return told
}

// Devices implements sdk.DeviceLister. A page that is not secure has no devices.
func (d *Dialer) Devices(ctx context.Context) (sdk.Devices, error) {
	var found sdk.Devices
	list, err := await(ctx, host, "devices", d.audio)
	if err != nil {
		return found, err
	}
	for i := range list.Length() {
		one := list.Index(i)
		device := sdk.Device{ID: text(one, "deviceId"), Label: text(one, "label")}
		if text(one, "kind") == "audioinput" {
			found.Microphones = append(found.Microphones, device)
		} else {
			found.Speakers = append(found.Speakers, device)
		}
	}
	return found, nil
}

package browser

import (
	"context"
	"errors"
	"syscall/js"

	"github.com/antiphon-rt/antiphon/sdk"
)

func mediaDevices() js.Value {
	nav := js.Global().Get("navigator")
	if !defined(nav) {
		return js.Undefined()
	}
	return nav.Get("mediaDevices")
}

// openMicrophone opens the device with this id, or the default one when there is none with it.
func openMicrophone(ctx context.Context, id string) (js.Value, error) {
	stream, err := getUserMedia(ctx, id)
	if id != "" && errors.Is(err, sdk.ErrNoMicrophone) {
		return getUserMedia(ctx, "")
	}
	return stream, err
}

func getUserMedia(ctx context.Context, id string) (js.Value, error) {
	devices := mediaDevices()
	if !defined(devices) || devices.Get("getUserMedia").Type() != js.TypeFunction {
		return js.Undefined(), &sdk.Error{Kind: sdk.ErrUnsupported, Detail: "it gives no microphone to this page"}
	}
	audio := object("echoCancellation", true, "noiseSuppression", true, "autoGainControl", true)
	if id != "" {
		audio.Set("deviceId", object("exact", id))
	}
	promise, err := call(devices, "getUserMedia", object("audio", audio))
	if err != nil {
		return js.Undefined(), microphoneError(err)
	}
	stream, err := await(ctx, promise, stopTracks)
	if err != nil {
		return js.Undefined(), microphoneError(err)
	}
	return stream, nil
}

// microphoneError says in the client's words why a microphone was not opened.
func microphoneError(err error) error {
	thrown, ok := errors.AsType[*jsError](err)
	if !ok {
		return err
	}
	kind := sdk.ErrMicrophoneBusy // NotReadableError, AbortError and what no browser should say
	switch thrown.name {
	case "NotAllowedError", "SecurityError":
		kind = sdk.ErrPermission
	case "NotFoundError", "OverconstrainedError":
		kind = sdk.ErrNoMicrophone
	case "TypeError", "NotSupportedError":
		kind = sdk.ErrUnsupported
	}
	return &sdk.Error{Kind: kind, Cause: thrown}
}

// microphoneAllowed reports whether the person has allowed the microphone before and will not be asked. When the browser does not
// say, they may be.
func microphoneAllowed(ctx context.Context) bool {
	permissions := js.Global().Get("navigator").Get("permissions")
	if !defined(permissions) {
		return false
	}
	promise, err := call(permissions, "query", object("name", "microphone"))
	if err != nil {
		return false
	}
	status, err := await(ctx, promise, nil)
	return err == nil && text(status, "state") == "granted"
}

func stopTracks(stream js.Value) {
	tracks := stream.Call("getTracks")
	for i := range tracks.Length() {
		tracks.Index(i).Call("stop")
	}
}

// audioTrack gives the first audio track of a stream; undefined when it has none.
func audioTrack(stream js.Value) js.Value {
	return stream.Call("getAudioTracks").Index(0)
}

// deviceOf gives the id of the device that a track comes from; "" when the browser does not say.
func deviceOf(track js.Value) string {
	if track.Get("getSettings").Type() != js.TypeFunction {
		return ""
	}
	return text(track.Call("getSettings"), "deviceId")
}

// Devices implements sdk.DeviceLister. A page that is not secure has none.
func (d *Dialer) Devices(ctx context.Context) (sdk.Devices, error) {
	var found sdk.Devices
	devices := mediaDevices()
	if !defined(devices) || devices.Get("enumerateDevices").Type() != js.TypeFunction {
		return found, nil
	}
	list, err := await(ctx, devices.Call("enumerateDevices"), nil)
	if err != nil {
		return found, err
	}
	for i := range list.Length() {
		one := list.Index(i)
		device := sdk.Device{ID: text(one, "deviceId"), Label: text(one, "label")}
		switch text(one, "kind") {
		case "audioinput":
			found.Microphones = append(found.Microphones, device)
		case "audiooutput":
			if defined(d.audio.Get("setSinkId")) {
				found.Speakers = append(found.Speakers, device)
			}
		}
	}
	return found, nil
}

package conversation

// Images in messages.

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// imageKinds maps the MIME types of the protocol's images to the bytes that their files begin with.
var imageKinds = map[string]string{
	"image/png":  "\x89PNG\r\n\x1a\n",
	"image/jpeg": "\xff\xd8\xff",
}

// checkImage returns an error text for an input_image and the field that it is about, "" and "" when the image is fine.
func checkImage(c wire.Content) (field, wrong string) {
	switch c.Detail {
	case "", "auto", "low", "high":
	default:
		return "detail", "want \"auto\", \"low\" or \"high\""
	}
	image, ok := readImage(c)
	if !ok {
		return "image_url", "want a data URL, \"data:image/png;base64,…\" or \"data:image/jpeg;base64,…\": this server fetches no images"
	}
	if !bytes.HasPrefix(image.Data, []byte(imageKinds[image.MIME])) {
		return "image_url", "what the data URL holds is no " + image.MIME
	}
	return "", ""
}

// readImage decodes an image's data URL; false when it is none that this server reads.
func readImage(c wire.Content) (pipeline.Image, bool) {
	head, data, _ := strings.Cut(c.ImageURL, ",")
	kind, isData := strings.CutPrefix(head, "data:")
	kind, isBase64 := strings.CutSuffix(kind, ";base64")
	if _, known := imageKinds[kind]; !isData || !isBase64 || !known {
		return pipeline.Image{}, false
	}
	file, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return pipeline.Image{}, false
	}
	detail := c.Detail
	if detail == "" {
		detail = "auto"
	}
	return pipeline.Image{MIME: kind, Data: file, Detail: detail}, true
}

// images returns the images of a message, nil when it has none.
func images(parts []wire.Content) []pipeline.Image {
	var out []pipeline.Image
	for _, c := range parts {
		if c.Type != wire.ContentInputImage {
			continue
		}
		if image, ok := readImage(c); ok {
			out = append(out, image)
		}
	}
	return out
}

package session

import (
	"bytes"
	"encoding/base64"
	"strings"

	"github.com/antiphon-rt/antiphon/server/pipeline"
	"github.com/antiphon-rt/antiphon/wire"
)

// imageKinds are the protocol's images, by what their files begin with.
var imageKinds = map[string]string{
	"image/png":  "\x89PNG\r\n\x1a\n",
	"image/jpeg": "\xff\xd8\xff",
}

// checkImage says what is wrong with an input_image, and with which field of it.
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

// readImage decodes an image's data URL.
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

// images are those of a message, nil for none.
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

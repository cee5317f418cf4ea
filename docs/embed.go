// Package docs has the documents of this folder, as files for the pages at /docs (web/internal/docsite).
package docs

import "embed"

// Files are the documents, the decisions and the pictures that the documents show.
//
//go:embed *.md decisions/*.md images/*.svg
var Files embed.FS

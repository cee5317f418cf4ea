package parse_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/antiphon-rt/antiphon/formal-verification/internal/parse"
)

func TestScratch(t *testing.T) {
	for _, root := range strings.Split(os.Getenv("FZ"), ",") {
		filepath.Walk(root, func(name string, i os.FileInfo, err error) error {
			if err != nil || !strings.HasSuffix(name, ".fizz") {
				return nil
			}
			src, _ := os.ReadFile(name)
			f, err := parse.File(name, src)
			if err != nil {
				fmt.Println(err)
			}
			for _, p := range parse.Targets(f) {
				fmt.Println("TARGET", p, filepath.Base(filepath.Dir(name)))
			}
			if err == nil && os.Getenv("DUMP") != "" {
				b, _ := protojson.MarshalOptions{Multiline: true}.Marshal(f)
				os.WriteFile(os.Getenv("DUMP")+"/"+strings.ReplaceAll(strings.TrimPrefix(name, root), "/", "_")+".json", b, 0o644)
			}
			return nil
		})
	}
}

//go:build !js

package main

// The scripts: esbuild bundles and minifies the sources of sdk/npm.

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/evanw/esbuild/pkg/api"
)

// bundle returns the scripts by their names: the page's script for a script tag and as a module, the element, the worklet, and the
// host script that the program needs, alone and with the support script; and the script of the Talk page.
func bundle(version string, support []byte) (map[string][]byte, error) {
	files := map[string][]byte{}
	source, err := filepath.Abs(npmSource)
	if err != nil {
		return nil, err
	}
	for name, o := range map[string]api.BuildOptions{
		"antiphon.js": {
			EntryPoints: []string{filepath.Join(npmSource, "antiphon.js")}, Format: api.FormatIIFE, GlobalName: "Antiphon",
			Define: map[string]string{"HERE": "document.currentScript.src", "MODULE": "false"},
		},
		"antiphon.mjs": {
			EntryPoints: []string{filepath.Join(npmSource, "antiphon.js")}, Format: api.FormatESModule,
			Define: map[string]string{"HERE": "import.meta.url", "MODULE": "true"},
		},
		"antiphon-worklet.js": {EntryPoints: []string{filepath.Join(npmSource, "worklet.js")}, Format: api.FormatIIFE},
		"talk-page.js":        {EntryPoints: []string{pageSource}, Format: api.FormatESModule},
		"antiphon-talk.js":    {EntryPoints: []string{filepath.Join(npmSource, "talk.js")}, Format: api.FormatESModule},
		"antiphon-host.js":    {EntryPoints: []string{filepath.Join(npmSource, "standalone.js")}, Format: api.FormatIIFE},
		"antiphon-exec.js": {
			Stdin: &api.StdinOptions{
				Contents: string(support) + "\nexport { host } from \"./host.js\";", Sourcefile: "wasm_exec.js", ResolveDir: source, Loader: api.LoaderJS,
			},
			Format: api.FormatESModule,
			Define: shimmed(),
			Banner: map[string]string{"js": "const shims={};"},
			Footer: map[string]string{"js": "export const{Go}=shims;export{shims};"},
		},
	} {
		if o.Define == nil {
			o.Define = map[string]string{}
		}
		o.Define["VERSION"] = `"` + version + `"`
		content, err := bundled(o)
		if err != nil {
			return nil, err
		}
		files[name] = anyAddress.ReplaceAll(content, []byte("import(/*@vite-ignore*//*webpackIgnore:true*/$1)"))
	}
	return files, nil
}

// anyAddress is an import of an address that only the page knows. esbuild removes the comments that keep bundlers from looking for it.
var anyAddress = regexp.MustCompile("import\\((`[^`]*`|[\\w$]+)\\)")

// embedded returns the module with the files that a page's bundle has instead of a folder: the program, packed, and the worklet.
func embedded(program, worklet []byte) ([]byte, error) {
	_, packed, err := pack(program)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(string(worklet))
	return fmt.Appendf(nil, "export const program=%q,worklet=%s;\n", base64.StdEncoding.EncodeToString(packed), text), err
}

// shimmed returns the definitions with which esbuild replaces the global names that the support script would leave in a page: it puts
// them into its own object shims. The loader lends them to the page for the moment in which the program starts.
func shimmed() map[string]string {
	define := map[string]string{"global": "globalThis", "fs": "shims.fs", "process": "shims.process", "require": "undefined"}
	for _, global := range []string{"global", "globalThis"} {
		for _, name := range []string{"Go", "fs", "process", "path", "require"} {
			define[global+"."+name] = "shims." + name
		}
	}
	return define
}

// bundled returns the one file that esbuild makes with the options and those that all scripts share.
func bundled(o api.BuildOptions) ([]byte, error) {
	o.Bundle, o.Platform, o.Target, o.LogLevel = true, api.PlatformBrowser, api.ES2022, api.LogLevelSilent
	o.MinifyWhitespace, o.MinifyIdentifiers, o.MinifySyntax = true, true, true
	o.Charset = api.CharsetUTF8
	o.External = []string{"./antiphon-exec.js", "./antiphon-talk.js", "./antiphon-embedded.js"} // files of the package, which a page's bundler finds
	o.Plugins = []api.Plugin{styles}
	made := api.Build(o)
	if len(made.Errors) > 0 {
		var all []error
		for _, text := range api.FormatMessages(made.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage}) {
			all = append(all, errors.New(text))
		}
		return nil, errors.Join(all...)
	}
	return made.OutputFiles[0].Contents, nil
}

// styles lets a script import a style sheet, as a minified text.
var styles = api.Plugin{Name: "styles", Setup: func(build api.PluginBuild) {
	build.OnLoad(api.OnLoadOptions{Filter: `\.css$`}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
		content, err := os.ReadFile(args.Path)
		if err != nil {
			return api.OnLoadResult{}, err
		}
		small := api.Transform(string(content), api.TransformOptions{Loader: api.LoaderCSS, MinifyWhitespace: true, MinifySyntax: true})
		if len(small.Errors) > 0 {
			return api.OnLoadResult{Errors: small.Errors}, nil
		}
		text := string(small.Code)
		return api.OnLoadResult{Contents: &text, Loader: api.LoaderText}, nil
	})
}}

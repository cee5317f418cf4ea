package check

// The options of a specification: how far FizzBee explores it, and which options would let a wrong result pass.

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	ast "fizz/proto"
	"github.com/fizzbee-io/fizzbee/modelchecker"
	"google.golang.org/protobuf/proto"
)

// The defaults for options that a spec does not have.
const (
	defaultMaxActions = 100
	defaultConcurrent = 2
)

// configName is the file with options for all specs of a folder.
const configName = "fizz.yaml"

// live has the values of the option `liveness` with which FizzBee checks liveness. With every other value it does not.
var live = []string{"", "enabled", "true", "strict", "strict/bfs", "eventual", "nondeterministic"}

// configure returns the options of a spec: from the file in its folder, then from its front matter, then the defaults.
func configure(f *ast.File, o Options) (*ast.StateSpaceOptions, error) {
	config := &ast.StateSpaceOptions{}
	if o.Plain && o.Dir != "" {
		beside, err := modelchecker.ReadOptionsFromYaml(filepath.Join(o.Dir, configName))
		switch {
		case err == nil:
			config = beside
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("read the %s beside the spec: %w", configName, err)
		}
	}
	if yaml := f.GetFrontMatter().GetYaml(); yaml != "" {
		own, err := modelchecker.ReadOptionsFromYamlString(yaml)
		if err != nil {
			return nil, fmt.Errorf("read the front matter: %w", err)
		}
		proto.Merge(config, own)
	}
	setDefaults(config)
	if o.Plain {
		return config, nil
	}
	return config, sound(config)
}

// sound returns an error for options with which a wrong spec may pass.
func sound(config *ast.StateSpaceOptions) error {
	switch {
	case !slices.Contains(live, config.GetLiveness()):
		return fmt.Errorf("liveness: %q switches liveness off: remove the line", config.GetLiveness())
	case config.GetContinueOnInvariantFailures(), config.GetContinuePathOnInvariantFailures():
		return errors.New("continue_on_invariant_failures and continue_path_on_invariant_failures let an assertion fail and pass: remove the line")
	case len(config.GetActionOptions()) > 0:
		return errors.New("action_options bound an action on the way that was found first, so other ways go unseen: bound it by its state instead")
	}
	return nil
}

func setDefaults(config *ast.StateSpaceOptions) {
	if config.Options == nil {
		config.Options = &ast.Options{}
	}
	if config.Options.MaxActions == 0 {
		config.Options.MaxActions = defaultMaxActions
	}
	if config.Options.MaxConcurrentActions == 0 {
		config.Options.MaxConcurrentActions = min(defaultConcurrent, config.Options.MaxActions)
	}
	if config.DeadlockDetection == nil {
		config.DeadlockDetection = proto.Bool(true)
	}
	if config.Options.CrashOnYield == nil {
		config.Options.CrashOnYield = proto.Bool(true)
	}
}

module github.com/antiphon-rt/antiphon/formal-verification

go 1.26.0

replace (
	fizz => ./.gen/fizz
	github.com/antiphon-rt/antiphon => ..
)

require (
	fizz v0.0.0
	github.com/antiphon-rt/antiphon v0.0.0
	github.com/fizzbee-io/fizzbee v0.5.4
	github.com/onsi/gomega v1.44.0
	go.starlark.net v0.0.0-20231121155337-90ade8b19d09
	golang.org/x/sync v0.24.0
	google.golang.org/protobuf v1.36.12
)

require (
	github.com/cockroachdb/datadriven v1.0.3 // indirect
	github.com/google/go-cmp v0.7.0 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

require (
	github.com/golang/glog v1.2.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

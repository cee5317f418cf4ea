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
	github.com/onsi/gomega v1.38.2
	google.golang.org/protobuf v1.36.11
)

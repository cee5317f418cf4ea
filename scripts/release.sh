#!/bin/sh
# release.sh: makes the files of a release in $DIR, which is .cache/release/vVERSION without it. The version is the constant in internal/version.
# It checks first: everything is committed, what browsers load is of the present sources, the changelog has a dated section of the version,
# the dependencies are those of go.sum, and none of them has a known vulnerability that the program can reach. From the second release on it
# prints what has changed incompatibly in the public packages since the last tag.
# With TAG=1 its last step is the tag. VULNDB is the URL of another copy of the vulnerability database, where the machine does not reach vuln.go.dev.
set -eu
cd "$(dirname "$0")/.."

# The tools, in these versions.
govulncheck=golang.org/x/vuln/cmd/govulncheck@v1.9.0
cyclonedx=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0
apidiff=golang.org/x/exp/cmd/apidiff@v0.0.0-20261014143641-f0251eb4aa3e

version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' internal/version/version.go)
tag=v$version
out=${DIR:-.cache/release/$tag}

fail() {
	echo "release: $*" >&2
	exit 1
}

[ -n "$version" ] || fail "internal/version has no version"
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
grep -q "^## $version - [0-9]\{4\}-[0-9][0-9]-[0-9][0-9]\$" CHANGELOG.md || fail "CHANGELOG.md has no section \"## $version - YYYY-MM-DD\""
! git rev-parse -q --verify "refs/tags/$tag" >/dev/null || fail "there is a tag $tag already"
export CGO_ENABLED=0
go run ./web/internal/build check
go mod verify
go mod tidy -diff
go run $govulncheck -db "${VULNDB:-https://vuln.go.dev}" ./...

last=$(git describe --tags --abbrev=0 2>/dev/null || true)
if [ -n "$last" ]; then
	old=$(mktemp -d)
	trap 'git worktree remove --force "$old/tree"; rm -rf "$old"' EXIT
	git worktree add -q --detach "$old/tree" "$last"
	(cd "$old/tree" && go run $apidiff -m -w "$old/api" github.com/antiphon-rt/antiphon)
	echo "incompatible changes since $last:"
	go run $apidiff -m -incompatible "$old/api" github.com/antiphon-rt/antiphon
fi

rm -rf "$out"
mkdir -p "$out"
for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
	os=${platform%/*} arch=${platform#*/} ending=
	[ "$os" != windows ] || ending=.exe
	echo "building $platform"
	GOOS=$os GOARCH=$arch go build -trimpath -ldflags "-s -w" -o "$out/antiphon-$version-$os-$arch$ending" ./cmd/antiphon
done

go run ./web/internal/build npm sdk/npm/dist
npm pack --silent --pack-destination "$out" ./sdk/npm/dist >/dev/null
mv "$out/antiphon-$version.tgz" "$out/antiphon-sdk-$version.tgz"

go run $cyclonedx app -json -licenses -main cmd/antiphon -output "$out/antiphon-$version.cdx.json" .
cp deploy/Dockerfile "$out/Dockerfile"
(cd "$out" && sha256sum antiphon-* Dockerfile >SHA256SUMS)

[ -z "${TAG:-}" ] || git tag -a "$tag" -m "Antiphon $version"
echo "release: $out has"
ls "$out"

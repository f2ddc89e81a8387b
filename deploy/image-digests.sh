#!/bin/sh
# Write the digests of the images that we do not build behind their versions, in docker-compose.yml
# and the Dockerfile: `make image-digests`. Needs a registry, and `crane` or Docker's buildx.
set -eu
cd "${1:-$(dirname "$0")/..}"

digest() {
  if command -v crane >/dev/null; then
    crane digest "$1"
  else
    docker buildx imagetools inspect --format '{{.Manifest.Digest}}' "$1"
  fi
}

is_digest() {
  case ${1#sha256:} in
    "$1" | *[!0-9a-f]*) return 1 ;;
  esac
  [ ${#1} -eq 71 ]
}

images=$(sed -nE 's/^(FROM| *image:) ([a-z0-9./-]+:[^ @]+).*/\2/p' Dockerfile docker-compose.yml |
  grep -v '^evergreen-bench:' | sort -u)
for image in $images; do
  if ! found=$(digest "$image") || ! is_digest "$found"; then
    echo "image-digests did not run to its end: $image has no digest here ($found)" >&2
    exit 1
  fi
  known="${known:-}$image $found
"
done
echo "$known" | while read -r image found; do
  [ -z "$image" ] && continue
  escaped=$(echo "$image" | sed 's/[.]/\\./g')
  sed -i -E "s|^(FROM\| *image:) $escaped(@sha256:[0-9a-f]+)?( \|$)|\1 $image@$found\3|" \
    Dockerfile docker-compose.yml
  echo "$image@$found"
done

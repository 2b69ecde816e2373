# Sourced by the scripts: an old Node would otherwise end in a syntax error of some dependency. The exit code is EXIT_CONFIG of
# src/lib/errors.ts.
if ! command -v node >/dev/null 2>&1; then
  echo "Headwater needs Node.js 20.19 or newer, and there is no node on the PATH: install it first" >&2
  exit 78
fi
node_version=$(node --version)
IFS=. read -r node_major node_minor _ <<<"${node_version#v}"
if ((node_major < 20 || (node_major == 20 && node_minor < 19))); then
  echo "Headwater needs Node.js 20.19 or newer, and this is $node_version: install a newer one or choose it with your version manager" >&2
  exit 78
fi

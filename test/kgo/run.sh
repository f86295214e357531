#!/usr/bin/env bash
# Runs the test suite of franz-go's kgo, at the version in test/go.mod, against a broker of ours: test/kgo/run.sh [further arguments of go test].
# KGO_TEST_RECORDS is its size (its own default is 500000). KGO_SEEDS names a broker that runs already; otherwise bin/millrace (or
# MILLRACE_BIN) is started on a new directory and MILLRACE_TEST_PORT (default 20990).
# not-yet.txt lists the tests that are left out, each with the reason.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
broker=
finish() {
  [ -z "$broker" ] || { kill "$broker" 2>/dev/null && wait "$broker" || true; }
  chmod -R u+w "$work"
  rm -rf "$work"
}
trap finish EXIT

cd "$here/.."
go mod download github.com/twmb/franz-go
from=$(go list -m -f '{{.Dir}}' github.com/twmb/franz-go)
mkdir "$work/src"
cp -r "$from/go.mod" "$from/go.sum" "$from/pkg" "$work/src/" # the module cache is read-only, and its tests want to be a main module
chmod -R u+w "$work/src"

if [ -z "${KGO_SEEDS:-}" ]; then
  port=${MILLRACE_TEST_PORT:-20990}
  "${MILLRACE_BIN:-$here/../../bin/millrace}" serve --override "log.dirs=$work/data" --override "listeners=PLAINTEXT://127.0.0.1:$port" \
    --override admin.listen=none --override group.initial.rebalance.delay.ms=0 > "$work/broker.log" 2>&1 &
  broker=$!
  for _ in $(seq 200); do (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break; sleep 0.05; done
  export KGO_SEEDS=127.0.0.1:$port
fi
export KGO_TEST_RF=1 KGO_TEST_RECORDS=${KGO_TEST_RECORDS:-500000} KGO_LOG_LEVEL=${KGO_LOG_LEVEL:-none}
skip=$(sed -n 's/^\(Test[^ ]*\) .*/\1/p' "$here/not-yet.txt" | paste -sd '|')
cd "$work/src"
if ! go test -count=1 -timeout "${KGO_TIMEOUT:-60m}" -skip "^($skip)$" "$@" ./pkg/kgo; then
  [ -z "$broker" ] || tail -50 "$work/broker.log"
  exit 1
fi

#!/usr/bin/env bash
# Installs the foreign programs that the tests need: Debian's kcat, strace, e2fsprogs and node, a C compiler for the librdkafka binding, the
# Python clients in test/.venv and kafkajs in test/.node. Run it as root; running it again costs a second. Apache Kafka's own tools are found through KAFKA_HOME_BIN.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

need=()
command -v kcat >/dev/null || need+=(kcat)
command -v strace >/dev/null || need+=(strace)
command -v mkfs.ext4 >/dev/null || [ -x /sbin/mkfs.ext4 ] || need+=(e2fsprogs)
command -v gcc >/dev/null || need+=(gcc libc6-dev)
command -v prlimit >/dev/null || need+=(util-linux)
command -v npm >/dev/null || need+=(nodejs npm)
python3 -c 'import venv, ensurepip' 2>/dev/null || need+=(python3-venv)
if ((${#need[@]})); then
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${need[@]}"
fi

venv=$here/.venv
if ! "$venv/bin/python" -c 'import confluent_kafka, aiokafka, cramjam' 2>/dev/null; then
  rm -rf "$venv"
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q --disable-pip-version-check confluent-kafka==2.16.1 aiokafka==0.14.0 cramjam==2.14.0
fi

node=$here/.node
if ! NODE_PATH=$node/node_modules node -e 'for (const m of ["kafkajs", "kafkajs-snappy", "lz4-napi", "@bokuweb/zstd-wasm"]) require(m)' 2>/dev/null; then
  rm -rf "$node"
  mkdir -p "$node"
  echo '{"private": true}' > "$node/package.json"
  npm install --prefix "$node" --silent --no-audit --no-fund kafkajs@2.2.4 kafkajs-snappy@1.1.0 lz4-napi@2.10.0 @bokuweb/zstd-wasm@0.0.27
fi

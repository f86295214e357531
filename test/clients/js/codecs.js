// Teaches kafkajs the codecs that it leaves to plug-ins.
const { CompressionTypes, CompressionCodecs } = require('kafkajs')
const snappy = require('kafkajs-snappy')
const lz4 = require('lz4-napi')
const zstd = require('@bokuweb/zstd-wasm')

CompressionCodecs[CompressionTypes.Snappy] = snappy
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: (encoder) => lz4.compressFrame(encoder.buffer),
  decompress: (bytes) => lz4.decompressFrame(bytes),
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async (encoder) => Buffer.from(zstd.compress(encoder.buffer, 3)),
  decompress: async (bytes) => Buffer.from(zstd.decompress(bytes, { defaultHeapSize: 16 << 20 })),
})

module.exports = {
  ready: zstd.init,
  types: { none: CompressionTypes.None, gzip: CompressionTypes.GZIP, snappy: CompressionTypes.Snappy, lz4: CompressionTypes.LZ4, zstd: CompressionTypes.ZSTD },
}

// kafkajs as a producer and, in a group of its own, a consumer: produce ADDR TOPIC CODEC | consume ADDR TOPIC END...
// Records travel over pipes in the frames that python_test.go describes.
const fs = require('fs')
const { Kafka, logLevel } = require('kafkajs')
const codecs = require('./codecs')

function readAll() {
  const data = fs.readFileSync(0)
  const records = []
  let at = 0
  const sized = () => {
    const n = data.readInt32BE(at)
    at += 4 + n
    return data.subarray(at - n, at)
  }
  while (at < data.length) {
    const partition = data.readInt32BE(at)
    at += 12
    const key = sized()
    const value = sized()
    const count = data.readInt32BE(at)
    at += 4
    const headers = {}
    for (let i = 0; i < count; i++) {
      const name = sized().toString()
      headers[name] = sized()
    }
    records.push({ partition, key, value, headers })
  }
  return records
}

async function produce(kafka, topic, codec) {
  const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, allowAutoTopicCreation: false })
  await producer.connect()
  let messages = []
  let bytes = 0
  const send = async () => {
    if (messages.length) await producer.send({ topic, messages, acks: -1, compression: codecs.types[codec] })
    messages = []
    bytes = 0
  }
  for (const m of readAll()) {
    messages.push(m)
    bytes += m.value.length
    if (bytes > 300000 || messages.length >= 2000) await send()
  }
  await send()
  await producer.disconnect()
}

function frame(partition, m) {
  const sized = (b) => {
    const size = Buffer.alloc(4)
    size.writeInt32BE(b.length)
    return [size, b]
  }
  const head = Buffer.alloc(12)
  head.writeInt32BE(partition)
  head.writeBigInt64BE(BigInt(m.offset), 4)
  const headers = Object.entries(m.headers || {})
  const count = Buffer.alloc(4)
  count.writeInt32BE(headers.length)
  const parts = [head, ...sized(m.key || Buffer.alloc(0)), ...sized(m.value || Buffer.alloc(0)), count]
  for (const [name, value] of headers) parts.push(...sized(Buffer.from(name)), ...sized(value || Buffer.alloc(0)))
  return Buffer.concat(parts)
}

async function consume(kafka, topic, ends) {
  const consumer = kafka.consumer({ groupId: 'read-' + topic + '-' + process.pid, maxWaitTimeInMs: 200 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  let left = ends.reduce((a, b) => a + b, 0)
  const all = new Promise((resolve) => {
    consumer.run({
      autoCommit: false,
      eachBatch: async ({ batch }) => {
        const out = batch.messages.map((m) => frame(batch.partition, m))
        fs.writeSync(1, Buffer.concat(out))
        left -= batch.messages.length
        if (left <= 0) resolve()
      },
    })
  })
  if (left > 0) await all
  await consumer.disconnect()
}

// writeSync on a pipe may take a part only, or nothing for now.
const plain = fs.writeSync
fs.writeSync = (fd, buffer) => {
  for (let at = 0; at < buffer.length; ) {
    try {
      at += plain(fd, buffer, at)
    } catch (e) {
      if (e.code !== 'EAGAIN') throw e
    }
  }
}

async function main([what, addr, topic, ...rest]) {
  await codecs.ready()
  const kafka = new Kafka({ clientId: 'kafkajs', brokers: [addr], logLevel: logLevel.ERROR })
  if (what === 'produce') await produce(kafka, topic, rest[0])
  else await consume(kafka, topic, rest.map(Number))
}

main(process.argv.slice(2)).catch((e) => {
  console.error(e)
  process.exit(1)
})

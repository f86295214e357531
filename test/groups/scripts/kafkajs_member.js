// One member of a group with kafkajs: ADDR GROUP TOPIC. Prints the value of each record; leaves in good order on SIGINT.
const { Kafka, logLevel } = require('kafkajs')
const codecs = require('../../clients/js/codecs')

async function main([addr, groupId, topic]) {
  await codecs.ready()
  const kafka = new Kafka({ clientId: 'kafkajs', brokers: [addr], logLevel: logLevel.ERROR })
  const consumer = kafka.consumer({ groupId, heartbeatInterval: 200, sessionTimeout: 6000, maxWaitTimeInMs: 100 })
  process.on('SIGINT', async () => {
    await consumer.disconnect()
    process.exit(0)
  })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({ autoCommitInterval: 100, eachMessage: async ({ message }) => process.stdout.write(message.value.toString() + '\n') })
}

main(process.argv.slice(2)).catch((e) => {
  console.error(e)
  process.exit(1)
})

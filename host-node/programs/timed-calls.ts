// Measures calls, for the benchmarks:
//     node dist/timed-calls.js REPOSITORY
// Each line of the input is {"tool": name, "calls": [arguments, ...]}. The calls are made one after another, and the
// answer is {"wall_us", "cpu_us"}: their time in all, and the user and system time of the process meanwhile.
import { createInterface } from 'node:readline'
import { openMemory } from 'agent-memory-host'

const [repository] = process.argv.slice(2) as [string]

await using memory = await openMemory({ allow: [repository] })
for await (const line of createInterface({ input: process.stdin })) {
  const { tool, calls } = JSON.parse(line) as { tool: string; calls: object[] }
  const cpu = process.cpuUsage()
  const started = performance.now()
  for (const input of calls) {
    const outcome = await memory.call(tool, input)
    if (outcome.isError) throw new Error(JSON.stringify(outcome.error))
  }
  const wall = performance.now() - started
  const { user, system } = process.cpuUsage(cpu)
  console.log(JSON.stringify({ wall_us: Math.round(wall * 1000), cpu_us: user + system }))
}

// Measures calls, for the benchmarks:
//     node dist/timed-calls.js REPOSITORY
// Each line of the input is a request:
//     {"opened": true}                            {"import_us", "open_us"}: the time to load the package and to open a
//                                                 memory
//     {"tool": name, "calls": [arguments, ...]}   makes the calls one after another; {"wall_us", "cpu_us"}: their time in
//                                                 all, and the user and system time of the process meanwhile
import { createInterface } from 'node:readline'

const [repository] = process.argv.slice(2) as [string]

const microseconds = (since: number): number => Math.round((performance.now() - since) * 1000)

const began = performance.now()
const { openMemory } = await import('agent-memory')
const imported = microseconds(began)
const loaded = performance.now()
await using memory = await openMemory({
  allow: [repository],
  toolsets: ['sessions', 'records'],
  settings: { records: { directory: `${repository}/memories`, format: 'json' } },
})
const opened = microseconds(loaded)

type Request = { tool: string; calls: object[] } | { opened: true }

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line) as Request
  if ('opened' in request) {
    console.log(JSON.stringify({ import_us: imported, open_us: opened }))
    continue
  }
  const cpu = process.cpuUsage()
  const started = performance.now()
  for (const input of request.calls) {
    const outcome = await memory.call(request.tool, input)
    if (outcome.isError) throw new Error(JSON.stringify(outcome.error))
  }
  const wall = microseconds(started)
  const { user, system } = process.cpuUsage(cpu)
  console.log(JSON.stringify({ wall_us: wall, cpu_us: user + system }))
}

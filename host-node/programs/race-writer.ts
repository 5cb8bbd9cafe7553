// One writer of the race test. Appends entries to an agent's log of 2025-01-20, and prints the result of each append:
//     node dist/race-writer.js REPOSITORY AGENT COUNT ID LOCK-WAIT
// The output is `ok ID-N MILLISECONDS` or `error ...` for each N from 0 to COUNT-1, after a line `error ...` if the
// session cannot be started. LOCK-WAIT is in milliseconds.
import { writeSync } from 'node:fs'
import { openMemory } from 'agent-memory'

const [repository, agent, count, id, lockWait] = process.argv.slice(2) as [string, string, string, string, string]

// `writeSync` writes at once: the process may be killed right after an acknowledged call.
const print = (line: string) => writeSync(1, `${line}\n`)

await using memory = await openMemory({ allow: [repository], workers: 1, lockWait: Number(lockWait) })
const log = { agent_name: agent, repo_root: repository, date: '2025-01-20' }
const started = await memory.call('start_session', log)
if (started.isError) print(`error ${JSON.stringify(started.error)}`)

for (let n = 0; n < Number(count); n++) {
  const before = performance.now()
  try {
    const outcome = await memory.call('append_entry', { ...log, section: 'Context', content: `${id}-${n}` })
    print(
      outcome.isError
        ? `error ${JSON.stringify(outcome.error)}`
        : `ok ${id}-${n} ${Math.round(performance.now() - before)}`,
    )
  } catch (error) {
    print(`error ${error}`)
  }
}

// Appends one entry, for tests that trace its system calls. Tracing is slow, so the time limit is long.
import { openMemory } from 'agent-memory'

const [repository, content] = process.argv.slice(2) as [string, string]
await using memory = await openMemory({ allow: [repository], limits: { guestTime: 60_000 } })
const log = { agent_name: 'aristotle', repo_root: repository, date: '2025-01-20' }
const outcome =
  content === ''
    ? await memory.call('start_session', log)
    : await memory.call('append_entry', { ...log, section: 'Context', content })
if (outcome.isError) throw new Error(JSON.stringify(outcome.error))

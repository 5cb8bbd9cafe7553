// Appends one entry, for tests that watch its system calls. It is no test of time: the machine may be busy.
import { openMemory } from 'agent-memory-host'

const [repository, content] = process.argv.slice(2) as [string, string]
await using memory = await openMemory({ allow: [repository], limits: { guestTime: 60_000 } })
const log = { agent_name: 'aristotle', repo_root: repository, date: '2025-01-20' }
const outcome =
  content === ''
    ? await memory.call('start_session', log)
    : await memory.call('append_entry', { ...log, section: 'Context', content })
if (outcome.isError) throw new Error(JSON.stringify(outcome.error))

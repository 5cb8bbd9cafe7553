// Adds recent memories of one agent, and summarises the memories of all processes by joining them:
//     node summarise-adds.ts DATABASE NAME COUNT
import { openMemory } from 'agent-memory'

const [file, name, count] = process.argv.slice(2) as [string, string, string]

await using memory = await openMemory({
  allow: [],
  toolsets: ['layers'],
  settings: { layers: { file, recent_capacity: 3 } },
  durability: 'relaxed',
  workers: 1,
  summarize: async ({ memories }) => memories.join(' '),
})
for (let n = 0; n < Number(count); n++) {
  const outcome = await memory.call('add_recent_memory', { agent_id: 'ada', memory: `${name}-${n}` })
  if (outcome.isError) throw new Error(outcome.error.message)
}

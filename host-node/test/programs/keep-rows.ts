// Stores memories in a directory from several threads, prints the names of its files, and ends in the given way.
import { readdirSync } from 'node:fs'
import { openMemory } from 'agent-memory'

const [directory, ending] = process.argv.slice(2)
const memory = await openMemory({
  allow: [],
  toolsets: ['records'],
  settings: { records: { directory: directory!, format: 'sqlite' } },
  workers: 2,
})
const outcomes = await Promise.all([1, 2, 3].map((n) => memory.call('add_core_memory', { content: `${n}` })))
if (outcomes.some(({ isError }) => isError)) throw new Error(JSON.stringify(outcomes))
console.log(readdirSync(directory!).sort().join(' '))
if (ending === 'closes it') await memory.close()
if (ending === 'ends by `process.exit`') process.exit(0)

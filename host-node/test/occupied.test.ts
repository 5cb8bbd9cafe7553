import assert from 'node:assert/strict'
import { existsSync, mkdirSync, renameSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type AgentMemory, type MemoryOptions, openMemory } from 'agent-memory'
import { emptyDirectory } from './fixtures/scratch.ts'

const agent_id = 'ada'

/** Opens a memory of all toolsets that need no repository. Its warnings are not printed. */
function open(context: TestContext, options: Partial<MemoryOptions>): Promise<AgentMemory> {
  context.mock.method(console, 'warn', () => {})
  const toolsets = ['records', 'layers', 'stores']
  return openMemory({ allow: [], toolsets, durability: 'relaxed', ...options })
}

/** One tool of each toolset. */
const calls = {
  records: (memory: AgentMemory) => memory.call('records_add_core_memory', { agent_id, content: 'The lamp is green.' }),
  layers: (memory: AgentMemory) => memory.call('layers_add_core_memory', { agent_id, memory: 'A lamp hangs here.' }),
  stores: (memory: AgentMemory) => memory.call('list_memories', { store: 'team' }),
}

async function refusalOf(call: Promise<{ isError: boolean; result: unknown }>): Promise<string> {
  const { isError, result } = await call
  assert.ok(isError, JSON.stringify(result))
  return JSON.stringify(result)
}

async function succeeds(call: Promise<{ isError: boolean; result: unknown }>): Promise<void> {
  const { isError, result } = await call
  assert.ok(!isError, JSON.stringify(result))
}

async function search(memory: AgentMemory) {
  const outcome = await memory.call('search_memory', { query: 'lamp', agent: agent_id })
  assert.ok(!outcome.isError, JSON.stringify(outcome))
  const { hits, warnings = [] } = outcome.result
  return { hits, warnings: warnings.join('\n') }
}

test('a file in place of the directory of records stops the tools of records alone, until it is moved away', async (context) => {
  const base = emptyDirectory()
  const directory = join(base, 'memories')
  writeFileSync(directory, 'mine')
  await using memory = await open(context, { dataDir: join(base, 'data'), settings: { records: { directory } } })
  assert.match(await refusalOf(calls.records(memory)), /something other than a directory stands there: move it away/)
  await succeeds(calls.layers(memory))
  const { hits, warnings } = await search(memory)
  assert.equal(hits.length, 1)
  assert.match(warnings, /records.* not searched: .*something other than a directory stands there/)
  renameSync(directory, join(base, 'moved'))
  await succeeds(calls.records(memory))
  const after = await search(memory)
  assert.deepEqual([after.hits.length, after.warnings], [2, ''])
})

test('a directory in place of the database of layers stops the tools of layers alone, until it is moved away', async (context) => {
  const base = emptyDirectory()
  const file = join(base, 'layers.db')
  mkdirSync(file)
  const settings = { layers: { file }, records: { directory: join(base, 'memories') } }
  await using memory = await open(context, { dataDir: join(base, 'data'), settings })
  assert.match(await refusalOf(calls.layers(memory)), /something other than a file stands there: move it away/)
  await succeeds(calls.records(memory))
  assert.match((await search(memory)).warnings, /layers.* not searched: .*something other than a file/)
  rmdirSync(file)
  await succeeds(calls.layers(memory))
  assert.equal((await search(memory)).warnings, '')
})

test('a file in place of the data directory stops layers and stores, until it is moved away', async (context) => {
  const base = emptyDirectory()
  const dataDir = join(base, 'data')
  writeFileSync(dataDir, 'mine')
  const settings = { records: { directory: join(base, 'memories') } }
  await using memory = await open(context, { dataDir, settings, workers: 2 })
  for (const name of ['layers', 'stores'] as const)
    assert.match(await refusalOf(calls[name](memory)), /something other than a directory stands there/, name)
  await succeeds(calls.records(memory))
  const { hits, warnings } = await search(memory)
  assert.equal(hits.length, 1)
  for (const name of ['layers', 'stores']) assert.match(warnings, new RegExp(`${name}.* not searched`))
  renameSync(dataDir, join(base, 'moved'))
  // Calls on several threads at once. Some threads have tried to grant the places before, others have
  // not.
  await Promise.all([calls.layers(memory), calls.layers(memory), calls.stores(memory), search(memory)])
  await succeeds(calls.layers(memory))
  assert.doesNotMatch(JSON.stringify((await calls.stores(memory)).result), /something other than/)
  assert.ok(existsSync(join(dataDir, 'agent_memory.db')))
  assert.equal((await search(memory)).warnings, '')
})

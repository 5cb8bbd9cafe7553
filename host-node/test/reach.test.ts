import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { type AgentMemory, MemoryCallError, type MemoryView, openMemory } from 'agent-memory'
import { emptyDirectory } from './fixtures/scratch.ts'

function openRecords(): Promise<AgentMemory> {
  const directory = join(emptyDirectory(), 'memories')
  return openMemory({ allow: [], toolsets: ['records'], settings: { records: { directory } }, durability: 'relaxed' })
}

async function textOf(memory: MemoryView, name: string, input: object = {}): Promise<string> {
  return JSON.stringify((await memory.call(name, input)).result)
}

test('a view with one agent is for that agent and tells of no other', async () => {
  await using memory = await openRecords()
  await memory.call('add_core_memory', { agent_id: 'plato', content: 'The port is 1.' })
  const ofAda = memory.withReach({ agents: ['ada'] })
  for (const name of ['query_memories', 'recall_context', 'get_memory_stats', 'search_memory']) {
    assert.doesNotMatch(await textOf(ofAda, name, name === 'search_memory' ? { query: 'port' } : {}), /plato/, name)
  }
  await ofAda.call('add_core_memory', { content: 'The port is 2.' })
  assert.match(await textOf(memory, 'query_memories', { agent_id: 'ada' }), /The port is 2\./)
  const refused = await ofAda.call('query_memories', { agent_id: 'plato' })
  assert.ok(refused.isError)
})

test('a view of a view reaches what both do, and ends with its memory', async () => {
  const memory = await openRecords()
  const narrowed = memory.withReach({ agents: ['ada', 'bob'] }).withReach({ agents: ['bob', 'plato'] })
  assert.ok((await narrowed.call('query_memories', { agent_id: 'plato' })).isError)
  assert.ok(!(await narrowed.call('query_memories', {})).isError)
  await memory.close()
  await assert.rejects(narrowed.call('query_memories', {}), { code: 'closed' })
})

test('a reach that cannot be meant is refused', async () => {
  await using memory = await openRecords()
  for (const wrong of [null, { agents: 'ada' }, { agent: ['ada'] }, { agents: [1] }] as any[]) {
    assert.throws(() => memory.withReach(wrong), MemoryCallError)
  }
})

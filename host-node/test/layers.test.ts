import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type MemoryOptions, openMemory } from 'agent-memory'
import { emptyDirectory } from './fixtures/scratch.ts'

const layers = (options: Partial<MemoryOptions>) =>
  openMemory({ allow: [], toolsets: ['layers'], durability: 'relaxed', ...options })

test('the database of layers is in the data directory unless a setting gives its path', async () => {
  const dataDir = join(emptyDirectory(), 'data')
  await using memory = await layers({ dataDir })
  assert.ok(!existsSync(dataDir), 'the directory is created by the first change')
  const nothing = await memory.call('get_core_memories', { agent_id: 'ada' })
  assert.ok(!nothing.isError && nothing.result.count === 0)
  assert.ok(!existsSync(dataDir), 'a read creates nothing')
  const added = await memory.call('add_core_memory', { agent_id: 'ada', memory: 'Prefer plain SQL.' })
  assert.ok(!added.isError, JSON.stringify(added))
  await memory.close()
  assert.deepEqual(readdirSync(dataDir).sort(), ['.agent-memory', 'agent_memory.db'])
  for (const name of ['.', ...readdirSync(dataDir, { recursive: true, encoding: 'utf8' })]) {
    assert.equal(statSync(join(dataDir, name)).mode & 0o077, 0, name)
  }

  const file = join(emptyDirectory(), 'mine.sqlite')
  await using other = await layers({ dataDir, settings: { layers: { file } } })
  await other.call('add_core_memory', { agent_id: 'ada', memory: 'Prefer plain SQL.' })
  await other.close()
  using database = new DatabaseSync(file, { timeout: 5_000 })
  assert.deepEqual({ ...database.prepare('SELECT count(*) AS kept FROM core_memories').get() }, { kept: 1 })
})

test('a layer is written through two memories at once, and nothing is lost', async () => {
  const settings = { layers: { file: join(emptyDirectory(), 'shared.db'), recent_capacity: 100 } }
  const memories = await Promise.all([layers({ settings, workers: 2 }), layers({ settings, workers: 2 })])
  const numbers = Array.from({ length: 20 }, (_, n) => n)
  const added = await Promise.all(
    numbers.map((n) => memories[n % 2]!.call('add_recent_memory', { agent_id: 'ada', memory: `Number ${n}.` })),
  )
  assert.ok(added.every(({ isError }) => !isError))
  const kept = await memories[0]!.call('get_recent_memories', { agent_id: 'ada', limit: 100 })
  assert.ok(!kept.isError)
  assert.deepEqual(
    new Set(kept.result.memories.map(({ memory }) => memory)),
    new Set(numbers.map((n) => `Number ${n}.`)),
  )
  await Promise.all(memories.map((memory) => memory.close()))
})

test('a number that a setting does not allow is refused', async () => {
  for (const [recent_capacity, why] of [
    [1, /`settings\.layers\.recent_capacity` is less than 2/],
    [101, /`settings\.layers\.recent_capacity` is more than 100/],
  ] as const) {
    await assert.rejects(layers({ settings: { layers: { recent_capacity } } }), {
      code: 'invalid-option',
      message: why,
    })
  }
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type AgentMemory, type MemoryOptions, openMemory } from 'agent-memory'
import { Lock } from '../dist/storage/lock.js'
import { monotonic } from '../dist/time.js'
import { beginWrite, databaseIn, openPlace } from './fixtures/places.ts'
import { emptyDirectory, testProgram, write } from './fixtures/scratch.ts'

const formats = ['json', 'sqlite'] as const
const lockTimeout = { atHead: 60_000, total: 60_000 }

type RecordsSettings = NonNullable<NonNullable<MemoryOptions['settings']>['records']>

async function records(settings: RecordsSettings = {}, options: Partial<MemoryOptions> = {}) {
  const directory = join(emptyDirectory(), 'memories')
  const memory = await openMemory({
    allow: [],
    toolsets: ['records'],
    settings: { records: { directory, ...settings } },
    durability: 'relaxed',
    ...options,
  })
  return { directory, memory }
}

/** The result of a call. Fails if the call has an error. */
async function resultOf(memory: AgentMemory, name: string, input: object = {}): Promise<any> {
  const outcome = await memory.call(name, input)
  assert.ok(!outcome.isError, `${name}: ${JSON.stringify(outcome)}`)
  return outcome.result
}

for (const format of formats) {
  test(`every tool of records works in \`${format}\``, async () => {
    const { directory, memory } = await records({ format })
    assert.ok(!existsSync(directory), 'the directory is created by the first change')
    const core = await resultOf(memory, 'add_core_memory', { content: 'Prefers pytest \ufffd over unittest.' })
    await resultOf(memory, 'add_recent_learning', { content: 'SQLite has a lock.' })
    await resultOf(memory, 'add_recent_task', { content: 'Wrote the host.' })
    const stored = await resultOf(memory, 'store_memory', { type: 'task', content: 'To be changed.', tags: ['host'] })
    await resultOf(memory, 'update_memory', { id: stored.id, content: 'Changed.' })
    const found = await resultOf(memory, 'query_memories', { search: 'pytest' })
    assert.equal(found.memories[0].content, 'Prefers pytest \ufffd over unittest.')
    assert.equal((await resultOf(memory, 'query_memories', {})).total, 4)
    await resultOf(memory, 'recall_context', {})
    await resultOf(memory, 'delete_memory', { id: core.id, permanent: true })
    const stats = await resultOf(memory, 'get_memory_stats', {})
    assert.equal(JSON.stringify(stats).includes('3'), true)
    assert.deepEqual((await memory.readResource('memory://stats')).isError, false)
    await assert.rejects(memory.readResource('memory://nothing/at/all'), { code: 'not-found' })
    await memory.close()

    const names = readdirSync(directory)
    const expected = {
      json: ['.agent-memory', 'default.json', 'default.json.backup'],
      sqlite: ['.agent-memory', 'memories.db'],
    }
    assert.deepEqual(names.sort(), expected[format])
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
      assert.equal(statSync(join(directory, name)).mode & 0o077, 0, name)
    }
  })

  test(`concurrent calls of two memories lose nothing in \`${format}\``, async () => {
    const { directory, memory } = await records({ format }, { workers: 2 })
    const other = await openMemory({
      allow: [],
      toolsets: ['records'],
      settings: { records: { directory, format } },
      workers: 2,
    })
    const numbers = Array.from({ length: 20 }, (_, n) => n)
    await Promise.all(
      numbers.map((n) => resultOf(n % 2 ? memory : other, 'store_memory', { type: 'task', content: `number ${n}` })),
    )
    const { memories, total } = await resultOf(memory, 'query_memories', { limit: 100 })
    assert.equal(total, 20)
    assert.deepEqual(
      new Set(memories.map(({ content }: { content: string }) => content)),
      new Set(numbers.map((n) => `number ${n}`)),
    )
    await Promise.all([memory.close(), other.close()])
  })
}

for (const ending of ['closes it', 'ends by itself', 'ends by `process.exit`']) {
  test(`a program that ${ending} leaves the database complete in one file`, () => {
    const directory = join(emptyDirectory(), 'memories')
    const { status, stdout } = spawnSync(process.execPath, [testProgram('keep-rows.ts'), directory, ending], {
      encoding: 'utf8',
    })
    assert.deepEqual([status, stdout], [0, '.agent-memory memories.db memories.db-shm memories.db-wal\n'])
    assert.deepEqual(readdirSync(directory).sort(), ['.agent-memory', 'memories.db'])
    const database = new DatabaseSync(join(directory, 'memories.db'), { readOnly: true, timeout: 5_000 })
    assert.deepEqual({ ...database.prepare('SELECT count(*) AS kept FROM memories').get() }, { kept: 3 })
    database.close()
  })
}

test('a damaged database gives the error `CORRUPTED_DATA`', async () => {
  const { directory, memory } = await records({ format: 'sqlite' })
  write(join(directory, 'memories.db'), 'no database'.repeat(1000))
  const outcome = await memory.call('query_memories', {})
  assert.ok(outcome.isError)
  assert.match(JSON.stringify(outcome.error), /CORRUPTED_DATA.*restore it from a backup/)
  await memory.close()
})

test('writers run in the order of their calls', async () => {
  const { memory } = await records(
    { format: 'sqlite' },
    { workers: 4, clock: { now: '2025-01-20T10:00:00Z', step: 1000 } },
  )
  await Promise.all(Array.from({ length: 12 }, (_, n) => resultOf(memory, 'add_recent_task', { content: `${n}` })))
  const { memories } = await resultOf(memory, 'query_memories', {
    limit: 100,
    sort_by: 'created_at',
    sort_order: 'asc',
  })
  assert.deepEqual(
    memories.map(({ content }: { content: string }) => content),
    Array.from({ length: 12 }, (_, n) => `${n}`),
  )
  await memory.close()
})

test('a writer that times out gets the error `BUSY`, and reads do not wait', async () => {
  const { directory, memory } = await records({ format: 'sqlite' }, { lockWait: 50 })
  await resultOf(memory, 'store_memory', { type: 'core', content: 'first' })
  const holder = databaseIn(directory, { durability: 'relaxed', lockTimeout })
  holder.open(false)
  const transaction = beginWrite(holder, lockTimeout)
  const [refused, read] = await Promise.all([
    memory.call('store_memory', { type: 'core', content: 'too early' }),
    resultOf(memory, 'get_memory_stats', {}),
  ])
  assert.ok(refused.isError && read)
  assert.match(JSON.stringify(refused.error), /BUSY/)
  transaction.end()
  await resultOf(memory, 'store_memory', { type: 'core', content: 'in time' })
  await memory.close()
})

test('the database and the documents of a place have one lock', async () => {
  const { directory, memory } = await records({ format: 'sqlite' }, { lockWait: 50 })
  const lock = Lock.acquire(openPlace(directory), lockTimeout, monotonic())
  const refused = await memory.call('store_memory', { type: 'core', content: 'too early' })
  assert.ok(refused.isError)
  assert.deepEqual([refused.error.category, refused.error.code], ['busy', 'BUSY'])
  lock.release()
  await resultOf(memory, 'store_memory', { type: 'core', content: 'first' })
  assert.deepEqual(readdirSync(join(directory, '.agent-memory')), ['queue.sqlite', 'turn.sqlite'])
  assert.equal(statSync(join(directory, '.agent-memory/turn.sqlite')).mode & 0o777, 0o600)
  await memory.close()
})

test('a setting reaches the toolset', async () => {
  const { memory } = await records({ format: 'json', max_memories: 1 })
  await resultOf(memory, 'store_memory', { type: 'core', content: 'fits' })
  const refused = await memory.call('store_memory', { type: 'core', content: 'does not' })
  assert.ok(refused.isError)
  assert.equal(refused.error.category, 'limit')
  await memory.close()
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { type Memory, type MemoryOptions, openMemory } from 'agent-memory-host'
import { Database } from '../dist/storage/database/database.js'
import { grantRecords, recordsTree } from '../dist/storage/records.js'
import { Lock } from '../dist/storage/lock.js'
import { settle } from '../dist/options.js'
import { monotonic } from '../dist/time.js'
import { beside, emptyDirectory, emptyRepository, write } from './scratch.ts'

const formats = ['json', 'sqlite'] as const
const patience = { atHead: 60_000, inAll: 60_000 }

async function records(options: Partial<MemoryOptions> = {}) {
  const directory = join(emptyDirectory(), 'memories')
  const memory = await openMemory({
    allow: [],
    toolsets: ['records'],
    memoryDir: directory,
    durability: 'relaxed',
    ...options,
  })
  return { directory, memory }
}

/** What a call results in, which does not fail. */
async function done(memory: Memory, name: string, input: object = {}): Promise<any> {
  const outcome = await memory.call(name, input)
  assert.ok(!outcome.isError, `${name}: ${JSON.stringify(outcome)}`)
  return outcome.result
}

for (const recordsFormat of formats) {
  test(`every tool of records works in \`${recordsFormat}\``, async () => {
    const { directory, memory } = await records({ recordsFormat })
    assert.ok(!existsSync(directory), 'it is made when something is kept')
    const core = await done(memory, 'add_core_memory', { content: 'Prefers pytest \ufffd over unittest.' })
    await done(memory, 'add_recent_learning', { content: 'SQLite has a turn.' })
    await done(memory, 'add_recent_task', { content: 'Wrote the host.' })
    const stored = await done(memory, 'store_memory', { type: 'task', content: 'To be changed.', tags: ['host'] })
    await done(memory, 'update_memory', { id: stored.id, content: 'Changed.' })
    const found = await done(memory, 'query_memories', { search: 'pytest' })
    assert.equal(found.memories[0].content, 'Prefers pytest \ufffd over unittest.')
    assert.equal((await done(memory, 'query_memories', {})).total, 4)
    await done(memory, 'recall_context', {})
    await done(memory, 'delete_memory', { id: core.id, permanent: true })
    const stats = await done(memory, 'get_memory_stats', {})
    assert.equal(JSON.stringify(stats).includes('3'), true)
    assert.deepEqual((await memory.readResource('memory://stats')).isError, false)
    await assert.rejects(memory.readResource('memory://nothing/at/all'), { code: 'not-found' })
    await memory.close()

    const names = readdirSync(directory)
    const expected = {
      json: ['.agent-memory', 'default.json', 'default.json.backup'],
      sqlite: ['.agent-memory', 'memories.db'],
    }
    assert.deepEqual(names.sort(), expected[recordsFormat])
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
      assert.equal(statSync(join(directory, name)).mode & 0o077, 0, name)
    }
  })

  test(`calls at once lose nothing in \`${recordsFormat}\`, over two memories`, async () => {
    const { directory, memory } = await records({ recordsFormat, workers: 2 })
    const other = await openMemory({
      allow: [],
      toolsets: ['records'],
      memoryDir: directory,
      recordsFormat,
      workers: 2,
    })
    const numbers = Array.from({ length: 20 }, (_, n) => n)
    await Promise.all(
      numbers.map((n) => done(n % 2 ? memory : other, 'store_memory', { type: 'task', content: `number ${n}` })),
    )
    const { memories, total } = await done(memory, 'query_memories', { limit: 100 })
    assert.equal(total, 20)
    assert.deepEqual(
      new Set(memories.map(({ content }: { content: string }) => content)),
      new Set(numbers.map((n) => `number ${n}`)),
    )
    await Promise.all([memory.close(), other.close()])
  })
}

for (const ending of ['closes it', 'ends by itself', 'ends by `process.exit`']) {
  test(`a program that ${ending} leaves the database of its memory whole in one file`, () => {
    const directory = join(emptyDirectory(), 'memories')
    const { status, stdout } = spawnSync(process.execPath, [beside('keep-rows.ts'), directory, ending], {
      encoding: 'utf8',
    })
    assert.deepEqual([status, stdout], [0, '.agent-memory memories.db memories.db-shm memories.db-wal\n'])
    assert.deepEqual(readdirSync(directory).sort(), ['.agent-memory', 'memories.db'])
    const database = new DatabaseSync(join(directory, 'memories.db'), { readOnly: true })
    assert.deepEqual({ ...database.prepare('SELECT count(*) AS kept FROM memories').get() }, { kept: 3 })
    database.close()
  })
}

test('a damaged database is corrupted data', async () => {
  const { directory, memory } = await records({ recordsFormat: 'sqlite' })
  write(join(directory, 'memories.db'), 'no database'.repeat(1000))
  const outcome = await memory.call('query_memories', {})
  assert.ok(outcome.isError)
  assert.match(JSON.stringify(outcome.error), /CORRUPTED_DATA.*restore it from a backup/)
  await memory.close()
})

test('writers of one memory go in the order of their calls', async () => {
  const { memory } = await records({
    recordsFormat: 'sqlite',
    workers: 4,
    clock: { now: '2025-01-20T10:00:00Z', step: 1000 },
  })
  await Promise.all(Array.from({ length: 12 }, (_, n) => done(memory, 'add_recent_task', { content: `${n}` })))
  const { memories } = await done(memory, 'query_memories', { limit: 100, sort_by: 'created_at', sort_order: 'asc' })
  assert.deepEqual(
    memories.map(({ content }: { content: string }) => content),
    Array.from({ length: 12 }, (_, n) => `${n}`),
  )
  await memory.close()
})

test('a writer that loses its patience gets an outcome that says so, and reads pass by', async () => {
  const { directory, memory } = await records({ recordsFormat: 'sqlite', lockWait: 50 })
  await done(memory, 'store_memory', { type: 'core', content: 'first' })
  const holder = new Database(grantRecords(directory), { durability: 'relaxed', patience })
  holder.open(false)
  const transaction = holder.beginWrite(monotonic())
  const [refused, read] = await Promise.all([
    memory.call('store_memory', { type: 'core', content: 'too early' }),
    done(memory, 'get_memory_stats', {}),
  ])
  assert.ok(refused.isError && read)
  assert.match(JSON.stringify(refused.error), /BUSY/)
  transaction.end()
  await done(memory, 'store_memory', { type: 'core', content: 'in time' })
  await memory.close()
})

test('the lock of the documents is a lock of their own', async () => {
  const { directory, memory } = await records({ recordsFormat: 'sqlite', lockWait: 50 })
  const lock = Lock.acquire(recordsTree(grantRecords(directory)).lock, patience, monotonic())
  lock.release()
  await done(memory, 'store_memory', { type: 'core', content: 'first' })
  assert.equal(statSync(join(directory, '.agent-memory/turn.sqlite')).mode & 0o777, 0o600)
  assert.ok(!existsSync(join(directory, '.agent-memory/.gitignore')))
  await memory.close()
})

test('records are granted where they are mounted, or where their directory is named', () => {
  const grants = (options: Partial<MemoryOptions>) => settle({ allow: [], ...options }).records?.path
  assert.equal(grants({}), undefined)
  assert.equal(grants({ toolsets: ['sessions'], memoryDir: '/a/b' }), '/a/b')
  for (const toolset of ['records', 'all']) {
    assert.equal(grants({ toolsets: [toolset] }), grantRecords(join(homedir(), '.claude/agents/memories')).path)
    const home = process.env['HOME']
    process.env['HOME'] = ''
    assert.equal(grants({ toolsets: [toolset] }), undefined)
    process.env['HOME'] = home
  }
})

test('only what is set is handed to the toolset', () => {
  const toolbox = (options: Partial<MemoryOptions>) => JSON.parse(settle({ allow: [], ...options }).toolbox)
  assert.deepEqual(toolbox({}), { toolsets: ['sessions'] })
  assert.deepEqual(toolbox({ recordsFormat: 'json' }).records, { format: 'json' })
  assert.deepEqual(toolbox({ recordsMaxBytes: 1000, recordsMaxMemories: 7 }).records, {
    max_bytes: 1000,
    max_memories: 7,
  })
})

test('a directory of records that cannot be one is refused when the memory is opened', async () => {
  const repository = emptyRepository()
  for (const [memoryDir, why] of [
    [join(repository, '.git/HEAD'), /`memoryDir` .*something other than a directory/],
    ['memories', /`memoryDir` .*absolute/],
  ] as const) {
    await assert.rejects(openMemory({ allow: [], memoryDir }), { code: 'invalid-option', message: why })
  }
  const wrong = { allow: [], recordsFormat: 'xml' } as unknown as MemoryOptions
  await assert.rejects(openMemory(wrong), { message: /`recordsFormat`/ })
})

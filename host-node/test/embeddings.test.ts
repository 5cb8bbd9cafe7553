import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentMemory, type Embed, type MemoryOptions, MemoryOpenError, openMemory } from 'agent-memory'
import { QueryVectors } from '../dist/embedding.js'
import { FollowUps } from '../dist/follow-ups.js'
import { emptyDirectory } from './fixtures/scratch.ts'

const sloop = 'The sloop is moored at the pier.'

/** A memory with records in SQLite. */
const records = (directory: string, options: Partial<MemoryOptions> = {}) => {
  const settings = { records: { directory, format: 'sqlite' as const } }
  const common = { allow: [], toolsets: ['records'], durability: 'relaxed' as const, workers: 1 }
  return openMemory({ ...common, settings, embedModel: 'local', ...options })
}

async function add(memory: AgentMemory, content: string) {
  const added = await memory.call('add_core_memory', { content })
  assert.ok(!added.isError, JSON.stringify(added))
  return added
}

async function search(memory: AgentMemory, query: string) {
  const found = await memory.call('search_memory', { query })
  assert.ok(!found.isError, JSON.stringify(found))
  return found.result.hits.map(({ passage }) => passage)
}

/** The number of stored vectors. */
function vectors(directory: string): unknown {
  const file = join(directory, '.agent-memory', 'derived', 'vectors.db')
  // The file is created with the first batch of vectors.
  if (!existsSync(file)) return 0
  using database = new DatabaseSync(file, { readOnly: true, timeout: 5_000 })
  const hasTable = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'vectors'").get() !== undefined
  return hasTable ? database.prepare('SELECT count(*) AS n FROM vectors WHERE length(numbers) > 0').get()!['n'] : 0
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5)
}

/** Takes the messages on standard error until the test ends. */
function warnings(context: { mock: typeof import('node:test').mock }): string[] {
  const messages: string[] = []
  context.mock.method(console, 'error', (message: string) => messages.push(message))
  return messages
}

test('the function gets new memories after the answer, and the query of a search', async () => {
  const directory = emptyDirectory()
  const asked: (readonly string[])[] = []
  const embed: Embed = async (texts) => (asked.push(texts), texts.map(() => Float32Array.of(1, 0.5)))
  await using memory = await records(directory, { embed })
  const { followUps } = await add(memory, sloop)
  assert.deepEqual(followUps, [{ id: 'memory/43277519770809', kind: 'embedding', payload: { models: ['local'] } }])
  await until(() => vectors(directory) === 1)
  assert.deepEqual(await search(memory, 'dinghies'), [sloop])
  assert.deepEqual(asked, [[sloop], ['dinghies']])
})

test('memories of a program without the function get their vectors when another one opens them', async () => {
  const directory = emptyDirectory()
  {
    await using memory = await records(directory, { embedModel: undefined } as never)
    assert.deepEqual((await add(memory, sloop)).followUps, [])
  }
  await using memory = await records(directory, { embed: (texts) => texts.map(() => [1]) })
  await until(() => vectors(directory) === 1)
  assert.deepEqual(await search(memory, 'dinghies'), [sloop])
})

const failures: [string, Embed, RegExp][] = [
  ['rejects', () => Promise.reject(new Error('no credit')), /no credit/],
  ['answers too few vectors', () => [], /not one vector for each text/],
  ['answers no numbers', () => [['1'] as never], /no finite numbers/],
  ['answers no finite number', () => [[Number.NaN]], /no finite numbers/],
]
for (const [what, embed, says] of failures) {
  test(`memories wait for their vectors if the function ${what}`, async (context) => {
    const messages = warnings(context)
    const directory = emptyDirectory()
    await using memory = await records(directory, { embed })
    await add(memory, sloop)
    await until(() => messages.length > 0)
    assert.match(messages[0]!, /vectors of `memory\/\d+` are left for later/)
    assert.match(messages[0]!, says)
    assert.equal(vectors(directory), 0)
  })
}

test('a search answers by words if the vector of its query is wrong', async () => {
  const directory = emptyDirectory()
  const forQueries = [[[0, 0]], [[1, 0]]]
  const embed: Embed = (texts) => (texts[0] === sloop ? [[1, 0]] : forQueries.shift()!)
  await using memory = await records(directory, { embed })
  await add(memory, sloop)
  await until(() => vectors(directory) === 1)
  assert.deepEqual(await search(memory, 'dinghies'), [])
  assert.deepEqual(await search(memory, 'dinghies'), [sloop])
})

const queryFailures: [string, Embed, RegExp][] = [
  ['never answers', () => new Promise(() => {}), /no vector within 1000 ms/],
  [
    'throws',
    () => {
      throw new Error('no key')
    },
    /no key/,
  ],
]
for (const [what, ofQuery, says] of queryFailures) {
  test(`searches answer by words and do not ask the function again if it ${what}`, async (context) => {
    const messages = warnings(context)
    const directory = emptyDirectory()
    const queries: string[] = []
    const embed: Embed = (texts, options) => {
      if (texts[0] === sloop) return [[1, 0]]
      queries.push(texts[0]!)
      return ofQuery(texts, options)
    }
    await using memory = await records(directory, { embed })
    await add(memory, sloop)
    await until(() => vectors(directory) === 1)
    assert.deepEqual(await search(memory, 'dinghies'), [])
    assert.deepEqual(await search(memory, 'ships'), [])
    assert.deepEqual(await search(memory, 'sloop'), [sloop])
    assert.deepEqual([queries, messages.length], [['dinghies'], 1])
    assert.match(messages[0]!, says)
  })
}

test('the function is asked for a query again after its cool-down', async (context) => {
  const messages = warnings(context)
  const answers: Embed[] = [() => Promise.reject(new Error('no credit')), () => [[1]]]
  const embed: Embed = (texts, options) => answers.shift()!(texts, options)
  const queryVectors = new QueryVectors({ model: 'local', embed }, 20)
  const ask = () => queryVectors.of({ model: 'local', text: 'dinghies', deadlineMs: 1_000 })
  assert.equal(await ask(), undefined)
  await sleep(100)
  assert.deepEqual(await ask(), { text: 'dinghies', vector: [1] })
  assert.equal(messages.length, 1)
})

test('a function that has recovered is asked for memories without a write', async (context) => {
  const messages = warnings(context)
  const directory = emptyDirectory()
  // On this clock, each call is two minutes later: the pauses after two failures are over.
  const clock = { now: '2025-01-20T10:00:00Z', step: 120_000 }
  await using memory = await records(directory, { clock, random: { seed: 1 } })
  const { followUps } = await add(memory, sloop)
  const asked: (readonly string[])[] = []
  const embed: Embed = (texts) => {
    asked.push(texts)
    if (asked.length < 3) throw new Error('no credit')
    return [[1]]
  }
  const times = { summary: 30_000, lease: 1_000, close: 5_000, pauses: [] }
  const driver = new FollowUps(memory, undefined, times, { model: 'local', embed })
  driver.resume()
  await until(() => vectors(directory) === 1)
  await driver.close()
  assert.deepEqual([asked, followUps.length, messages.length], [[[sloop], [sloop], [sloop]], 1, 2])
})

test('a function without the name of its model is an error', async () => {
  const opened = openMemory({ allow: [], embed: () => [] })
  await assert.rejects(
    opened,
    (error) => error instanceof MemoryOpenError && /`embedModel` is missing/.test(error.message),
  )
})

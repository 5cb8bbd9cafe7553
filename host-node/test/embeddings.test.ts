import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentMemory, type Embed, type MemoryOptions, MemoryOpenError, openMemory } from 'agent-memory-host'
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
  using database = new DatabaseSync(join(directory, 'memories.db'), { readOnly: true, timeout: 5_000 })
  return database.prepare('SELECT count(*) AS n FROM vectors WHERE vector IS NOT NULL').get()!['n']
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
  assert.deepEqual(followUps, [{ id: 'records/1', kind: 'embedding', payload: { models: ['local'] } }])
  await until(() => vectors(directory) === 1)
  assert.deepEqual(await search(memory, 'boats'), [sloop])
  assert.deepEqual(asked, [[sloop], ['boats']])
})

test('memories of a program without the function get their vectors when another one opens them', async () => {
  const directory = emptyDirectory()
  {
    await using memory = await records(directory, { embedModel: undefined } as never)
    assert.deepEqual((await add(memory, sloop)).followUps, [])
  }
  await using memory = await records(directory, { embed: (texts) => texts.map(() => [1]) })
  await until(() => vectors(directory) === 1)
  assert.deepEqual(await search(memory, 'boats'), [sloop])
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
    assert.match(messages[0]!, /vectors of `records\/1` are left for later/)
    assert.match(messages[0]!, says)
    assert.equal(vectors(directory), 0)
  })
}

test('a search answers by words if the vector of its query is late or wrong', async (context) => {
  const messages = warnings(context)
  const directory = emptyDirectory()
  const forQueries: Embed[] = [
    () => new Promise(() => {}),
    () => {
      throw new Error('no key')
    },
    () => [[0, 0]],
    () => [[1, 0]],
  ]
  const embed: Embed = (texts, options) => (texts[0] === sloop ? [[1, 0]] : forQueries.shift()!(texts, options))
  await using memory = await records(directory, { embed })
  await add(memory, sloop)
  await until(() => vectors(directory) === 1)
  for (let n = 0; n < 3; n++) assert.deepEqual(await search(memory, 'boats'), [])
  assert.deepEqual(await search(memory, 'boats'), [sloop])
  assert.deepEqual(messages.length, 2)
  assert.match(messages[0]!, /no vector within 1000 ms/)
  assert.match(messages[1]!, /no key/)
})

test('a function without the name of its model is an error', async () => {
  const opened = openMemory({ allow: [], embed: () => [] })
  await assert.rejects(
    opened,
    (error) => error instanceof MemoryOpenError && /`embedModel` is missing/.test(error.message),
  )
})

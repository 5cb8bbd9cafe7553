import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AgentMemory, type MemoryOptions, openMemory, type SummaryRequest } from 'agent-memory'
import { FollowUps, type FollowUpTimes } from '../dist/follow-ups.js'
import type { Summarize } from '../dist/summaries.js'
import { emptyDirectory, testProgram } from './fixtures/scratch.ts'

const databaseFile = () => join(emptyDirectory(), 'layers.db')

/** A memory whose recent layer holds two entries. */
const layers = (file: string, options: Partial<MemoryOptions> = {}) => {
  const settings = { layers: { file, recent_capacity: 2 } }
  return openMemory({ allow: [], toolsets: ['layers'], settings, durability: 'relaxed', workers: 1, ...options })
}

async function add(memory: AgentMemory, text: string) {
  const added = await memory.call('add_recent_memory', { agent_id: 'ada', memory: text })
  assert.ok(!added.isError, JSON.stringify(added))
  return added
}

/** Adds two memories, of which the second leaves a follow-up. Returns the outcome of the second. */
async function fill(memory: AgentMemory) {
  await add(memory, 'One.')
  return add(memory, 'Two.')
}

const rows = (file: string, query: string) => {
  using database = new DatabaseSync(file, { returnArrays: true, timeout: 5_000 })
  return database.prepare(query).all() as unknown as unknown[][]
}
const recent = (file: string) => rows(file, 'SELECT memory FROM recent_memories ORDER BY id').flat()
const compost = (file: string) =>
  rows(
    file,
    `SELECT summary, memory_compost.original_count, summarizer FROM memory_compost
      JOIN layers_summaries ON compost_id = memory_compost.id ORDER BY memory_compost.id`,
  )
const builtIn = (file: string) => {
  const [[summary, count, by] = []] = compost(file)
  return /One; Two\.$/.test(String(summary)) && count === 2 && by === 'built-in'
}

/** Resolves when the condition holds. The event loop stays alive meanwhile. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5)
}

/**
 * Opens a memory that leaves follow-ups to a model named `function`, and a `FollowUps` with its own
 * times that carries them out.
 */
async function byHand(file: string, summarize: Summarize, times: Partial<FollowUpTimes>) {
  const memory = await layers(file, { models: ['function'] })
  return {
    memory,
    driver: new FollowUps(memory, summarize, { summary: 30_000, lease: 90_000, close: 5_000, pauses: [], ...times }),
  }
}

/** Takes the messages on standard error until the test ends. */
function warnings(context: { mock: typeof import('node:test').mock }): string[] {
  const messages: string[] = []
  context.mock.method(console, 'error', (message: string) => messages.push(message))
  return messages
}

test('the function gets the memories after the answer, and its summary takes their place', async () => {
  const file = databaseFile()
  const { promise: summary, resolve } = Promise.withResolvers<string>()
  const requests: SummaryRequest[] = []
  await using memory = await layers(file, { summarize: (request) => (requests.push(request), summary) })
  const added = await fill(memory)
  assert.deepEqual([added.result.summary_pending, added.result.summarized], [true, false])
  const [followUp] = added.followUps
  assert.deepEqual([added.followUps.length, followUp!.kind], [1, 'summary'])
  assert.deepEqual(recent(file), ['One.', 'Two.'])

  await until(() => requests.length > 0)
  const { signal, instructions, ...request } = requests[0]!
  assert.deepEqual(request, {
    memories: ['One.', 'Two.'],
    maxCharacters: 1000,
    prompt: 'The memories, as data:\n["One.","Two."]',
  })
  assert.match(instructions, /^Summarise the memories/)
  assert.equal(signal.aborted, false)
  resolve('Ada counted to two.')
  await until(() => compost(file).length > 0)
  assert.deepEqual([recent(file), compost(file)], [[], [['Ada counted to two.', 2, 'function']]])
  assert.equal(requests.length, 1)
})

const failures: [string, (request: SummaryRequest) => unknown, RegExp | undefined][] = [
  ['rejects', () => Promise.reject(new Error('no credit')), /`layers\/1`: `function`: no credit/],
  [
    'throws',
    () => {
      throw new Error('no key')
    },
    /`function`: no key/,
  ],
  ['answers nothing', async () => ' \n', /`function` answered nothing/],
  ['answers no string', async () => ({ text: 'two' }), /something that is no string/],
  ['answers too much', async ({ maxCharacters }) => 'x'.repeat(maxCharacters + 1), undefined],
]
for (const [what, summarize, says] of failures) {
  test(`the built-in summary takes the place of the memories if the function ${what}`, async (context) => {
    const messages = warnings(context)
    const file = databaseFile()
    await using memory = await layers(file, { summarize: summarize as Summarize })
    await fill(memory)
    await until(() => compost(file).length > 0)
    assert.deepEqual([recent(file), builtIn(file)], [[], true])
    assert.deepEqual(messages.length, says === undefined ? 0 : 1)
    if (says) assert.match(messages[0]!, says)
  })
}

test('a function that never answers is given up, and its signal is aborted', async (context) => {
  const messages = warnings(context)
  const file = databaseFile()
  const signals: AbortSignal[] = []
  const never: Summarize = ({ signal }) => (signals.push(signal), new Promise(() => {}))
  const { memory, driver } = await byHand(file, never, { summary: 20 })
  driver.carryOut((await fill(memory)).followUps)
  await until(() => compost(file).length > 0)
  assert.deepEqual([recent(file), builtIn(file), signals.map((signal) => signal.aborted)], [[], true, [true]])
  await driver.close()
  assert.match(messages.join(), /no summary within 20 ms/)
  await memory.close()
})

test('memories that gathered meanwhile are summarised next', async () => {
  const file = databaseFile()
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>()
  const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>()
  const batches: (readonly string[])[] = []
  const summarize: Summarize = async ({ memories }) => {
    batches.push(memories)
    isAsked()
    await goesOn
    return memories.join(' ')
  }
  await using memory = await layers(file, { summarize })
  await fill(memory)
  await asked
  await add(memory, 'Three.')
  goOn()
  await until(() => compost(file).length === 1)
  const fourth = await add(memory, 'Four.')
  assert.equal(fourth.followUps.length, 1)
  await until(() => compost(file).length === 2)
  assert.deepEqual(batches, [
    ['One.', 'Two.'],
    ['Three.', 'Four.'],
  ])
  assert.deepEqual(recent(file), [])
})

test('a follow-up that meets another writer is claimed and answered again', async (context) => {
  const messages = warnings(context)
  const file = databaseFile()
  const memory = await layers(file, { models: ['function'], lockWait: 20 })
  const { followUps } = await fill(memory)
  let writer = new DatabaseSync(file, { timeout: 5_000 })
  writer.exec('BEGIN IMMEDIATE')
  const answers = { claim: [] as boolean[], answer: [] as boolean[] }
  /** Notes whether a call was refused. After the second call, the other writer ends. */
  const noted = <T extends { isError: boolean }>(calls: boolean[], outcome: T): T => {
    calls.push(outcome.isError)
    if (calls.length === 2) writer.close()
    return outcome
  }
  const stored = {
    pending: () => memory.pending(),
    claim: async (id: string, seconds: number) => noted(answers.claim, await memory.claim(id, seconds)),
    answer: async (id: string, payload: Parameters<AgentMemory['answer']>[1]) =>
      noted(answers.answer, await memory.answer(id, payload)),
  }
  const summarize: Summarize = () => {
    writer = new DatabaseSync(file, { timeout: 5_000 })
    writer.exec('BEGIN IMMEDIATE')
    return 'Ada counted to two.'
  }
  const times = { summary: 30_000, lease: 90_000, close: 5_000, pauses: [5, 10, 15] }
  const driver = new FollowUps(stored as typeof memory, summarize, times)
  driver.carryOut(followUps)
  await until(() => answers.answer.length === 3)
  await driver.close()
  await memory.close()
  assert.deepEqual(answers, { claim: [true, true, false], answer: [true, true, false] })
  assert.deepEqual([recent(file), compost(file), messages], [[], [['Ada counted to two.', 2, 'function']], []])
})

test('a follow-up that meets another writer each time is left for later', async (context) => {
  const messages = warnings(context)
  const file = databaseFile()
  const memory = await layers(file, { models: ['function'], lockWait: 20 })
  const { followUps } = await fill(memory)
  const writer = new DatabaseSync(file, { timeout: 5_000 })
  writer.exec('BEGIN IMMEDIATE')
  const times = { summary: 30_000, lease: 90_000, close: 5_000, pauses: [5, 10, 15] }
  const driver = new FollowUps(memory, () => 'Ada counted to two.', times)
  driver.carryOut(followUps)
  await until(() => messages.length > 0)
  writer.close()
  await driver.close()
  await memory.close()
  assert.match(messages.join(), /^agent-memory: the follow-up `layers\/1` is left for later: /)
  assert.deepEqual([recent(file), compost(file)], [['One.', 'Two.'], []])
})

test('closing waits for a summary in progress', async () => {
  const file = databaseFile()
  const { promise: summary, resolve } = Promise.withResolvers<string>()
  const memory = await layers(file, { summarize: () => summary })
  const added = fill(memory)
  await added
  const closing = memory.close()
  resolve('Ada counted to two.')
  await closing
  assert.deepEqual([recent(file), compost(file).length], [[], 1])
})

test('a summary that is not there in time is left for the next start', async (context) => {
  const messages = warnings(context)
  const file = databaseFile()
  const signals: AbortSignal[] = []
  const never: Summarize = ({ signal }) => (signals.push(signal), new Promise(() => {}))
  const { memory, driver } = await byHand(file, never, { close: 20 })
  driver.carryOut((await fill(memory)).followUps)
  await until(() => signals.length > 0)
  await driver.close()
  assert.deepEqual([signals[0]!.aborted, String(signals[0]!.reason)], [true, 'Error: the memory was closed'])
  await memory.close()
  assert.deepEqual([recent(file), compost(file), messages], [['One.', 'Two.'], [], []])
})

test('the next start takes up a batch whose lease has ended, and leaves one with a lease alone', async () => {
  const file = databaseFile()
  const at = (now: string) => ({ clock: { now }, random: { seed: 1 } })
  const first = await layers(file, { models: ['by hand'], ...at('2025-01-20T10:00:00Z') })
  const [followUp] = (await fill(first)).followUps
  const claims = [await first.claim(followUp!.id, 60), await first.claim(followUp!.id, 60)]
  assert.deepEqual(
    claims.map(({ result }) => result),
    [true, false],
  )
  await first.close()

  const asked: (readonly string[])[] = []
  const summarize: Summarize = ({ memories }) => (asked.push(memories), 'Ada counted to two.')
  const early = await layers(file, { summarize, ...at('2025-01-20T10:00:59Z') })
  await early.close()
  assert.deepEqual([asked, recent(file)], [[], ['One.', 'Two.']])

  const late = await layers(file, { summarize, ...at('2025-01-20T10:01:01Z') })
  await until(() => compost(file).length > 0)
  await late.close()
  assert.deepEqual(
    [asked, recent(file), compost(file)],
    [[['One.', 'Two.']], [], [['Ada counted to two.', 2, 'function']]],
  )
})

test('follow-ups are listed, claimed and answered by hand', async () => {
  const file = databaseFile()
  await using memory = await layers(file, { models: ['mine'] })
  const [followUp] = (await fill(memory)).followUps
  const { result, followUps } = await memory.pending()
  assert.deepEqual([result, followUps], [null, [followUp]])
  const answer = () => memory.answer(followUp!.id, { model: 'mine', summary: 'Ada counted to two.' })
  assert.deepEqual((await answer()).result, { applied: true, compost_id: 1, original_count: 2 })
  assert.deepEqual((await answer()).result, { applied: false })
  assert.deepEqual(compost(file), [['Ada counted to two.', 2, 'mine']])
  await assert.rejects(memory.claim('layers', 1), { code: 'not-found' })
  await assert.rejects(memory.claim(followUp!.id, 1.5), { code: 'invalid-request', message: /whole number/ })
  await assert.rejects(memory.answer('layers', { error: 'none' }), { code: 'not-found' })
  await assert.rejects(memory.answer(followUp!.id, undefined as never), { code: 'invalid-request' })
})

test('without a model the built-in summary is made within the call', async () => {
  const file = databaseFile()
  await using memory = await layers(file)
  const added = await fill(memory)
  assert.deepEqual([added.result.summarized, added.followUps, builtIn(file)], [true, [], true])
})

test('processes that share a database lose no memory and summarise none twice', async () => {
  const file = databaseFile()
  const writers = ['a', 'b'].map((name) => {
    const child = spawn(process.execPath, [testProgram('summarise-adds.ts'), file, name, '20'], { stdio: 'inherit' })
    return new Promise((resolve) => child.once('exit', resolve))
  })
  assert.deepEqual(await Promise.all(writers), [0, 0])
  const summarised = rows(file, 'SELECT summary FROM memory_compost').flatMap(([summary]) =>
    [...String(summary).matchAll(/[ab]-\d+/g)].map(([memory]) => memory),
  )
  const all = ['a', 'b'].flatMap((name) => Array.from({ length: 20 }, (_, n) => `${name}-${n}`))
  assert.deepEqual([...summarised, ...recent(file)].sort(), all.sort())
  const [[count] = []] = rows(file, 'SELECT sum(original_count) FROM memory_compost')
  assert.equal(count, summarised.length)
})

test('neither a summary nor a lease keeps the process alive', () => {
  const program = `
    import { openMemory } from 'agent-memory'
    const { promise: asked, resolve } = Promise.withResolvers()
    const options = { settings: { layers: { file: process.argv[1], recent_capacity: 2 } }, workers: 1 }
    const summarize = () => (resolve(), new Promise(() => {}))
    const opened = await openMemory({ allow: [], toolsets: ['layers'], ...options, summarize })
    for (const memory of ['One.', 'Two.']) await opened.call('add_recent_memory', { agent_id: 'ada', memory })
    await asked
    // The one worker has answered everything, so any timer is one of the summary or of the next look.
    console.log(process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length)`
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program, databaseFile()], {
    cwd: join(testProgram('.'), '../..'),
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.deepEqual([stdout, status], ['0\n', 0])
})

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, mock, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { MemoryCallError, type MemoryCallErrorCode, type Outcome } from 'agent-memory'
import { openComponent } from '../dist/agent-memory.js'
import { transpileTo } from '../scripts/transpile.ts'
import type { ComponentOptions } from '../dist/options.js'
import { componentIn } from './fixtures/components.ts'
import {
  emptyDirectory,
  emptyRepository,
  holdInOtherProcess,
  isFree,
  repositoryFile,
  testProgram,
} from './fixtures/scratch.ts'

// The component of `tests/guests` has the same WIT world as the component of the product. Its tools
// misbehave.
const component = repositoryFile('target/component/wasm32-wasip2/component/agent_memory_guests.wasm')
const transpiled = repositoryFile('target/host-node-guests/')

before(async () => {
  // The host logs each trap with `console.error`, which would fill the output of the tests.
  mock.method(console, 'error', () => {})
  assert.ok(existsSync(component), 'the guests are not built: run `cargo build --release` and the Rust tests first')
  await transpileTo(component, transpiled)
})

async function guests(options: Partial<ComponentOptions> = {}) {
  const repository = emptyRepository()
  const memory = await openComponent(componentIn(pathToFileURL(transpiled)), {
    allow: [repository],
    settings: { guests: { directory: join(emptyDirectory(), 'rows') } },
    workers: 1,
    ...options,
  })
  const input = { repo_root: repository }
  return { repository, memory, call: (name: string, more = {}) => memory.call(name, { ...input, ...more }) }
}

const hostileTools: [tool: string, code: MemoryCallErrorCode, options?: Partial<ComponentOptions>][] = [
  ['panic', 'trap'],
  ['trap', 'trap'],
  ['trap-while-locked', 'trap'],
  ['spin', 'deadline', { limits: { guestTime: 1000 } }],
  ['spin-locked', 'deadline', { limits: { guestTime: 1000 } }],
  ['storm', 'storage-calls', { limits: { storageCalls: 100 } }],
  ['hoard', 'trap'],
  ['complain', 'trap'],
  ['recurse', 'trap'],
  ['recurse-in-memory', 'trap'],
  ['recurse-locked', 'trap'],
  ['babble', 'trap'],
]

for (const [tool, code, options] of hostileTools) {
  test(`after \`${tool}\` the call ends with \`${code}\`, the lock is free and the next call works`, async () => {
    const { repository, memory, call } = await guests(options)
    const ended = call(tool)
    const next = call('append', { line: 'next' })
    await assert.rejects(ended, (error) => error instanceof MemoryCallError && error.code === code)
    assert.equal((await next).isError, false)
    assert.equal(isFree(repository), true)
    await memory.close()
  })
}

test("waiting for a lock does not count as the guest's time", async () => {
  const { repository, memory, call } = await guests({ limits: { guestTime: 1000 }, lockWait: 60_000 })
  const other = await holdInOtherProcess(repository)
  const waiting = call('append', { line: 'waited' })
  await new Promise((resolve) => setTimeout(resolve, 2000))
  await other.release()
  assert.equal((await waiting).isError, false)
  await memory.close()
})

const inTransactions: [tool: string, code: MemoryCallErrorCode, options?: Partial<ComponentOptions>][] = [
  ['trap-in-transaction', 'trap'],
  ['spin-in-transaction', 'deadline', { limits: { guestTime: 1000 } }],
]

for (const [tool, code, options] of inTransactions) {
  test(`after \`${tool}\` the transaction is rolled back and the next one begins`, async () => {
    const { memory, call } = await guests(options)
    assert.deepEqual(await addRow(call), 1)
    await assert.rejects(call(tool), { code })
    assert.deepEqual(await addRow(call), 2)
    await memory.close()
  })
}

test('a call can lock after a transaction, and can begin a transaction under its writer', async () => {
  const { memory, call } = await guests()
  for (const tool of ['lock-after-rollback', 'lock-after-commit', 'write-under-lock']) {
    const outcome = await call(tool)
    assert.ok(!outcome.isError, `${tool}: ${JSON.stringify(outcome)}`)
  }
  assert.deepEqual(await addRow(call), 3)
  await memory.close()
})

for (const [tool, code] of [
  ['attach', 'NotGranted'],
  ['lock-in-transaction', 'Nested'],
  ['lock-two-places', 'Nested'],
  ['transact-twice', 'Nested'],
  ['go-on-after-error', 'Io'],
] as const) {
  test(`\`${tool}\` is refused, and the next transaction begins`, async () => {
    const { memory, call } = await guests()
    const outcome = await call(tool)
    assert.ok(outcome.isError)
    assert.match(String(outcome.error.code), new RegExp(code))
    assert.deepEqual(await addRow(call), 1)
    await memory.close()
  })
}

/** Adds a row, and returns the number of rows. */
async function addRow(call: (tool: string) => Promise<Outcome>): Promise<number> {
  const outcome = await call('add-row')
  assert.ok(!outcome.isError, JSON.stringify(outcome))
  return (outcome.result as { rows: number }).rows
}

test('concurrent write transactions run in the order of their calls', async () => {
  const { memory, call } = await guests({ workers: 4 })
  const rows = await Promise.all(Array.from({ length: 12 }, () => addRow(call)))
  assert.deepEqual(
    rows,
    Array.from({ length: 12 }, (_, n) => n + 1),
  )
  await memory.close()
})

test('a statement that does not end is given up, and holds up only writers of its database', () => {
  // The statement runs in another process, which is killed: a process cannot end while a thread runs SQLite.
  const { stdout, stderr } = spawnSync(process.execPath, [testProgram('endless-statement.ts'), transpiled], {
    encoding: 'utf8',
    timeout: 120_000,
    killSignal: 'SIGKILL',
  })
  assert.equal(stdout, 'deadline\nread\nbusy\nclosed\n', stderr)
})

const rounds = 4
const warmUpRounds = 2
const mebibyte = 1024 * 1024

/** The expected end of each call. Large results are allowed if they fit in the memory of a call. */
const runaways: [tool: string, expected: MemoryCallErrorCode | 'result' | 'refusal'][] = [
  ...hostileTools.map(([tool, code]): [string, MemoryCallErrorCode] => [tool, code]),
  ['grow', 'result'],
  ['flood', 'result'],
  ['vast-result', 'result'],
  ['vast-error', 'refusal'],
  ['vast-failure', 'invalid-request'],
]

test('runaway calls do not disturb other calls, and their memory is freed', async () => {
  const longLimits = { limits: { guestTime: 60_000, storageCalls: 2000 }, workers: 2 }
  const { repository, memory, call } = await guests(longLimits)
  const shortLimits = await guests({ allow: [repository], limits: { guestTime: 1000 } })
  const before = process.memoryUsage.rss()
  let warmedUp = 0
  for (let round = 1; round <= rounds; round++) {
    for (const [tool, expected] of runaways) {
      const host = tool.startsWith('spin') ? shortLimits : { call }
      const ended = host.call(tool, { repo_root: repository }).then(
        (outcome) => (outcome.isError ? 'refusal' : 'result'),
        (error) => (error instanceof MemoryCallError ? error.code : String(error)),
      )
      const beside = await Promise.all([call('count'), call('read'), call('count')])
      assert.ok(beside.every((outcome) => !outcome.isError))
      assert.equal(await ended, expected, tool)
      assert.equal((await call('append', { line: tool })).isError, false)
    }
    if (round === warmUpRounds) warmedUp = process.memoryUsage.rss()
  }
  // Enough for all copies of one answer of 80 MiB, which are not collected yet.
  const bound = warmedUp + 256 * mebibyte
  let after = process.memoryUsage.rss()
  // Garbage is freed at some time, and a leak is not. So try again until V8 has collected the garbage.
  for (let tries = 0; after >= bound && tries < 40; tries++) {
    assert.equal((await call('vast-result', { repo_root: repository })).isError, false)
    await sleep(250)
    after = process.memoryUsage.rss()
  }
  const most = process.resourceUsage().maxRSS * 1024
  console.log('resident memory in MiB:', {
    before: Math.round(before / mebibyte),
    warmedUp: Math.round(warmedUp / mebibyte),
    after: Math.round(after / mebibyte),
    most: Math.round(most / mebibyte),
  })
  assert.ok(after < bound, 'memory is leaked')
  // Far less than a component without a limit could use. The rest depends on when V8 collects garbage.
  assert.ok(most < before + 2048 * mebibyte, 'one call takes too much memory')
  await memory.close()
  await shortLimits.memory.close()
})

test('the error of a panic has its message', async () => {
  const { memory, call } = await guests()
  await assert.rejects(call('panic'), /the guest panics/)
  await memory.close()
})

test('linear memory is limited', async () => {
  const { memory, call } = await guests({ limits: { memory: 32 * 1024 * 1024 } })
  const outcome = await call('grow')
  assert.ok(!outcome.isError)
  assert.ok((outcome.result as { pages: number }).pages <= 512)
  await assert.rejects(call('flood'), { code: 'memory' })
  await memory.close()
})

test('two calls share no linear memory', async () => {
  const { memory, call } = await guests()
  const outcomes = [await call('count'), await call('count')]
  assert.deepEqual(
    outcomes.map((outcome) => !outcome.isError && outcome.result),
    [{ count: 1 }, { count: 1 }],
  )
  await memory.close()
})

test('a call cannot have two writers at a time', async () => {
  const { memory, call } = await guests()
  const outcome = await call('lock-twice')
  assert.ok(outcome.isError)
  assert.match(String(outcome.error.code), /nested/i)
  await memory.close()
})

test('a database is not granted if its place is not', async () => {
  const { memory, call } = await guests({ settings: {} })
  const outcome = await call('probe-database')
  assert.ok(outcome.isError)
  assert.match(String(outcome.error.code), /not-?granted/i)
  await memory.close()
})

test('a backup is made in the commit that changes the document', async () => {
  const { repository, memory, call } = await guests()
  const missing = await call('keep')
  assert.match(String(missing.isError && missing.error.code), /version-?mismatch/i)
  await call('append', { line: 'kept' })
  assert.equal((await call('keep')).isError, false)
  const text = (name: string) => readFileSync(join(repository, '.github/agent-memory/guest', name), 'utf8')
  assert.deepEqual([text('lines.txt.backup'), text('lines.txt')], ['kept\n', ''])
  await memory.close()
})

test('each call has its own time and seed, and writers run in the order of their calls', async () => {
  const { repository, memory, call } = await guests({
    workers: 4,
    clock: { now: '2025-01-20T10:00:00Z', step: 1000 },
    random: { seed: 2n ** 64n - 1n },
  })
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, n) => call('append', { line: `${n}` })))
  assert.deepEqual(outcomes[1], {
    isError: false,
    result: { now: Date.parse('2025-01-20T10:00:01.000Z'), seed: 0 },
    changed: [],
    followUps: [],
  })
  const lines = readFileSync(join(repository, '.github/agent-memory/guest/lines.txt'), 'utf8')
    .trim()
    .split('\n')
    .map(Number)
  assert.deepEqual(
    lines,
    Array.from({ length: 20 }, (_, n) => n),
  )
  await memory.close()
})

test('a tool that writes although it is described as read-only waits for the lock as well', async () => {
  const { repository, memory, call } = await guests({ workers: 2, random: { seed: 0 } })
  const lines = ['a', 'b', 'c', 'd']
  const tools = ['append', 'append-without-lock']
  const outcomes = await Promise.all(lines.map((line, n) => call(tools[n % 2]!, { line })))
  assert.deepEqual(
    outcomes.map((outcome) => !outcome.isError && (outcome.result as { seed: number }).seed),
    [0, 1, 2, 3],
  )
  const written = readFileSync(join(repository, '.github/agent-memory/guest/lines.txt'), 'utf8').trim().split('\n')
  assert.deepEqual(written.toSorted(), lines, 'none is lost')
  assert.ok(written.indexOf('a') < written.indexOf('c'))
  await memory.close()
})

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { MemoryCallError, type MemoryCallErrorCode, type MemoryOptions } from 'agent-memory-host'
import { openComponent } from '../dist/memory.js'
import { transpileTo } from '../scripts/transpile.ts'
import { beside, emptyRepository, heldElsewhere, isFree } from './scratch.ts'

// The guests of tests/guests: a component of the product's world that misbehaves on request.
const component = beside('../../target/component/wasm32-wasip2/component/agent_memory_guests.wasm')
const transpiled = beside('../../target/host-node-guests/')

before(async () => {
  assert.ok(existsSync(component), 'the guests are not built: run `cargo build --release` and the Rust tests first')
  await transpileTo(component, transpiled)
})

async function guests(options: Partial<MemoryOptions> = {}) {
  const repository = emptyRepository()
  const memory = await openComponent(pathToFileURL(transpiled), { allow: [repository], workers: 1, ...options })
  const input = { repo_root: repository }
  return { repository, memory, call: (name: string, more = {}) => memory.call(name, { ...input, ...more }) }
}

const misdeeds: [tool: string, code: MemoryCallErrorCode, options?: Partial<MemoryOptions>][] = [
  ['panic', 'trap'],
  ['trap', 'trap'],
  ['trap-while-locked', 'trap'],
  ['spin', 'deadline', { limits: { guestTime: 200 } }],
  ['spin-locked', 'deadline', { limits: { guestTime: 200 } }],
  ['storm', 'storage-calls', { limits: { storageCalls: 100 } }],
  ['hoard', 'trap'],
]

for (const [tool, code, options] of misdeeds) {
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

test('waiting for a lock does not count as time of the guest', async () => {
  const { repository, memory, call } = await guests({ limits: { guestTime: 200 } })
  const other = await heldElsewhere(repository)
  const waiting = call('append', { line: 'waited' })
  await new Promise((resolve) => setTimeout(resolve, 1000))
  await other.release()
  assert.equal((await waiting).isError, false)
  await memory.close()
})

test('a panic says why', async () => {
  const { memory, call } = await guests()
  await assert.rejects(call('panic'), /the guest panics/)
  await memory.close()
})

test('memory is capped', async () => {
  const { memory, call } = await guests({ limits: { memory: 32 * 1024 * 1024 } })
  const outcome = await call('grow')
  assert.ok(!outcome.isError)
  assert.ok((outcome.result as { pages: number }).pages <= 512)
  await assert.rejects(call('flood'), { code: 'memory' })
  await memory.close()
})

test('two calls share no memory of the guest', async () => {
  const { memory, call } = await guests()
  const outcomes = [await call('count'), await call('count')]
  assert.deepEqual(
    outcomes.map((outcome) => !outcome.isError && outcome.result),
    [{ count: 1 }, { count: 1 }],
  )
  await memory.close()
})

test('a call takes at most one writer', async () => {
  const { memory, call } = await guests()
  const outcome = await call('lock-twice')
  assert.ok(outcome.isError)
  assert.match(String(outcome.error.error), /nested/i)
  await memory.close()
})

test('no database is granted', async () => {
  const { memory, call } = await guests()
  const outcome = await call('probe-database')
  assert.ok(outcome.isError)
  assert.match(String(outcome.error.error), /not-?granted/i)
  await memory.close()
})

test('a backup is made in the commit that changes the document', async () => {
  const { repository, memory, call } = await guests()
  const missing = await call('keep')
  assert.match(String(missing.isError && missing.error.error), /version-?mismatch/i)
  await call('append', { line: 'kept' })
  assert.equal((await call('keep')).isError, false)
  const text = (name: string) => readFileSync(join(repository, '.github/agent-memory/guest', name), 'utf8')
  assert.deepEqual([text('lines.txt.backup'), text('lines.txt')], ['kept\n', ''])
  await memory.close()
})

test('calls see their own number, and writers go in the order of their arrival', async () => {
  const { repository, memory, call } = await guests({
    workers: 4,
    clock: { now: '2025-01-20T10:00:00Z', step: 1000 },
    random: { seed: 2n ** 64n - 1n },
  })
  const outcomes = await Promise.all(Array.from({ length: 20 }, (_, n) => call('append', { line: `${n}` })))
  assert.deepEqual(outcomes[1], {
    isError: false,
    result: { now: '2025-01-20T10:00:01.000Z', seed: 0 },
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

test('a tool that says it only reads, and writes, takes its turn as well', async () => {
  const { memory, call } = await guests({ workers: 2 })
  const outcomes = await Promise.all([call('append', { line: 'a' }), call('append-without-lock', { line: 'b' })])
  assert.deepEqual(
    outcomes.map((outcome) => outcome.isError),
    [false, false],
  )
  await memory.close()
})

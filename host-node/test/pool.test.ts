import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import threads from 'node:worker_threads'
import { SharedState } from '../dist/shared-state.js'
import { Lock } from '../dist/storage/lock.js'
import { monotonic } from '../dist/time.js'
import { CallStorage, EndOfRun } from '../dist/worker/call.js'
import { openComponent } from '../dist/agent-memory.js'
import type { ComponentOptions } from '../dist/options.js'
import { componentIn, componentOf, guest, type HostImports } from './fixtures/components.ts'
import { databaseIn, newPlaces, openPlace, openRepository } from './fixtures/places.ts'
import { emptyRepository, write } from './fixtures/scratch.ts'

/** The running worker threads. It is kept up to date until the test ends. */
function countedThreads(context: TestContext): Set<threads.Worker> {
  const running = new Set<threads.Worker>()
  const { Worker } = threads
  threads.Worker = class extends Worker {
    constructor(...parameters: ConstructorParameters<typeof Worker>) {
      super(...parameters)
      running.add(this)
      this.once('exit', () => running.delete(this))
    }
  }
  syncBuiltinESMExports()
  context.after(() => {
    threads.Worker = Worker
    syncBuiltinESMExports()
  })
  return running
}

const nothing = () => 'done'

/** Locks a repository, and releases the lock after some milliseconds. */
function lock({ repo, holdFor = 0 }: { repo: string; holdFor?: number }, { documents }: HostImports) {
  const writer = documents.open({ tag: 'repository', val: repo }).lock(undefined)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, holdFor)
  ;(writer as any)[Symbol.dispose]()
  return 'locked'
}

test('opening a memory starts no thread and does not run the component', async (context) => {
  const running = countedThreads(context)
  const component = componentOf({ nothing })
  write(fileURLToPath(new URL('component.js', component)), 'throw new Error("it was run")')
  const memory = await openComponent(componentIn(component), { allow: [] })
  assert.deepEqual([memory.tools.map(({ name }) => name), running.size], [['nothing'], 0])
  await memory.close()
})

test('threads start when they are needed and end with `close`', async (context) => {
  const running = countedThreads(context)
  const { memory, call } = await guest({ nothing }, { workers: 3 })
  await call('nothing')
  assert.equal(running.size, 1)
  await Promise.all(Array.from({ length: 12 }, () => call('nothing')))
  assert.equal(running.size, 3)
  await memory.close()
  assert.equal(running.size, 0)
})

/** Opens memories of one component, each with its own repository. */
async function openSeveral(count: number, options: Partial<ComponentOptions> = {}) {
  const component = componentIn(componentOf({ lock, nothing, endure: wait }))
  const repositories = Array.from({ length: count }, emptyRepository)
  const open = (repository: string) => openComponent(component, { allow: [repository], workers: 1, ...options })
  const memories = await Promise.all(repositories.map(open))
  const call = async (index: number, tool: string, input: object = {}): Promise<unknown> => {
    const outcome = await memories[index]!.call(tool, input)
    return outcome.isError ? outcome.error.code : outcome.result
  }
  return { repositories, memories, call }
}

function wait({ milliseconds }: { milliseconds: number }) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
  return 'waited'
}

test('memories share threads, which end with the last one', async (context) => {
  const running = countedThreads(context)
  const { memories, call } = await openSeveral(10)
  for (let index = 0; index < 10; index++) assert.equal(await call(index, 'nothing'), 'done')
  assert.equal(running.size, 1)
  for (const memory of memories.slice(1)) await memory.close()
  assert.equal(await call(0, 'nothing'), 'done')
  assert.equal(running.size, 1)
  await memories[0]!.close()
  assert.equal(running.size, 0)
})

test('on a shared thread, each memory reaches what it was granted itself', async (context) => {
  const running = countedThreads(context)
  const { repositories, memories, call } = await openSeveral(6)
  for (let index = 0; index < 6; index++) {
    for (const [owner, repo] of repositories.entries())
      assert.equal(await call(index, 'lock', { repo }), owner === index ? 'locked' : 'not-granted')
  }
  assert.equal(running.size, 1)
  await Promise.all(memories.map((memory) => memory.close()))
})

test('closing a memory waits for no call of another, and stops none', async () => {
  const { memories, call } = await openSeveral(2)
  await call(0, 'nothing')
  await call(1, 'nothing')
  const running = call(1, 'endure', { milliseconds: 1000 })
  assert.equal(await Promise.race([running, memories[0]!.close().then(() => 'closed')]), 'closed')
  assert.equal(await running, 'waited')
  assert.equal(await call(1, 'nothing'), 'done')
  await memories[1]!.close()
})

test('a lock that is stuck for one memory holds up no other', async () => {
  const { repositories, memories, call } = await openSeveral(2, { lockWait: 60_000 })
  const stuck = Lock.acquire(openRepository(repositories[0]!), { atHead: 0, total: 0 }, monotonic())
  const waiting = Array.from({ length: 6 }, () => call(0, 'lock', { repo: repositories[0] }))
  assert.equal(await call(1, 'lock', { repo: repositories[1] }), 'locked')
  stuck.release()
  assert.deepEqual(await Promise.all(waiting), Array(6).fill('locked'))
  await Promise.all(memories.map((memory) => memory.close()))
})

test('waiting calls use additional threads, at most four times `workers`', async (context) => {
  const running = countedThreads(context)
  const repositories = Array.from({ length: 5 }, emptyRepository)
  const locks = repositories.map((repository) => {
    return Lock.acquire(openRepository(repository), { atHead: 0, total: 0 }, monotonic())
  })
  const { memory, call } = await guest({ lock, nothing }, { allow: repositories, lockWait: 60_000 })
  const [last, ...first] = repositories
  const waiting = first.map((repo) => call('lock', { repo }))
  // Four waiting threads and the one worker.
  assert.equal(await call('nothing'), 'done')
  assert.equal(running.size, 5)
  waiting.push(call('lock', { repo: last }))
  let isDone = false
  const read = call('nothing').then(() => (isDone = true))
  await sleep(300)
  assert.deepEqual([running.size, isDone], [5, false], 'the fifth waiting call uses the one worker')
  for (const lock of locks) lock.release()
  assert.deepEqual(await Promise.all(waiting), Array(5).fill('locked'))
  await read
  await memory.close()
})

test('a call is ended when it has used its processor time, and before it has used twice as much', async () => {
  const spin = () => {
    for (;;);
  }
  const { memory, call } = await guest({ spin, nothing }, { limits: { guestTime: 1000 } })
  const before = process.cpuUsage()
  await assert.rejects(call('spin'), { code: 'deadline', message: /more than 1000 ms/ })
  const { user, system } = process.cpuUsage(before)
  const used = (user + system) / 1000
  assert.ok(used >= 1000 && used < 2000, `${used} ms`)
  assert.equal(await call('nothing'), 'done')
  await memory.close()
})

test('a call may make as many storage calls as its limit, and not one more', () => {
  const settings = { storageCalls: 3 } as ConstructorParameters<typeof CallStorage>[0]
  const databases = undefined as unknown as ConstructorParameters<typeof CallStorage>[3]
  const places = newPlaces()
  const call = new CallStorage(settings, new SharedState(), () => {}, databases, { mayLock: false }, places)
  for (let n = 0; n < 3; n++)
    assert.equal(
      call.run(() => n),
      n,
    )
  assert.throws(
    () => call.run(nothing),
    (error) => {
      const { report } = error as EndOfRun
      return report.kind === 'ended' && report.reason === 'storage-calls' && /more than 3 times/.test(report.message)
    },
  )
})

/** Runs a statement of some seconds in a transaction, and then commits. */
function endure({ rows }: { rows: number }, { database }: HostImports) {
  const connection = database.open({ tag: 'named', val: { label: 'guest', name: '' } }, 'kept.db', 'kept', true)
  const transaction = connection.begin({ tag: 'write', val: undefined })
  const count = `WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT ${rows}) SELECT count(*) FROM n`
  const sql = (sql: string) => ({ sql, parameters: [] })
  transaction.execute([sql('CREATE TABLE t (x)'), sql(`INSERT INTO t ${count}`)])
  transaction.commit()
  return 'kept'
}

test('a thread that is given up ends with its statement, and its changes are rolled back', async (context) => {
  const running = countedThreads(context)
  const { directory, memory, call } = await guest({ endure, nothing }, { limits: { statementTime: 200 } })
  await assert.rejects(call('endure', { rows: 20_000_000 }), {
    code: 'deadline',
    message: /statement on a database ran for more than 200 ms/,
  })
  assert.equal(await call('nothing'), 'done')
  assert.equal(running.size, 2, 'its thread is not over, and its place is free')
  for (let tries = 0; running.size > 1 && tries < 3000; tries++) await sleep(20)
  assert.equal(running.size, 1)
  const lock = openPlace(directory)
  Lock.acquire(lock, { atHead: 0, total: 0 }, monotonic()).release()
  const options = { durability: 'full', lockTimeout: { atHead: 0, total: 0 } } as const
  const database = databaseIn(directory, options, 'kept.db')
  database.open(false)
  assert.throws(() => database.query({ sql: 'SELECT * FROM t', parameters: [] }, 1), { message: /no such table/ })
  database.close()
  await memory.close()
})

test('a trap gives its cause in the error and once on standard error', async (context) => {
  const said = context.mock.method(console, 'error', () => {})
  const fail = () => {
    throw new Error('for this reason')
  }
  const { memory, call } = await guest({ fail, nothing })
  await assert.rejects(call('fail'), { code: 'trap', message: /the component ended: .*for this reason/ })
  assert.deepEqual(
    said.mock.calls.map(({ arguments: [text] }) => text),
    ['agent-memory: the component ended: Error: for this reason'],
  )
  await assert.rejects(memory.readResource('memory://nothing'), { code: 'trap' })
  assert.equal(await call('nothing'), 'done')
  await memory.close()
})

test('the context of a call has its time, time zone, settings, models and a seed of its own', async () => {
  const context = (_: unknown, { context }: HostImports) => ({
    ...context,
    types: [typeof context.now, typeof context.seed],
  })
  const fixed = await guest(
    { context },
    { clock: { now: '2025-01-20T10:00:00Z', step: 5 }, random: { seed: -1 }, utcOffset: -90, models: ['mine'] },
  )
  const settings = { toolsets: ['guest'], ofToolsets: [] }
  const common = { settings, zone: { offsetMinutes: -90, changes: [] }, models: ['mine'], types: ['bigint', 'bigint'] }
  const now = Date.parse('2025-01-20T10:00:00Z')
  assert.deepEqual(await fixed.call('context'), { ...common, now: `${now}`, seed: `${2n ** 64n - 1n}` })
  assert.deepEqual(await fixed.call('context'), { ...common, now: `${now + 5}`, seed: '0' })
  const { memory, call } = await guest({ context })
  const [first, second] = [await call('context'), await call('context')]
  assert.notEqual(first.seed, second.seed)
  assert.ok(Math.abs(Number(second.now) - Date.now()) < 60_000)
  await Promise.all([memory.close(), fixed.memory.close()])
})

test("a tool's error has a category, a code, a message and the toolset's JSON", async () => {
  const missing = (_: unknown, { documents }: HostImports) => {
    documents.open({ tag: 'repository', val: '/nowhere/at/all' })
  }
  const { memory } = await guest({ missing })
  const outcome = await memory.call('missing' as string, {})
  assert.ok(outcome.isError)
  const { category, code, message } = outcome.error
  assert.deepEqual([category, code], ['storage', 'not-granted'])
  assert.match(message, /is not granted/)
  assert.deepEqual(outcome.result, { code, message })
  assert.ok(!existsSync(join('/nowhere')))
  await memory.close()
})

test('a writer that takes its lock again keeps its place in the queue', async () => {
  const repo = emptyRepository()
  const twice = (input: any, imports: HostImports) => {
    for (let n = 0; n < 2; n++) {
      const writer = imports.documents.open({ tag: 'repository', val: input.repo }).lock(undefined)
      const tree = imports.documents.open({ tag: 'repository', val: input.repo })
      const before = tree.read('documents', 'a', 100n)
      const contents = new TextEncoder().encode(new TextDecoder().decode(before?.contents) + input.letter)
      const put = { area: 'documents' as const, path: 'a', contents, ...(before && { expects: before.version }) }
      writer.commit([{ tag: 'put', val: put }])
      ;(writer as any)[Symbol.dispose]()
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    }
  }
  const read = (input: any, { documents }: HostImports) => {
    const tree = documents.open({ tag: 'repository', val: input.repo })
    return new TextDecoder().decode(tree.read('documents', 'a', 100n)!.contents)
  }
  const { memory, call } = await guest({ twice, read }, { allow: [repo], workers: 4 })
  await Promise.all(['a', 'b', 'c'].map((letter) => call('twice', { repo, letter })))
  assert.equal(await call('read', { repo }), 'aabbcc')
  await memory.close()
})

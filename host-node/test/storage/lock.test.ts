import assert from 'node:assert/strict'
import { chmodSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Lock } from '../../dist/storage/lock.js'
import { monotonic } from '../../dist/time.js'
import { openRepository } from '../fixtures/places.ts'
import {
  asNobody,
  emptyRepository,
  holdInOtherProcess,
  intercept,
  isFree,
  testProgram,
  whyNotAsNobody,
  write,
} from '../fixtures/scratch.ts'

const longTimeout = { atHead: 10_000, total: 30_000 }
const shortTimeout = { atHead: 0, total: 0 }

const acquire = (repository: string, lockTimeout = longTimeout) =>
  Lock.acquire(openRepository(repository), lockTimeout, monotonic())
const isCode = (code: string) => (error: unknown) => (error as { code?: string }).code === code

test('the lock excludes other processes and other connections of this process until it is released', () => {
  const repository = emptyRepository()
  const lock = acquire(repository)
  assert.equal(isFree(repository), false)
  assert.throws(() => acquire(repository, shortTimeout), isCode('busy'))
  assert.equal(isFree(repository), false)
  lock.release()
  assert.equal(isFree(repository), true)
})

test('a writer waits at the head of the queue for a lock of another process, and then gets `busy`', async () => {
  const repository = emptyRepository()
  const other = await holdInOtherProcess(repository)
  assert.throws(() => acquire(repository, { atHead: 50, total: 10_000 }), isCode('busy'))
  await other.release()
  acquire(repository).release()
})

test('the lock files stay empty and have no journal', () => {
  const repository = emptyRepository()
  const directory = join(repository, '.git/agent-memory')
  const lock = acquire(repository)
  assert.deepEqual(readdirSync(directory), ['queue.sqlite', 'turn.sqlite'])
  for (const name of readdirSync(directory)) assert.equal(statSync(join(directory, name)).size, 0)
  lock.release()
})

test('a lock file that is a symbolic link is refused', () => {
  const repository = emptyRepository()
  write(join(repository, 'away'), '')
  acquire(repository).release()
  rmSync(join(repository, '.git/agent-memory/turn.sqlite'))
  symlinkSync(join(repository, 'away'), join(repository, '.git/agent-memory/turn.sqlite'))
  assert.throws(() => acquire(repository), isCode('invalid-path'))
})

const whyNot = whyNotAsNobody()
for (const name of ['queue.sqlite', 'turn.sqlite']) {
  test(`a user who may only read \`${name}\` cannot take the lock`, { skip: whyNot }, () => {
    const repository = emptyRepository()
    acquire(repository).release()
    const directory = join(repository, '.git/agent-memory')
    chmodSync(repository, 0o755)
    for (const file of readdirSync(directory)) chmodSync(join(directory, file), 0o666)
    const take = () => asNobody(process.execPath, testProgram('hold-lock.ts'), repository, 'try').stdout
    assert.equal(take(), 'held')
    chmodSync(join(directory, name), 0o644)
    assert.equal(take(), 'read-only')
  })
}

test('a lock whose file was removed is no longer held', () => {
  const repository = emptyRepository()
  const lock = acquire(repository)
  assert.ok(lock.isHeld)
  rmSync(join(repository, '.git/agent-memory'), { recursive: true })
  assert.ok(!lock.isHeld)
  lock.release()
})

for (const name of ['queue.sqlite', 'turn.sqlite']) {
  test(`a lock directory that is removed just before \`${name}\` is opened is made again`, (context) => {
    const repository = emptyRepository()
    const directory = join(repository, '.git/agent-memory')
    let removed = false
    intercept(context, 'lstatSync', (path) => {
      if (removed || path !== join(directory, name)) return
      removed = true
      rmSync(directory, { recursive: true })
    })
    acquire(repository).release()
    assert.ok(removed)
    assert.deepEqual(readdirSync(directory), ['queue.sqlite', 'turn.sqlite'])
  })
}

test('a writer that waits for a lock file that is removed takes the new lock file', () => {
  const repository = emptyRepository()
  const before = acquire(repository)
  let waits = 0
  const lock = Lock.acquire(openRepository(repository), longTimeout, monotonic(), () => {
    if (waits++ > 0) return
    rmSync(join(repository, '.git/agent-memory'), { recursive: true })
    before.release()
  })
  assert.equal(waits, 1)
  assert.ok(lock.isHeld)
  assert.equal(isFree(repository), false)
  lock.release()
})

for (const moment of ['polling', 'holding', 'committing'] as const) {
  test(`a worker thread that is terminated while it is ${moment} releases the lock`, async () => {
    const repository = emptyRepository()
    const other = moment === 'polling' ? await holdInOtherProcess(repository) : undefined
    const worker = new Worker(testProgram('lock-worker.ts'), { workerData: { repository, moment } })
    await new Promise((resolve) => worker.once('message', resolve))
    // The thread goes on until it is terminated. 100 ms later it is in the middle of its work.
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.equal(isFree(repository), false)
    await worker.terminate()
    await other?.release()
    assert.equal(isFree(repository), true)
  })
}

test('a lock that is taken again opens no file, and is free in between', (context) => {
  const repository = emptyRepository()
  acquire(repository).release()
  const prepared = openRepository(repository)
  intercept(context, 'accessSync', () => assert.fail('a file is opened'))
  for (let n = 0; n < 3; n++) {
    const lock = Lock.acquire(prepared, shortTimeout, monotonic())
    assert.ok(lock.isHeld)
    lock.release()
    assert.equal(isFree(repository), true)
  }
})

test('plugins that claim a place while its lock files are open refuse the host', () => {
  const repository = emptyRepository()
  acquire(repository).release()
  const marker = join(repository, '.git/agent-memory/plugin.claim')
  write(marker, '1000000000\n')
  utimesSync(marker, 1_000_000_000, 1_000_000_000)
  assert.throws(() => acquire(repository, shortTimeout), isCode('read-only'))
  rmSync(marker)
  acquire(repository, shortTimeout).release()
})

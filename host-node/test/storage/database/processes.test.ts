import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { begin, count, shortTimeout, insert, databaseWithTable, single, sql, write } from '../../fixtures/database.ts'
import { testProgram } from '../../fixtures/scratch.ts'

/** Starts a process that inserts rows until it is killed. `committed` has the rows that it has reported. */
function writer(directory: string, first: number) {
  const child = spawn(process.execPath, [testProgram('write-rows.ts'), directory, `${first}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const committed: bigint[] = []
  const { promise: isBusy, resolve } = Promise.withResolvers<void>()
  const lines = createInterface({ input: child.stdout }).on('line', (line) => {
    committed.push(BigInt(line.slice('committed '.length)))
    if (committed.length === 20) resolve()
  })
  const ended = new Promise((resolve) => lines.once('close', resolve))
  return { committed, isBusy, kill: () => (child.kill('SIGKILL'), ended) }
}

test('committed rows survive when their process is killed', async () => {
  const { at, database } = databaseWithTable()
  const directory = dirname(at('memories.db'))
  const acknowledged: bigint[] = []
  for (let round = 0; round < 3; round++) {
    const writers = [0, 1].map((place) => writer(directory, (2 * round + place) * 1_000_000))
    for (const { committed, isBusy, kill } of writers) {
      await isBusy
      await kill()
      acknowledged.push(...committed)
    }
    database.open(false)
    write(database, insert(-1 - round))
  }
  assert.ok(acknowledged.length >= 3 * 2 * 20)
  const rows = database.query(sql('SELECT x FROM t'), 2 ** 32 - 1).rows.flat()
  const there = new Set(rows.map((value) => value.tag === 'integer' && value.val))
  assert.deepEqual(
    acknowledged.filter((number) => !there.has(number)),
    [],
  )
  assert.equal(single(database, 'PRAGMA integrity_check'), 'ok')
})

test('the transaction of a killed process is rolled back, and its lock is free', async () => {
  const { at, database, open } = databaseWithTable()
  const child = spawn(process.execPath, [testProgram('hold-database.ts'), dirname(at('memories.db'))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise((resolve) => child.stdout.once('data', resolve))
  assert.throws(() => begin(open({ lockTimeout: shortTimeout }), 'write'), { code: 'busy' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
  assert.equal(count(database), 0n)
  write(open({ lockTimeout: shortTimeout }), insert(1))
  assert.equal(single(database, 'PRAGMA integrity_check'), 'ok')
})

for (const moment of ['holding', 'waiting', 'committing', 'querying'] as const) {
  test(`a worker thread that is terminated while it is ${moment} leaves the database unlocked and undamaged`, async () => {
    const { at, database, open } = databaseWithTable()
    const writing = moment === 'waiting' ? begin(database, 'write') : undefined
    const workerData = { directory: dirname(at('memories.db')), moment }
    const worker = new Worker(testProgram('hold-database.ts'), { workerData })
    await new Promise((resolve) => worker.once('message', resolve))
    // The thread goes on until it is terminated. 100 ms later it is in the middle of its work.
    await new Promise((resolve) => setTimeout(resolve, 100))
    if (moment === 'holding') assert.throws(() => begin(open({ lockTimeout: shortTimeout }), 'write'), { code: 'busy' })
    await worker.terminate()
    writing?.end()
    const before = moment === 'committing' ? 1n : 0n
    const next = open({ lockTimeout: shortTimeout })
    assert.equal(single(next, "SELECT count(*) FROM t WHERE typeof(x) = 'integer'"), before)
    write(next, insert(1))
    assert.equal(single(database, 'PRAGMA integrity_check'), 'ok')
  })
}

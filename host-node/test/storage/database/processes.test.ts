import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { begin, count, shortTimeout, insert, databaseWithTable, single, sql, write } from '../../fixtures/database.ts'
import { testProgram } from '../../fixtures/scratch.ts'

/** Another process that writes rows until it is killed, and what it says that it has kept. */
function writer(directory: string, first: number) {
  const child = spawn(process.execPath, [testProgram('write-rows.ts'), directory, `${first}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const kept: bigint[] = []
  const { promise: isBusy, resolve } = Promise.withResolvers<void>()
  const lines = createInterface({ input: child.stdout }).on('line', (line) => {
    kept.push(BigInt(line.slice('kept '.length)))
    if (kept.length === 20) resolve()
  })
  const ended = new Promise((resolve) => lines.once('close', resolve))
  return { kept, isBusy, kill: () => (child.kill('SIGKILL'), ended) }
}

test('processes take turns, and what was acknowledged outlives those that are killed', async () => {
  const { at, database } = databaseWithTable()
  const directory = dirname(at('memories.db'))
  const acknowledged: bigint[] = []
  for (let round = 0; round < 3; round++) {
    const writers = [0, 1].map((place) => writer(directory, (2 * round + place) * 1_000_000))
    for (const { kept, isBusy, kill } of writers) {
      await isBusy
      await kill()
      acknowledged.push(...kept)
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

test('a process that is killed in a transaction leaves nothing of it, and its turn free', async () => {
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
  test(`a worker thread that is terminated while it is ${moment} leaves the database free and sound`, async () => {
    const { at, database, open } = databaseWithTable()
    const own = moment === 'waiting' ? begin(database, 'write') : undefined
    const workerData = { directory: dirname(at('memories.db')), moment }
    const worker = new Worker(testProgram('hold-database.ts'), { workerData })
    await new Promise((resolve) => worker.once('message', resolve))
    // Long enough to be in the midst of it, however slow the machine: it goes on until it is ended.
    await new Promise((resolve) => setTimeout(resolve, 100))
    if (moment === 'holding') assert.throws(() => begin(open({ lockTimeout: shortTimeout }), 'write'), { code: 'busy' })
    await worker.terminate()
    own?.end()
    const before = moment === 'committing' ? 1n : 0n
    const next = open({ lockTimeout: shortTimeout })
    assert.equal(single(next, "SELECT count(*) FROM t WHERE typeof(x) = 'integer'"), before)
    write(next, insert(1))
    assert.equal(single(database, 'PRAGMA integrity_check'), 'ok')
  })
}

import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { guest, type HostImports } from '../fixtures/components.ts'
import { emptyDirectory, emptyRepository } from '../fixtures/scratch.ts'

interface Input {
  steps: string[]
  directory: string
  repo: string
  other: string
}

/**
 * Runs steps one after another, and returns those with an unexpected result. A step is the name of an action, such as
 * `lock`, or the action and the expected error, such as `lock: nested`.
 */
function runSteps({ steps, directory, repo, other }: Input, { documents, database }: HostImports) {
  const named = { tag: 'named' as const, val: { label: 'guest', name: '' } }
  const repository = (val: string) => ({ tag: 'repository' as const, val })
  const kept = () => database.open(named, 'kept.db', 'kept', true)
  const derived = (place: Parameters<typeof documents.open>[0]) => database.open(place, 'index.db', 'derived', true)
  const [read, write] = [{ tag: 'read' as const }, { tag: 'write' as const, val: undefined }]
  const put = { area: 'documents' as const, path: 'a.md', contents: new Uint8Array() }
  const sql = (sql: string) => ({ sql, parameters: [] })
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const open: Record<string, any> = {}
  const actions: Record<string, () => unknown> = {
    lock: () => (open['writer'] = documents.open(named).lock(undefined)),
    'lock the repository': () => (open['writer'] = documents.open(repository(repo)).lock('an agent')),
    'lock the other': () => (open['writer'] = documents.open(repository(other)).lock(undefined)),
    put: () => open['writer'].commit([{ tag: 'put', val: put }]),
    delete: () => {
      const expects = documents.versionOf(put.contents)
      open['writer'].commit([{ tag: 'delete', val: { area: 'documents', path: 'a.md', expects } }])
    },
    unlock: () => open['writer'][Symbol.dispose](),
    read: () => (open['transaction'] = kept().begin(read)),
    write: () => (open['transaction'] = kept().begin(write)),
    'read derived': () => (open['transaction'] = derived(named).begin(read)),
    'write derived': () => (open['transaction'] = derived(named).begin(write)),
    'write beside the repository': () => (open['transaction'] = derived(repository(repo)).begin(write)),
    insert: () =>
      open['transaction'].execute([sql('CREATE TABLE IF NOT EXISTS t (x)'), sql('INSERT INTO t VALUES (1)')]),
    fail: () => open['transaction'].query(sql('SELECT absent'), 1),
    commit: () => open['transaction'].commit(),
    end: () => open['transaction'][Symbol.dispose](),
    // Whether another writer could take the lock of the named place.
    'is free': () => {
      const lock = new DatabaseSync(`${directory}/.agent-memory/turn.sqlite`, { timeout: 0 })
      try {
        lock.exec('BEGIN IMMEDIATE')
      } catch {
        throw { code: 'held' }
      } finally {
        lock.close()
      }
    },
  }
  return steps.flatMap((step) => {
    const [action, expected = 'ok'] = step.split(': ')
    let got = 'ok'
    try {
      actions[action!]!()
    } catch (error) {
      if (error instanceof Error) throw error
      got = (error as { code: string }).code
    }
    return got === expected ? [] : [`${step}: ${got}`]
  })
}

const cases: Record<string, string[]> = {
  'a call has one writer at a time': ['lock', 'lock: nested', 'put', 'unlock', 'lock', 'delete', 'unlock', 'is free'],
  'a call can lock one place at a time': [
    ...['lock the repository', 'lock the other: nested', 'write: nested', 'read', 'end', 'put', 'unlock'],
    ...['lock the other', 'lock: nested', 'put', 'unlock', 'write', 'insert', 'commit', 'lock', 'put', 'unlock'],
    ...['lock the repository', 'delete'],
  ],
  'a write transaction locks its place': [
    ...['write', 'lock the repository: nested', 'is free: held', 'end', 'is free', 'lock', 'is free: held'],
  ],
  'a transaction uses the lock of the writer, and the lock ends with the writer': [
    ...['lock', 'write', 'insert', 'put', 'commit', 'is free: held', 'unlock', 'is free'],
  ],
  'a transaction uses the lock of the writer, and the lock ends with the transaction': [
    ...['lock', 'write', 'put', 'unlock', 'is free: held', 'lock: nested', 'insert', 'commit', 'is free', 'lock'],
  ],
  'a call takes a writer before or after a write transaction, not during it': [
    ...['write', 'lock: nested', 'insert', 'commit', 'lock', 'put', 'write', 'insert', 'commit'],
  ],
  'a read transaction takes no lock and blocks no writer': [
    ...['lock the repository', 'write derived', 'insert', 'commit', 'read derived', 'unlock', 'lock the repository'],
    ...['put', 'end', 'unlock'],
  ],
  'a call has one transaction at a time, over all its databases': [
    ...['write', 'read: nested', 'read derived: nested', 'write derived: nested', 'end', 'write derived'],
    ...['write: nested', 'end', 'read', 'write: nested', 'end', 'write', 'commit', 'write'],
  ],
  'a statement that fails ends its transaction and releases the lock': [
    ...['write', 'insert', 'fail: io', 'is free', 'insert: io', 'commit: io', 'write', 'insert', 'commit'],
  ],
  "a derived database neither takes nor waits for a place's lock": [
    ...['write derived', 'lock the repository', 'insert', 'commit', 'unlock', 'write beside the repository', 'insert'],
    ...['commit', 'lock the repository', 'write beside the repository', 'insert', 'put', 'commit', 'lock: nested'],
  ],
}

for (const [name, steps] of Object.entries(cases)) {
  test(name, async () => {
    const [repo, other] = [emptyRepository(), emptyRepository()]
    const { directory, memory, call } = await guest({ runSteps }, { allow: [repo, other] })
    assert.deepEqual(await call('runSteps', { steps, directory, repo, other }), [])
    // Everything that the first call left open has ended.
    const after = ['lock', 'is free: held', 'unlock', 'write', 'commit', 'is free']
    assert.deepEqual(await call('runSteps', { steps: after, directory, repo, other }), [])
    await memory.close()
  })
}

/** Opens a database and inserts a row into a table. Returns the dialect and the number of rows. */
function open({ place, name, kind, create = true }: any, { database }: HostImports) {
  const connection = database.open(place, name, kind, create)
  const transaction = connection.begin({ tag: 'write', val: undefined })
  const table = { sql: 'CREATE TABLE IF NOT EXISTS t (x)', parameters: [] }
  transaction.execute([table, { sql: 'INSERT INTO t VALUES (1)', parameters: [] }])
  transaction.commit()
  const { rows } = connection.query({ sql: 'SELECT count(*) FROM t', parameters: [] }, 1)
  return [connection.dialect(), rows[0]![0]]
}

const named = { tag: 'named', val: { label: 'guest', name: '' } }
const rows = (count: number) => ['sqlite', { tag: 'integer', val: `${count}` }]

test('only a database that its place has can be opened', async () => {
  const repo = emptyRepository()
  const { memory, call } = await guest({ open }, { allow: [repo] })
  for (const [place, name, kind, code] of [
    [named, 'other.db', 'kept', 'not-granted'],
    [named, '../kept.db', 'kept', 'not-granted'],
    [{ tag: 'repository', val: repo }, 'kept.db', 'kept', 'not-granted'],
    [{ tag: 'named', val: { label: 'nowhere', name: '' } }, 'kept.db', 'kept', 'not-granted'],
    [{ tag: 'named', val: { label: 'guest', name: 'a' } }, 'kept.db', 'kept', 'invalid-path'],
    ...['', '.a', '-a', 'A.db', 'a/b', '..', 'ä', 'a.', 'con', 'a b', 'a-wal', 'a'.repeat(256)].map(
      (name) => [named, name, 'derived', 'invalid-path'] as const,
    ),
    [named, 'absent.db', 'derived', 'not-found', false],
    [named, 'kept.db', 'kept', 'not-found', false],
  ] as const) {
    const create = code !== 'not-found'
    assert.equal(await call('open', { place, name, kind, create }), code, `${name} in ${JSON.stringify(place)}`)
  }
  assert.deepEqual(await call('open', { place: named, name: 'kept.db', kind: 'kept' }), rows(1))
  assert.deepEqual(await call('open', { place: named, name: 'a.b_c-1', kind: 'derived' }), rows(1))
  assert.deepEqual(await call('open', { place: named, name: 'kept.db', kind: 'kept' }), rows(2))
  await memory.close()
})

test('a derived database is in the lock directory, and can be deleted at any time', async () => {
  const repo = emptyRepository()
  const { directory, memory, call } = await guest({ open }, { allow: [repo] })
  const repository = { tag: 'repository', val: repo }
  for (const [place, derived] of [
    [named, join(directory, '.agent-memory/derived')],
    [repository, join(repo, '.git/agent-memory/derived')],
  ] as const) {
    const index = { place, name: 'index.db', kind: 'derived' }
    assert.deepEqual([await call('open', index), await call('open', index)], [rows(1), rows(2)])
    assert.ok(existsSync(join(derived, 'index.db')))
    assert.equal(statSync(join(derived, 'index.db')).mode & 0o077, place === named ? 0 : 0o066 & ~process.umask())
    for (const name of readdirSync(derived)) rmSync(join(derived, name))
    assert.deepEqual(await call('open', index), rows(1))
    rmSync(derived, { recursive: true })
    assert.deepEqual(await call('open', { ...index, create: false }), 'not-found')
    assert.deepEqual(await call('open', index), rows(1))
  }
  assert.deepEqual(readdirSync(join(directory, '.agent-memory')), ['derived'], 'no lock file was created')
  await memory.close()
})

test('a derived database that is locked is busy at once, without a wait', async () => {
  const { directory, memory, call } = await guest({ open }, { lockWait: 60_000 })
  const index = { place: named, name: 'index.db', kind: 'derived' }
  await call('open', index)
  const other = new DatabaseSync(join(directory, '.agent-memory/derived/index.db'), { timeout: 5_000 })
  other.exec('BEGIN IMMEDIATE')
  const started = performance.now()
  assert.equal(await call('open', index), 'busy')
  assert.ok(performance.now() - started < 30_000, 'less than half of the timeout')
  other.exec('COMMIT')
  assert.deepEqual(await call('open', index), rows(2))
  other.close()
  await memory.close()
})

test('databases beyond the cache are opened again', async () => {
  const { memory, call } = await guest({ open })
  for (const count of [1, 2]) {
    for (let n = 0; n < 20; n++) {
      assert.deepEqual(await call('open', { place: named, name: `${n}`, kind: 'derived' }), rows(count))
    }
  }
  await memory.close()
})

test('a call that opens too many databases is ended', async (context) => {
  context.mock.method(console, 'error', () => {})
  const hoard = (_: unknown, { database }: HostImports) => {
    const place = { tag: 'named' as const, val: { label: 'guest', name: '' } }
    for (let n = 0; ; n++) database.open(place, `${n}`, 'derived', true)
  }
  const { directory, memory, call } = await guest({ hoard })
  await assert.rejects(call('hoard'), { code: 'trap', message: /more than 100 databases open/ })
  assert.equal(readdirSync(join(directory, '.agent-memory/derived')).length, 100)
  await memory.close()
})

test('only granted places are listed, and this host creates no place', async () => {
  const [repo, other] = [emptyRepository(), emptyDirectory()]
  writeFileSync(join(other, 'file'), '')
  const places = (_: unknown, { documents }: HostImports) => {
    const codeOf = (work: () => unknown) => {
      try {
        return work()
      } catch (error) {
        return (error as { code: string; message: string }).code
      }
    }
    const named = (label: string) => ({ tag: 'named' as const, val: label })
    return [
      documents.listPlaces({ tag: 'repository' }),
      codeOf(() => documents.listPlaces(named('guest'))),
      codeOf(() => documents.listPlaces(named('nobody'))),
      codeOf(() => documents.createPlace({ tag: 'named', val: { label: 'guest', name: 'a' } })),
      codeOf(() => documents.createPlace({ tag: 'repository', val: '/a' })),
    ]
  }
  const refused = ['not-granted', 'not-granted', 'not-granted']
  const granted = await guest({ places }, { allow: [repo, other] })
  // A directory without a `.git` may hold several repositories.
  assert.deepEqual(await granted.call('places'), [[repo], [''], ...refused])
  const none = await guest({ places }, { toolsets: [], settings: {} })
  assert.deepEqual(await none.call('places'), [[], 'not-granted', ...refused])
  await Promise.all([granted.memory.close(), none.memory.close()])
})

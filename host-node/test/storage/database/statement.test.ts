import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  begin,
  blob,
  insert,
  integer,
  storageError,
  databaseWithTable,
  single,
  sql,
  text,
  type Value,
  write,
} from '../../fixtures/database.ts'

test('a query returns the values that were inserted', () => {
  const { database } = databaseWithTable()
  const values: Value[] = [
    { tag: 'null' },
    integer(-(2n ** 63n)),
    integer(2n ** 63n - 1n),
    integer(2n ** 53n + 1n),
    { tag: 'real', val: 0.1 },
    { tag: 'real', val: 1 },
    { tag: 'real', val: Infinity },
    { tag: 'real', val: 5e-324 },
    text(''),
    text('a\0b ß \u{10ffff} \'"'),
    text('a replacement \ufffd'),
    blob(new Uint8Array()),
    blob(new Uint8Array([0, 0xff, 0x80])),
  ]
  for (const value of values) {
    const transaction = begin(database, 'write')
    const returned = transaction.query(sql('INSERT INTO t (x) VALUES (?1) RETURNING x, ?1', value), 10)
    assert.deepEqual(returned, { columns: ['x', '?1'], rows: [[value, value]], truncated: false })
    transaction.commit()
  }
  const kept = database.query(sql('SELECT x FROM t ORDER BY id'), 100)
  assert.deepEqual(kept.rows.flat(), values)
  const nan = database.query(sql('SELECT ?1', { tag: 'real', val: NaN }), 1)
  assert.deepEqual(nan.rows, [[{ tag: 'null' }]])
})

test('a query returns at most `maxRows` rows, and tells whether there are more', () => {
  const { database } = databaseWithTable()
  write(database, insert(1), insert(2), insert(3))
  for (const [max, given, truncated] of [
    [0, 0, true],
    [2, 2, true],
    [3, 3, false],
    [4, 3, false],
  ] as const) {
    const rows = database.query(sql('SELECT x FROM t'), max)
    assert.deepEqual([rows.rows.length, rows.truncated], [given, truncated])
  }
  const transaction = begin(database, 'write')
  const some = transaction.query(sql('UPDATE t SET x = x + 10 RETURNING x'), 1)
  assert.deepEqual([some.rows.length, some.truncated], [1, true])
  transaction.commit()
  assert.equal(single(database, 'SELECT min(x) FROM t'), 11n)
})

test('an effect has the number of changed rows', () => {
  const { database } = databaseWithTable()
  const effects = write(
    database,
    sql('UPDATE t SET x = 0'),
    insert(7),
    sql('INSERT INTO t (x) VALUES (?1), (?2)', integer(8), integer(9)),
    sql('CREATE TABLE u (y)'),
    sql('DELETE FROM t WHERE x > 7'),
  )
  assert.deepEqual(
    effects.map(({ changes }) => changes),
    [0n, 1n, 2n, 0n, 2n],
  )
})

test('a statement whose schema has changed is prepared again', () => {
  const { database, open } = databaseWithTable()
  write(database, insert(1))
  const all = sql('SELECT * FROM t')
  assert.deepEqual(database.query(all, 1).columns, ['id', 'x'])
  write(open(), sql('ALTER TABLE t ADD COLUMN y DEFAULT 5'))
  const { columns, rows } = database.query(all, 1)
  assert.deepEqual(columns, ['id', 'x', 'y'])
  assert.deepEqual(rows, [[integer(1), integer(1), integer(5)]])
})

const codeOf = (work: () => unknown, what?: string) => storageError(work, what).code

test('a text must have exactly one statement, with the right number of parameters', () => {
  const { database } = databaseWithTable()
  const one = integer(1)
  for (const [statement, why] of [
    [sql('SELECT 1; SELECT 2'), /one statement/],
    [sql('SELECT 1;; /* and */ SELECT'), /one statement/],
    [sql(''), /one statement/],
    [sql(' -- nothing\n'), /one statement/],
    [sql('/* nothing'), /one statement/],
    [sql('SELECT ?1'), /takes 1 parameters and was given 0/],
    [sql('SELECT ?300', one), /takes 300 parameters and was given 1/],
    [sql('SELECT 1', one), /takes 0 parameters and was given 1/],
    [sql('SELECT nothing'), /nothing/],
    [sql('SELEC'), /SELEC/],
  ] as const) {
    const error = storageError(() => database.query(statement, 1))
    assert.equal(error.code, 'io')
    assert.match(error.message, why)
  }
  for (const text of [
    'SELECT 1;',
    "SELECT 1 -- '",
    'SELECT 1; -- that is all\n ;',
    "SELECT 1 /* ; */ WHERE ';' <> ''",
  ]) {
    assert.deepEqual(database.query(sql(text), 1).rows, [[one]], text)
  }
})

test('rows or parameters of more than 16 MiB are too large', () => {
  const { database } = databaseWithTable()
  const max = 16 * 1024 * 1024 - 8
  const zeros = (bytes: number) => sql('SELECT zeroblob(?1)', integer(bytes))
  assert.equal(database.query(zeros(max), 1).rows.length, 1)
  for (const bytes of [max + 1, 1 << 30])
    assert.equal(
      codeOf(() => database.query(zeros(bytes), 1)),
      'too-large',
    )
  const many =
    'WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT zeroblob(1048568) FROM n LIMIT 17'
  assert.equal(database.query(sql(many), 16).rows.length, 16)
  assert.equal(
    codeOf(() => database.query(sql(many), 2 ** 32 - 1)),
    'too-large',
  )
  const long = sql('SELECT length(?1)', blob(new Uint8Array(max + 9)))
  assert.match(storageError(() => database.query(long, 1)).message, /parameters of a statement/)
})

test('text that is not UTF-8 is read as a blob', () => {
  const { database } = databaseWithTable()
  const bytes = (...values: number[]) => ({ tag: 'blob', val: Uint8Array.from(values) })
  assert.deepEqual(database.query(sql("SELECT CAST(x'ff' AS TEXT)"), 1).rows, [[bytes(0xff)]])
  assert.deepEqual(database.query(sql("SELECT 1, CAST(x'41c3' AS TEXT); -- so"), 1).rows, [
    [integer(1), bytes(0x41, 0xc3)],
  ])
  write(database, sql("INSERT INTO t (x) VALUES ('\ufffd'), (CAST(x'ff' AS TEXT))"))
  assert.deepEqual(database.query(sql('SELECT x FROM t ORDER BY id'), 9).rows, [
    [{ tag: 'text', val: '\ufffd' }],
    [bytes(0xff)],
  ])
  assert.deepEqual(database.query(sql('SELECT x FROM t WHERE id = ?1', integer(1)), 1).rows, [
    [{ tag: 'text', val: '\ufffd' }],
  ])
})

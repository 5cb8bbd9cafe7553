// Node tells neither the number of parameters of a statement nor reliably how many rows it changed. It binds NULL to a
// parameter without a value, and after a statement without changes, `run` returns the count of an earlier statement. So
// this code asks SQLite for both.
import { isUtf8 } from 'node:buffer'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type {
  Effect,
  Rows,
  Statement,
  Value,
} from '../../generated/component/interfaces/agent-memory-storage-database.js'
import { StorageError } from '../error.ts'
import type { Connection } from './connection.ts'
import { iterate, maxBytes, type Prepared } from './prepare.ts'

/** The bytes that each value counts toward the limit, in addition to the bytes of its text or blob. */
const valueBytes = 8

type Column = null | bigint | number | string | Uint8Array

/** Runs a statement, and returns at most `maxRows` of its rows. */
export function query(
  connection: Connection,
  { sql, parameters }: Statement,
  maxRows: number,
  mode: 'read' | 'write',
): Rows {
  return connection.runForCall(() => {
    const { statement } = checkedStatement(connection, sql, parameters, mode)
    const values = parameters.map(inputOf)
    const rows: Value[][] = []
    let truncated = false
    /** Whether a text has a replacement character, which Node may have put in place of bytes that are not UTF-8. */
    let isSuspect = false
    let bytesLeft = maxBytes
    for (const row of run(statement, values)) {
      if (rows.length === maxRows) {
        truncated = true
        break
      }
      rows.push(
        row.map((column) => {
          bytesLeft -= valueBytes + bytesOf(column)
          if (bytesLeft < 0) throw tooLargeError()
          isSuspect ||= typeof column === 'string' && column.includes('\ufffd')
          return valueOf(column)
        }),
      )
    }
    if (isSuspect) restoreBytes(rows, connection, statement, values, maxRows)
    return { columns: statement.columns().map(({ name }) => name), rows, truncated }
  })
}

/** Runs a statement for its effect. */
export function execute(connection: Connection, { sql, parameters }: Statement, mode: 'read' | 'write'): Effect {
  return connection.runForCall(() => {
    const { statement } = checkedStatement(connection, sql, parameters, mode)
    const before = connection.counts()
    for (const _ of run(statement, parameters.map(inputOf)));
    const after = connection.counts()
    // Only statements that change rows set `changes()`. Otherwise it still counts an earlier statement.
    return { changes: after.totalChanges === before.totalChanges ? 0n : after.changes }
  })
}

function* run(statement: StatementSync, values: Column[]): Generator<Column[]> {
  try {
    yield* iterate(statement, values) as Iterable<Column[]>
  } catch (error) {
    // Reset the statement: otherwise its next run would throw this error again.
    try {
      statement.iterate()
    } catch {}
    throw error
  }
}

/** The prepared statement, if it may run in this mode with these parameters. */
function checkedStatement(
  connection: Connection,
  sql: string,
  parameters: readonly Value[],
  mode: 'read' | 'write',
): Prepared {
  const prepared = connection.prepared(sql)
  if (mode === 'read' && prepared.isWrite) {
    throw new StorageError('read-only', 'a statement that changes something needs a write transaction')
  }
  if (prepared.parameterCount !== parameters.length) {
    throw new StorageError(
      'io',
      `the statement takes ${prepared.parameterCount} parameters and was given ${parameters.length}`,
    )
  }
  const bytes = parameters.reduce((sum, value) => sum + bytesOf(inputOf(value)), 0)
  if (bytes > maxBytes) {
    throw new StorageError('too-large', `the parameters of a statement are longer than ${maxBytes} bytes`)
  }
  return prepared
}

/**
 * Replaces each text in a statement's rows that is not UTF-8 by a blob of its bytes. Node replaces invalid bytes by
 * U+FFFD, which a valid text may also have. So this reads the texts as blobs, by a second query around the statement.
 *
 * A pragma, or a statement that changes rows and returns them, cannot be part of another query. Its texts are left as
 * they are.
 */
function restoreBytes(
  found: Value[][],
  connection: Connection,
  { sourceSQL }: StatementSync,
  values: SQLInputValue[],
  maxRows: number,
): void {
  connection.authoriser.asHost(() => {
    let bytes: StatementSync
    const inner = sourceSQL.replace(/;$/, '')
    try {
      const { length } = connection.database.prepare(inner).columns()
      const names = Array.from({ length }, (_, index) => `c${index}`)
      const texts = names.map((name) => `iif(typeof(${name}) = 'text', CAST(${name} AS BLOB), NULL)`)
      bytes = connection.database.prepare(
        `WITH r (${names.join(', ')}) AS (${inner}\n) SELECT ${texts.join(', ')} FROM r LIMIT ${maxRows}`,
      )
    } catch {
      return
    }
    const rows = iterate(bytes, values) as Iterable<(Uint8Array | null)[]>
    let index = 0
    for (const row of rows) {
      const restored = row.map((text): Value | undefined =>
        text === null || isUtf8(text) ? undefined : { tag: 'blob', val: text },
      )
      found[index] = found[index]?.map((value, column) => restored[column] ?? value) ?? []
      index += 1
    }
  })
}

function inputOf(value: Value): Column {
  return value.tag === 'null' ? null : value.val
}

function valueOf(column: Column): Value {
  switch (typeof column) {
    case 'bigint':
      return { tag: 'integer', val: column }
    case 'number':
      return { tag: 'real', val: column }
    case 'string':
      return { tag: 'text', val: column }
    default:
      return column === null ? { tag: 'null' } : { tag: 'blob', val: column }
  }
}

function bytesOf(column: Column): number {
  if (typeof column === 'string') return Buffer.byteLength(column)
  return column instanceof Uint8Array ? column.length : 0
}

function tooLargeError(): StorageError {
  return new StorageError('too-large', `the rows of a statement are longer than ${maxBytes} bytes: ask for fewer`)
}

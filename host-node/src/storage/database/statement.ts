// SQLite is asked more than once, since Node does not tell: how many parameters a statement takes (it would bind NULL
// where one is missing), and whether it changed rows (after one that changed none, `run` gives an older one's count).
import { isUtf8 } from 'node:buffer'
import type { SQLInputValue, StatementSync } from 'node:sqlite'
import type {
  Effect,
  Rows,
  Statement,
  Value,
} from '../../generated/component/interfaces/agent-memory-storage-database.js'
import { StorageFailure } from '../failure.ts'
import { primaryCode, Sqlite } from '../sqlite-error.ts'
import type { Link } from './connection.ts'
import { notOne } from './failure.ts'

/** The longest answer of a query and the longest parameters of a statement, in bytes: 16 MiB. */
export const mostBytes = 16 * 1024 * 1024

/** What a value counts beside its text or its bytes. */
const valueBytes = 8

/** More parameters than SQLite takes. */
const mostParameters = 32_766

type Column = null | bigint | number | string | Uint8Array

/** A statement that is kept prepared. */
export interface Prepared {
  readonly statement: StatementSync
  /** Whether it can change something. */
  readonly changes: boolean
  /** How many parameters it takes. */
  readonly takes: number
}

/** Prepares the one statement that a text holds. */
export function prepare(link: Link, sql: string): Prepared {
  if (isBlank(sql)) throw notOne()
  const statement = link.database.prepare(sql)
  // SQLite prepares the first of several, and keeps its text.
  if (!isBlank(sql.slice(statement.sourceSQL.length))) throw notOne()
  const changes = link.authoriser.hasChanges || changing.test(sql)
  return { statement, changes, takes: parametersOf(statement) }
}

/** Runs a statement, and gives at most `maxRows` of its rows. */
export function query(link: Link, { sql, parameters }: Statement, maxRows: number, mode: 'read' | 'write'): Rows {
  return link.asCall(() => {
    const { statement } = ready(link, sql, parameters, mode)
    const values = parameters.map(inputOf)
    const rows: Value[][] = []
    let truncated = false
    let suspect = false
    let room = mostBytes
    for (const row of run(statement, values)) {
      if (rows.length === maxRows) {
        truncated = true
        break
      }
      rows.push(
        row.map((column) => {
          room -= valueBytes + bytesOf(column)
          if (room < 0) throw tooManyRows()
          suspect ||= typeof column === 'string' && column.includes('\ufffd')
          return valueOf(column)
        }),
      )
    }
    if (suspect && !areTextsUtf8(link, statement, values, maxRows)) {
      throw new StorageFailure('corrupted', 'a text in the database is not UTF-8: restore it from a backup')
    }
    return { columns: statement.columns().map(({ name }) => name), rows, truncated }
  })
}

/** Runs a statement for what it changes; `lastInsertId` is that of the one before it. */
export function execute(
  link: Link,
  { sql, parameters }: Statement,
  mode: 'read' | 'write',
  lastInsertId: bigint,
): Effect {
  return link.asCall(() => {
    const { statement } = ready(link, sql, parameters, mode)
    const before = link.counts()
    for (const _ of run(statement, parameters.map(inputOf)));
    const after = link.counts()
    // Only what changes rows sets the count: after anything else it is that of an older statement.
    const changes = after.inAll === before.inAll ? 0n : after.changes
    return { changes, lastInsertId: changes > 0n && inserting.test(sql) ? after.lastInsertId : lastInsertId }
  })
}

function* run(statement: StatementSync, values: Column[]): Generator<Column[]> {
  try {
    yield* statement.iterate(...values) as Iterable<unknown> as Iterable<Column[]>
  } catch (error) {
    // What it failed with would be thrown again when it is run the next time.
    try {
      statement.iterate()
    } catch {}
    throw error
  }
}

/** The statement, prepared, if this may run it with these parameters. */
function ready(link: Link, sql: string, parameters: readonly Value[], mode: 'read' | 'write'): Prepared {
  const prepared = link.prepared(sql)
  if (mode === 'read' && prepared.changes) {
    throw new StorageFailure('read-only', 'a statement that changes something needs a write transaction')
  }
  if (prepared.takes !== parameters.length) {
    throw new StorageFailure(
      'io',
      `the statement takes ${prepared.takes} parameters and was given ${parameters.length}`,
    )
  }
  const bytes = parameters.reduce((sum, value) => sum + bytesOf(inputOf(value)), 0)
  if (bytes > mostBytes) {
    throw new StorageFailure('too-large', `the parameters of a statement are longer than ${mostBytes} bytes`)
  }
  return prepared
}

/** White space, comments, and ends of statements. */
const blank = /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$))*$/

function isBlank(sql: string): boolean {
  return blank.test(sql)
}

/** What may change something without saying so to the authoriser: where there is nothing to change, and `VACUUM`. */
const changing =
  /^(?:\s|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:explain\s+(?:query\s+plan\s+)?)?(?:alter|analyze|create|drop|reindex|vacuum)\b/i

const inserting = /^\s*(?:insert|replace)(?![a-z])/i

/** SQLite does not tell, but it takes no more: to bind is not yet to run. */
function parametersOf(statement: StatementSync): number {
  const takes = (count: number) => {
    try {
      statement.iterate(...Array<null>(count).fill(null)).return?.()
      return true
    } catch (error) {
      if (primaryCode(error) === Sqlite.range) return false
      throw error
    }
  }
  let [least, beyond] = [0, 1]
  while (beyond <= mostParameters && takes(beyond)) [least, beyond] = [beyond, beyond * 2]
  while (beyond - least > 1) {
    const middle = (least + beyond) >> 1
    if (takes(middle)) least = middle
    else beyond = middle
  }
  return least
}

/**
 * Node reads what is not UTF-8 with the replacement character, which a text may also hold. SQLite gives
 * the bytes, where the statement is one that can stand in another: what changes rows and returns them, and a
 * pragma, cannot, and is taken as it was read.
 */
function areTextsUtf8(link: Link, { sourceSQL }: StatementSync, values: SQLInputValue[], maxRows: number): boolean {
  return link.authoriser.asHost(() => {
    let bytes: StatementSync
    const whole = sourceSQL.replace(/;$/, '')
    try {
      const { length } = link.database.prepare(whole).columns()
      const names = Array.from({ length }, (_, index) => `c${index}`)
      const texts = names.map((name) => `iif(typeof(${name}) = 'text', CAST(${name} AS BLOB), NULL)`)
      bytes = link.database.prepare(
        `WITH r (${names.join(', ')}) AS (${whole}\n) SELECT ${texts.join(', ')} FROM r LIMIT ${maxRows}`,
      )
    } catch {
      return true
    }
    const rows = bytes.iterate(...values) as Iterable<unknown> as Iterable<(Uint8Array | null)[]>
    for (const row of rows) if (!row.every((text) => text === null || isUtf8(text))) return false
    return true
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

function tooManyRows(): StorageFailure {
  return new StorageFailure('too-large', `the rows of a statement are longer than ${mostBytes} bytes: ask for fewer`)
}

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { primaryCode, Sqlite } from '../sqlite-error.ts'
import type { Authoriser } from './authoriser.ts'
import { notGrantedError, notOneStatementError } from './error.ts'

/** The maximum size of a query's rows and of a statement's parameters: 16 MiB. */
export const maxBytes = 16 * 1024 * 1024

/** The most parameters that SQLite accepts. */
const maxParameters = 32_766

/** A prepared statement of a call. */
export interface Prepared {
  readonly statement: StatementSync
  /** Whether the statement may change the database. */
  readonly isWrite: boolean
  readonly parameterCount: number
}

/** Prepares a statement. Throws unless the text has exactly one. */
export function prepare(database: DatabaseSync, authoriser: Authoriser, sql: string): Prepared {
  if (isBlank(sql)) throw notOneStatementError()
  if (!authoriser.admits(sql)) throw notGrantedError()
  const statement = database.prepare(sql)
  // SQLite prepares the first statement of the text. `sourceSQL` is its part of the text.
  if (!isBlank(sql.slice(statement.sourceSQL.length))) throw notOneStatementError()
  const isWrite = authoriser.hasChanges || unreportedWrite.test(sql)
  return { statement, isWrite, parameterCount: countParameters(statement) }
}

/** Matches a text of only white space, comments and semicolons. */
const blank = /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$))*$/

function isBlank(sql: string): boolean {
  return blank.test(sql)
}

/**
 * Matches statements that write, but for which SQLite may not call the authoriser: `VACUUM`, and statements such as
 * `DROP TABLE IF EXISTS` if there is nothing to change.
 */
const unreportedWrite =
  /^(?:\s|--[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:explain\s+(?:query\s+plan\s+)?)?(?:alter|analyze|create|drop|reindex|vacuum)\b/i

/** Whether Node binds values to `?1`, `?2`, ... by position. Node 22 takes `?1` for a name. */
const bindsByPosition = (() => {
  const database = new DatabaseSync(':memory:')
  try {
    return database.prepare('SELECT ?1').get(1) !== undefined
  } catch {
    return false
  } finally {
    database.close()
  }
})()

/** Runs a statement with the values of its parameters `?1`, `?2` and so on. */
export function iterate(
  statement: StatementSync,
  values: readonly SQLInputValue[],
): Iterator<unknown> & Iterable<unknown> {
  if (bindsByPosition || values.length === 0) return statement.iterate(...values)
  return statement.iterate(Object.fromEntries(values.map((value, index) => [`?${index + 1}`, value])))
}

/**
 * The number of parameters of a statement. Node has no function for it, but binding too many values fails. So this
 * finds the largest number that can be bound, by a binary search. The statement never runs.
 */
function countParameters(statement: StatementSync): number {
  const accepts = (count: number) => {
    try {
      iterate(statement, Array<null>(count).fill(null)).return?.()
      return true
    } catch (error) {
      if (primaryCode(error) === Sqlite.range || isUnknownName(error)) return false
      throw error
    }
  }
  let [accepted, tooMany] = [0, 1]
  while (tooMany <= maxParameters && accepts(tooMany)) [accepted, tooMany] = [tooMany, tooMany * 2]
  while (tooMany - accepted > 1) {
    const middle = (accepted + tooMany) >> 1
    if (accepts(middle)) accepted = middle
    else tooMany = middle
  }
  return accepted
}

function isUnknownName(error: unknown): boolean {
  return !bindsByPosition && (error as NodeJS.ErrnoException).code === 'ERR_INVALID_STATE'
}

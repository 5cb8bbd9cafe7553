import { constants } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import type { Durability } from '../../durability.ts'
import { lstatIfExists } from '../error.ts'
import { isSqliteError, primaryCode, resultCode, Sqlite, type SqliteError } from '../sqlite-error.ts'
import { Authoriser } from './authoriser.ts'
import { notGrantedError, databaseError } from './error.ts'
import type { DatabaseFile } from './file.ts'
import { poll, type Wait } from './poll.ts'
import { maxBytes, prepare, type Prepared } from './prepare.ts'
import { accessErrorOf, immutableFile, type ImmutableFile } from './immutable.ts'

/** The maximum number of prepared statements in the cache of a connection. */
const maxCachedStatements = 128

/**
 * The first SQLite with a reliable WAL mode. An older one may damage a database that several connections write to.
 *
 * @see https://www.sqlite.org/wal.html#walresetbug
 */
const minWalVersion = [3, 51, 3]

/** The journal mode of a new database. */
export function journalMode(sqliteVersion: string): 'WAL' | 'DELETE' {
  const version = sqliteVersion.split('.').map(Number)
  const at = minWalVersion.findIndex((min, index) => version[index] !== min)
  return at === -1 || version[at]! > minWalVersion[at]! ? 'WAL' : 'DELETE'
}

/** Times the statements of calls. */
export interface StatementTimer {
  start(): void
  end(): void
}

/** SQLite syncs each commit (`FULL`), each checkpoint (`NORMAL`) or nothing (`OFF`). */
type Synchronous = 'FULL' | 'NORMAL' | 'OFF'

/** A connection to a database, with its cache of prepared statements. */
export class Connection {
  readonly database: DatabaseSync
  readonly authoriser: Authoriser
  /** Whether the connection can only read. */
  readonly isReadOnly: boolean
  /** Set if SQLite reads the file as immutable. Such a connection serves one call only. */
  readonly immutable: ImmutableFile | undefined
  readonly #path: string
  readonly #inode: number | undefined
  readonly #timer: StatementTimer
  /** The prepared statements of calls by their text, the most recently used last. */
  readonly #statements = new Map<string, Prepared>()
  /** The host's own prepared statements, which no call can use. */
  readonly #hostStatements = new Map<string, StatementSync>()
  /** Whether the database is known to have pages, so that it is not new. */
  #hasPages = false

  constructor(path: string, synchronous: Synchronous, timer: StatementTimer, immutable?: ImmutableFile) {
    this.#path = path
    this.#timer = timer
    this.immutable = immutable
    this.isReadOnly = immutable !== undefined || accessErrorOf(path, constants.W_OK) !== undefined
    // With `mode=rw`, SQLite does not create the file. The host does, with the right permission bits.
    const uri = `${pathToFileURL(path).href}?${immutable ? 'immutable=1' : 'mode=rw'}`
    this.database = new DatabaseSync(uri, {
      readOnly: immutable !== undefined,
      timeout: 0,
      readBigInts: true,
      returnArrays: true,
      enableForeignKeyConstraints: true,
      enableDoubleQuotedStringLiterals: false,
      defensive: true,
      limits: { length: maxBytes + 1024, attach: 0 },
    })
    try {
      this.#inode = lstatIfExists(path)?.ino
      this.database.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA trusted_schema = OFF`)
      this.authoriser = new Authoriser(this.database)
      // SQLite opens the file lazily: this read fails if the file cannot be used.
      this.isNew()
      this.checkUnchanged()
    } catch (error) {
      this.database.close()
      this.checkUnchanged()
      throw error
    }
  }

  get isInTransaction(): boolean {
    return this.database.isTransaction
  }

  /** Whether the open file is still the file at its path. */
  isInPlace(): boolean {
    return this.immutable?.isUnchanged() ?? lstatIfExists(this.#path)?.ino === this.#inode
  }

  /** Whether the file has no page yet, so that its journal mode can still be set. */
  isNew(): boolean {
    if (this.#hasPages) return false
    const [pages] = this.run('PRAGMA page_count') as [bigint]
    this.#hasPages = pages > 0n
    return !this.#hasPages
  }

  /** The row changes of the last statement, and all row changes of the connection. */
  counts(): { changes: bigint; totalChanges: bigint } {
    const [changes, totalChanges] = this.run('SELECT changes(), total_changes()') as [bigint, bigint]
    return { changes, totalChanges }
  }

  /** Runs a statement of the host, and returns its first row. */
  run(sql: string): unknown {
    return this.authoriser.asHost(() => {
      let statement = this.#hostStatements.get(sql)
      if (statement === undefined) this.#hostStatements.set(sql, (statement = this.database.prepare(sql)))
      return statement.get()
    })
  }

  /** Runs a statement of a call. If the authoriser denied something, any error becomes `not-granted`. */
  runForCall<T>(work: () => T): T {
    this.authoriser.reset()
    this.#timer.start()
    try {
      const result = work()
      this.checkUnchanged()
      return result
    } catch (error) {
      this.checkUnchanged()
      throw isSqliteError(error) && this.authoriser.hasDenied ? notGrantedError(resultCode(error)) : error
    } finally {
      this.#timer.end()
    }
  }

  /** Throws if a file that is read as immutable has changed: the rows may mix its old and new state. */
  checkUnchanged(): void {
    if (this.immutable?.isUnchanged() === false) throw this.immutable.changedError()
  }

  /** The prepared statement for a call's text, from the cache if it is there. */
  prepared(sql: string): Prepared {
    const prepared = this.#statements.get(sql) ?? prepare(this.database, this.authoriser, sql)
    this.#statements.delete(sql)
    this.#statements.set(sql, prepared)
    if (this.#statements.size > maxCachedStatements) this.#statements.delete(this.#statements.keys().next().value!)
    return prepared
  }

  /** Rolls back the open transaction. Returns false if that fails: the connection cannot be used again. */
  rollBack(): boolean {
    try {
      if (this.isInTransaction) this.run('ROLLBACK')
      return true
    } catch {
      return false
    }
  }

  close(): void {
    this.database.close()
  }
}

/** Opens a connection. With `create`, makes the file and its directories if they are missing. */
export function connect(
  { path, location, lock, check, replace }: DatabaseFile,
  create: boolean,
  durability: Durability,
  timer: StatementTimer,
  wait: Wait,
): Connection {
  check(create)
  // A derived database can be made again, so it is not synced.
  const synchronous = lock === undefined ? 'OFF' : durability === 'full' ? 'FULL' : 'NORMAL'
  // Another process may lock the database for a moment, to recover it after a crash.
  const open = () => poll(wait, () => new Connection(path, synchronous, timer))
  try {
    return open()
  } catch (error) {
    const code = primaryCode(error) ?? 0
    if (create && lock === undefined && (code === Sqlite.notADatabase || code === Sqlite.corrupt)) {
      replace()
      return attemptToUse(location, open)
    }
    const cannotOpen = [Sqlite.cannotOpen, Sqlite.readOnly, Sqlite.permission].some((each) => each === code)
    if (!cannotOpen) throw databaseError(error, location)
    const immutable = immutableFile(dirname(path), path, location, error as SqliteError)
    return attemptToUse(location, () => new Connection(path, synchronous, timer, immutable))
  }
}

function attemptToUse<T>(location: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw databaseError(error, location)
  }
}

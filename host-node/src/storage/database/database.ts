import type { Rows, Statement } from '../../generated/component/interfaces/agent-memory-storage-database.js'
import { monotonic } from '../../time.ts'
import { StorageError } from '../error.ts'
import type { LockTimeout } from '../lock.ts'
import { isBusy } from '../sqlite-error.ts'
import type { Durability } from '../../durability.ts'
import { connect, journalMode, type Connection, type StatementTimer } from './connection.ts'
import { nestedError, readOnlyError, databaseError } from './error.ts'
import type { DatabaseFile } from './file.ts'
import { poll, type Wait } from './poll.ts'
import { query } from './statement.ts'
import { Transaction } from './transaction.ts'

/** How a thread uses its databases. */
export interface DatabaseOptions {
  readonly durability: Durability
  readonly lockTimeout: LockTimeout
  readonly timer?: StatementTimer
  /** Called when a call has to wait for a lock. */
  readonly onWait?: () => void
}

const noTimer: StatementTimer = { start: () => {}, end: () => {} }

/** The first read of a read transaction, which fixes the state that the transaction sees. */
const firstRead = 'SELECT 1 FROM sqlite_schema LIMIT 1'

/** The wait of a transaction for SQLite's own lock, on the clock `monotonic`. */
interface LockWait {
  /** When the call began to wait. */
  readonly since: number
  readonly until: number
}

/** The databases of one thread: a cache of connections that stay open between calls. */
export class Databases {
  readonly #options: DatabaseOptions
  /** The open databases by path, the most recently used last. */
  readonly #open = new Map<string, Database>()
  readonly #inUse = new Set<Database>()

  constructor(options: DatabaseOptions) {
    this.#options = options
  }

  /** The number of databases that the call uses. */
  get inUse(): number {
    return this.#inUse.size
  }

  get(file: DatabaseFile): Database {
    const { path } = file
    const database = this.#open.get(path) ?? new Database(file, this.#options)
    database.file = file
    this.#open.delete(path)
    this.#open.set(path, database)
    this.#inUse.add(database)
    return database
  }

  /** Ends the call's transactions, and closes the least recently used databases beyond the cache's size. */
  endCall(): void {
    for (const database of this.#inUse) database.endCall()
    this.#inUse.clear()
    for (const [path, database] of this.#open) {
      if (this.#open.size <= maxCachedDatabases) break
      database.close()
      this.#open.delete(path)
    }
  }

  close(): void {
    for (const database of this.#open.values()) database.close()
    this.#open.clear()
  }
}

/** The maximum number of databases that stay open between calls. */
const maxCachedDatabases = 16

/**
 * A database in one thread: one SQLite file. Only one thread of all processes and hosts may write to it
 * at a time.
 *
 * A writer first takes the lock of the database's place, unless the database is derived. Then it takes SQLite's own
 * lock, for which it may have to wait: other programs do not know the place's lock.
 */
export class Database {
  /** The file, with the functions of the call that uses it. */
  file: DatabaseFile
  readonly #options: DatabaseOptions
  readonly #timer: StatementTimer
  readonly #onWait: () => void
  #connection: Connection | undefined
  #transaction: Transaction | undefined

  constructor(file: DatabaseFile, options: DatabaseOptions) {
    this.file = file
    this.#options = options
    this.#timer = options.timer ?? noTimer
    this.#onWait = options.onWait ?? (() => {})
  }

  /** Opens the connection unless it is open. With `create`, creates the file if it is missing. */
  open(create: boolean): void {
    if (this.#connection?.isInPlace() === false && this.#transaction === undefined) this.close()
    this.#connection ??= connect(this.file, create, this.#options.durability, this.#timer, this.#wait())
  }

  /** Runs one read-only statement outside a transaction, and returns at most `maxRows` rows. */
  query(statement: Statement, maxRows: number): Rows {
    const connection = this.#openConnection()
    if (connection.isInTransaction) throw nestedError()
    return this.#retryWhileLocked(() => query(connection, statement, maxRows, 'read'))
  }

  /** Throws if the database is read-only or has a transaction. A writer checks this before it waits for the lock. */
  checkWritable(): void {
    const connection = this.#openConnection()
    if (connection.isInTransaction) throw nestedError()
    if (connection.isReadOnly) throw readOnlyError(this.file.location)
  }

  /** Begins a transaction. For a write transaction, the caller holds the lock of `file.lock`, if any, until `onEnd`. */
  begin(mode: 'read' | 'write', onEnd: () => void = () => {}, lockWait?: LockWait): Transaction {
    if (mode === 'write') this.checkWritable()
    const connection = this.#openConnection()
    if (connection.isInTransaction) throw nestedError()
    const wait = lockWait ? { until: lockWait.until, onWait: this.#onWait } : this.#wait()
    if (mode === 'write') this.#prepareJournal(connection, wait)
    this.#retryWhileLocked(() => this.#beginOnce(connection, mode), wait, lockWait?.since)
    return (this.#transaction = new Transaction(connection, mode, this.file.location, {
      commit: () => this.#retryWhileLocked(() => connection.run('COMMIT')),
      onEnd: () => {
        this.#transaction = undefined
        // Release SQLite's lock before `onEnd` releases the place's lock.
        this.#rollBack()
        onEnd()
      },
    }))
  }

  /** Ends the call's transaction. The connection stays open, unless it reads the file as immutable. */
  endCall(): void {
    this.#transaction?.end()
    if (this.#connection?.immutable) this.close()
  }

  close(): void {
    this.#connection?.close()
    this.#connection = undefined
  }

  #beginOnce(connection: Connection, mode: 'read' | 'write'): void {
    try {
      connection.run(mode === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN DEFERRED')
      if (mode === 'read') connection.run(firstRead)
    } catch (error) {
      this.#rollBack()
      connection.checkUnchanged()
      throw error
    }
  }

  /** Sets the journal mode of a new database, before its first page. The mode of an existing database stays. */
  #prepareJournal(connection: Connection, wait: Wait): void {
    this.#retryWhileLocked(() => {
      if (!connection.isNew()) return
      const mode = journalMode(process.versions['sqlite']!)
      connection.authoriser.asHost(() => connection.database.exec(`PRAGMA journal_mode = ${mode}`))
    }, wait)
  }

  /** Rolls back. If that fails, closes the connection, which also releases SQLite's lock. */
  #rollBack(): void {
    if (this.#connection?.rollBack() === false) this.close()
  }

  /** The connection. Opens it again if it had to be closed. */
  #openConnection(): Connection {
    if (this.#connection === undefined) this.open(false)
    return this.#connection!
  }

  #wait(): Wait {
    const isDerived = this.file.lock === undefined
    return { until: isDerived ? 0 : monotonic() + this.#options.lockTimeout.atHead, onWait: this.#onWait }
  }

  /** Runs `attempt` again and again while another program has the database locked. */
  #retryWhileLocked<T>(attempt: () => T, wait = this.#wait(), since = monotonic()): T {
    try {
      return poll(wait, attempt)
    } catch (error) {
      throw isBusy(error) ? this.#busyError(since) : databaseError(error, this.file.location)
    }
  }

  #busyError(since: number): StorageError {
    const seconds = ((monotonic() - since) / 1000).toFixed(1)
    return new StorageError(
      'busy',
      `another program kept \`${this.file.location}\` locked for the ${seconds} s that this call waited: ` +
        'try again, or wait longer (`lockWait`)',
    )
  }
}

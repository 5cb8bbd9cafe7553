import type {
  Rows,
  Statement,
  TransactionMode,
} from '../../generated/component/interfaces/agent-memory-core-database.js'
import { monotonic } from '../../time.ts'
import { StorageFailure } from '../failure.ts'
import { Lock, type Patience } from '../lock.ts'
import { databaseLockOf, databaseName, type Records, recordsTree } from '../records.ts'
import { isBusy } from '../sqlite-error.ts'
import type { Durability, Root } from '../walk.ts'
import { connect, journalMode, type Link, type Watch } from './connection.ts'
import { nested, readOnly, reported } from './failure.ts'
import { poll, type Wait } from './poll.ts'
import { query } from './statement.ts'
import { Transaction } from './transaction.ts'

/** How a database is worked with. */
export interface DatabaseOptions {
  readonly durability: Durability
  readonly patience: Patience
  readonly watch?: Watch
  /** Called when it has to wait for somebody else. */
  readonly onWait?: () => void
}

const unwatched: Watch = { start: () => {}, end: () => {} }

/** The first read fixes what a read transaction sees. */
const firstRead = 'SELECT 1 FROM sqlite_schema LIMIT 1'

/**
 * The database of the records, as one thread sees it: one SQLite file, with one writer at a time over threads,
 * processes and hosts.
 *
 * Who writes takes the database's turn first, a lock beside the file, as fair as that of a tree; then SQLite's
 * own lock, which programs that know nothing of the turn may hold. The connection stays open between calls,
 * with the statements that it has prepared. It ends with its thread, and so does what it has begun.
 */
export class Database {
  /** As a person names the file. */
  readonly location: string
  /** The directory of the lock of those who write. */
  readonly lock: Root
  /** That of the tree around it: who takes both takes that one first. */
  readonly treeLock: Root
  readonly #records: Records
  readonly #options: DatabaseOptions
  readonly #watch: Watch
  readonly #onWait: () => void
  #link: Link | undefined
  #transaction: Transaction | undefined

  constructor(records: Records, options: DatabaseOptions) {
    this.location = `${records.location.replace(/\/+$/, '')}/${databaseName}`
    this.lock = databaseLockOf(records)
    this.treeLock = recordsTree(records).lock
    this.#records = records
    this.#options = options
    this.#watch = options.watch ?? unwatched
    this.#onWait = options.onWait ?? (() => {})
  }

  /** Opens it where it is not open yet; creates it where it is missing and `create` is set. */
  open(create: boolean): void {
    if (this.#link?.isInPlace() === false && this.#transaction === undefined) this.close()
    this.#link ??= connect(this.#records, create, this.#options.durability, this.#watch, this.#wait())
  }

  /** Runs one statement that reads, outside a transaction, and gives at most `maxRows` rows. */
  query(statement: Statement, maxRows: number): Rows {
    const link = this.#opened()
    if (link.isInTransaction) throw nested()
    return this.#patiently(() => query(link, statement, maxRows, 'read'))
  }

  /** Throws where nothing can be written: who wants to write asks before it waits for its turn. */
  checkWritable(): void {
    const link = this.#opened()
    if (link.isInTransaction) throw nested()
    if (link.isReadOnly) throw readOnly(this.location)
  }

  beginRead(): Transaction {
    const link = this.#opened()
    if (link.isInTransaction) throw nested()
    return this.#begin(link, 'read', undefined, monotonic(), this.#wait())
  }

  /** Waits for the turn and for SQLite's own lock; `since` is when the call asked, on the clock `monotonic`. */
  beginWrite(since: number): Transaction {
    this.checkWritable()
    const { patience, durability } = this.#options
    const lock = Lock.acquire(this.lock, patience, since, this.#onWait, durability)
    try {
      const link = this.#opened()
      const wait = { until: lock.atHeadUntil, onWait: this.#onWait }
      this.#prepareJournal(link, wait)
      return this.#begin(link, 'write', lock, since, wait)
    } catch (error) {
      lock.release()
      throw error
    }
  }

  /** Ends whatever the call has begun; the connection stays, if it can serve another. */
  endCall(): void {
    this.#transaction?.end()
    if (this.#link?.unchanging) this.close()
  }

  close(): void {
    this.#link?.close()
    this.#link = undefined
  }

  #begin(link: Link, mode: TransactionMode, lock: Lock | undefined, since: number, wait: Wait): Transaction {
    this.#patiently(
      () => {
        try {
          link.run(mode === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN DEFERRED')
          if (mode === 'read') link.run(firstRead)
        } catch (error) {
          this.#rollBack()
          link.checkUnchanged()
          throw error
        }
      },
      wait,
      since,
    )
    const commit = () => this.#patiently(() => link.run('COMMIT'))
    const ended = () => {
      this.#transaction = undefined
      // Let go of it before the next writer is let in.
      this.#rollBack()
      lock?.release()
    }
    return (this.#transaction = new Transaction(link, mode, this.location, { commit, ended }))
  }

  /** A new database gets its journal mode before its first page; the journal of any other is left as it is. */
  #prepareJournal(link: Link, wait: Wait): void {
    this.#patiently(() => {
      if (!link.isNew()) return
      const mode = journalMode(process.versions['sqlite']!)
      link.authoriser.asHost(() => link.database.exec(`PRAGMA journal_mode = ${mode}`))
    }, wait)
  }

  /** A connection that cannot roll back is closed, which lets go as well. */
  #rollBack(): void {
    if (this.#link?.rollBack() === false) this.close()
  }

  /** The connection, opened anew where it had to be closed. */
  #opened(): Link {
    if (this.#link === undefined) this.open(false)
    return this.#link!
  }

  #wait(): Wait {
    return { until: monotonic() + this.#options.patience.atHead, onWait: this.#onWait }
  }

  /** Runs what another program's lock may hinder, again and again. */
  #patiently<T>(attempt: () => T, wait = this.#wait(), since = monotonic()): T {
    try {
      return poll(wait, attempt)
    } catch (error) {
      throw isBusy(error) ? this.#busy(since) : reported(error, this.location)
    }
  }

  #busy(since: number): StorageFailure {
    const seconds = ((monotonic() - since) / 1000).toFixed(1)
    return new StorageFailure(
      'busy',
      `another program kept \`${this.location}\` locked for the ${seconds} s that this call waited: ` +
        'try again, or wait longer (`lockWait`)',
    )
  }
}

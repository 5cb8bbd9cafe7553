import { join } from 'node:path'
import type { Rows, Statement } from '../../generated/component/interfaces/agent-memory-storage-database.js'
import { monotonic } from '../../time.ts'
import { StorageFailure } from '../error.ts'
import type { Patience } from '../lock.ts'
import { isBusy } from '../sqlite-error.ts'
import type { Durability } from '../directory.ts'
import { connect, journalMode, type Link, type Watch } from './connection.ts'
import { nested, readOnly, reported } from './error.ts'
import type { DatabaseFile } from './file.ts'
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

/** For how long a transaction waits for SQLite's own lock, on the clock `monotonic`. */
interface Waiting {
  /** When the call began to wait. */
  readonly since: number
  readonly until: number
}

/** The databases of one thread. Each connection is kept open over calls, with the statements that it has prepared. */
export class Databases {
  readonly #options: DatabaseOptions
  /** By path, the one that was used last at the end. */
  readonly #open = new Map<string, Database>()
  readonly #inUse = new Set<Database>()

  constructor(options: DatabaseOptions) {
    this.#options = options
  }

  /** How many the call uses. */
  get inUse(): number {
    return this.#inUse.size
  }

  get(file: DatabaseFile): Database {
    const path = join(file.directory.anchor, ...file.directory.segments, file.name)
    const database = this.#open.get(path) ?? new Database(file, this.#options)
    this.#open.delete(path)
    this.#open.set(path, database)
    this.#inUse.add(database)
    return database
  }

  /** Ends whatever the call has begun, and closes what was not used for longest. */
  endCall(): void {
    for (const database of this.#inUse) database.endCall()
    this.#inUse.clear()
    for (const [path, database] of this.#open) {
      if (this.#open.size <= mostKept) break
      database.close()
      this.#open.delete(path)
    }
  }
}

/** So many databases stay open over calls. */
const mostKept = 16

/**
 * A database as one thread sees it: one SQLite file, with one writer at a time over threads, processes and hosts.
 *
 * Who writes to one that is kept holds the lock of its place, and then waits for SQLite's own, which programs that know
 * nothing of the first may hold. A connection ends with its thread, and so does what it has begun.
 */
export class Database {
  readonly file: DatabaseFile
  readonly #options: DatabaseOptions
  readonly #watch: Watch
  readonly #onWait: () => void
  #link: Link | undefined
  #transaction: Transaction | undefined

  constructor(file: DatabaseFile, options: DatabaseOptions) {
    this.file = file
    this.#options = options
    this.#watch = options.watch ?? unwatched
    this.#onWait = options.onWait ?? (() => {})
  }

  /** Opens it where it is not open yet; creates it where it is missing and `create` is set. */
  open(create: boolean): void {
    if (this.#link?.isInPlace() === false && this.#transaction === undefined) this.close()
    this.#link ??= connect(this.file, create, this.#options.durability, this.#watch, this.#wait())
  }

  /** Runs one statement that reads, outside a transaction, and gives at most `maxRows` rows. */
  query(statement: Statement, maxRows: number): Rows {
    const link = this.#opened()
    if (link.isInTransaction) throw nested()
    return this.#patiently(() => query(link, statement, maxRows, 'read'))
  }

  /** Throws where nothing can be written: who wants to write asks before it waits for the lock. */
  checkWritable(): void {
    const link = this.#opened()
    if (link.isInTransaction) throw nested()
    if (link.isReadOnly) throw readOnly(this.file.location)
  }

  /** One that writes needs the place's lock until `ended`, unless the database is derived. */
  begin(mode: 'read' | 'write', ended: () => void = () => {}, waiting?: Waiting): Transaction {
    if (mode === 'write') this.checkWritable()
    const link = this.#opened()
    if (link.isInTransaction) throw nested()
    const wait = waiting ? { until: waiting.until, onWait: this.#onWait } : this.#wait()
    if (mode === 'write') this.#prepareJournal(link, wait)
    this.#patiently(() => this.#beginOnce(link, mode), wait, waiting?.since)
    return (this.#transaction = new Transaction(link, mode, this.file.location, {
      commit: () => this.#patiently(() => link.run('COMMIT')),
      ended: () => {
        this.#transaction = undefined
        // Let go of it before the next writer is let in.
        this.#rollBack()
        ended()
      },
    }))
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

  #beginOnce(link: Link, mode: 'read' | 'write'): void {
    try {
      link.run(mode === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN DEFERRED')
      if (mode === 'read') link.run(firstRead)
    } catch (error) {
      this.#rollBack()
      link.checkUnchanged()
      throw error
    }
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
    const isDerived = this.file.lock === undefined
    return { until: isDerived ? 0 : monotonic() + this.#options.patience.atHead, onWait: this.#onWait }
  }

  /** Runs what another program's lock may hinder, again and again. */
  #patiently<T>(attempt: () => T, wait = this.#wait(), since = monotonic()): T {
    try {
      return poll(wait, attempt)
    } catch (error) {
      throw isBusy(error) ? this.#busy(since) : reported(error, this.file.location)
    }
  }

  #busy(since: number): StorageFailure {
    const seconds = ((monotonic() - since) / 1000).toFixed(1)
    return new StorageFailure(
      'busy',
      `another program kept \`${this.file.location}\` locked for the ${seconds} s that this call waited: ` +
        'try again, or wait longer (`lockWait`)',
    )
  }
}

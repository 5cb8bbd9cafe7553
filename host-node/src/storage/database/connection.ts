import { randomBytes } from 'node:crypto'
import { closeSync, constants, linkSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { attempt, StorageFailure } from '../error.ts'
import { makeLockDirectory } from '../lock.ts'
import { isSqliteError, primaryCode, resultCode, Sqlite, type SqliteError } from '../sqlite-error.ts'
import { type Durability, findDirectory, lookAt, makeDirectory, syncDirectory } from '../directory.ts'
import { Authoriser } from './authoriser.ts'
import { notAFile, notGranted, reported } from './error.ts'
import type { DatabaseFile } from './file.ts'
import { poll, type Wait } from './poll.ts'
import { mostBytes, prepare, type Prepared } from './statement.ts'
import { refusalOf, unchangingFile, type Unchanging } from './immutable.ts'

/** So many prepared statements are kept on a connection. */
const mostStatements = 128

/** A SQLite that is older may damage a database in WAL mode that several connections write to. */
const soundWal = [3, 51, 3]

/** The journal mode of a new database. */
export function journalMode(sqliteVersion: string): 'WAL' | 'DELETE' {
  const version = sqliteVersion.split('.').map(Number)
  const at = soundWal.findIndex((least, index) => version[index] !== least)
  return at === -1 || version[at]! > soundWal[at]! ? 'WAL' : 'DELETE'
}

/** Is told when a statement of a call begins and ends, which may take long. */
export interface Watch {
  start(): void
  end(): void
}

/** What SQLite waits for: that a commit, that a checkpoint is on the medium, or nothing. */
type Synchronous = 'FULL' | 'NORMAL' | 'OFF'

/** A connection to a database. */
export class Link {
  readonly database: DatabaseSync
  readonly authoriser: Authoriser
  /** Whether nothing can be changed through it. */
  readonly isReadOnly: boolean
  /** Set where it reads a file as if nobody changed it: it serves one call alone. */
  readonly unchanging: Unchanging | undefined
  readonly #path: string
  readonly #inode: number | undefined
  readonly #watch: Watch
  /** By their text, the one that was used last at the end. */
  readonly #statements = new Map<string, Prepared>()
  /** The host's own: no call finds them by giving their text. */
  readonly #own = new Map<string, StatementSync>()
  /** Whether it was seen not to be new. */
  #hasPages = false

  constructor(path: string, synchronous: Synchronous, watch: Watch, unchanging?: Unchanging) {
    this.#path = path
    this.#watch = watch
    this.unchanging = unchanging
    this.isReadOnly = unchanging !== undefined || refusalOf(path, constants.W_OK) !== undefined
    // `mode=rw`: it is never created here, where its permission bits would be SQLite's choice.
    const uri = `${pathToFileURL(path).href}?${unchanging ? 'immutable=1' : 'mode=rw'}`
    this.database = new DatabaseSync(uri, {
      readOnly: unchanging !== undefined,
      timeout: 0,
      readBigInts: true,
      returnArrays: true,
      enableForeignKeyConstraints: true,
      enableDoubleQuotedStringLiterals: false,
      defensive: true,
      limits: { length: mostBytes + 1024, attach: 0 },
    })
    try {
      this.#inode = lookAt(path)?.ino
      this.database.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA trusted_schema = OFF`)
      this.authoriser = new Authoriser(this.database)
      // The first look at the file tells whether it can be used at all.
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

  /** Whether the file that is open is still the one at its path. */
  isInPlace(): boolean {
    return this.unchanging?.holds() ?? lookAt(this.#path)?.ino === this.#inode
  }

  /** Whether nothing was ever written to it. */
  isNew(): boolean {
    if (this.#hasPages) return false
    const [pages] = this.run('PRAGMA page_count') as [bigint]
    this.#hasPages = pages > 0n
    return !this.#hasPages
  }

  /** What the statement that ran last changed, all since the connection was opened, and its last insert. */
  counts(): { changes: bigint; inAll: bigint; lastInsertId: bigint } {
    const row = this.run('SELECT changes(), total_changes(), last_insert_rowid()') as [bigint, bigint, bigint]
    return { changes: row[0], inAll: row[1], lastInsertId: row[2] }
  }

  /** Runs a statement of the host's own, and gives its first row. */
  run(sql: string): unknown {
    return this.authoriser.asHost(() => {
      let statement = this.#own.get(sql)
      if (statement === undefined) this.#own.set(sql, (statement = this.database.prepare(sql)))
      return statement.get()
    })
  }

  /** Runs what a call gave; where SQLite was not allowed to, says so in whatever way it failed. */
  asCall<T>(work: () => T): T {
    this.authoriser.forget()
    this.#watch.start()
    try {
      const done = work()
      this.checkUnchanged()
      return done
    } catch (error) {
      this.checkUnchanged()
      throw isSqliteError(error) && this.authoriser.hasDenied ? notGranted(resultCode(error)) : error
    } finally {
      this.#watch.end()
    }
  }

  /** Throws where the file changed while it was read: what was read, or what SQLite said of it, may mix two states. */
  checkUnchanged(): void {
    if (this.unchanging?.holds() === false) throw this.unchanging.changed()
  }

  /** A statement of a call, prepared now or before. */
  prepared(sql: string): Prepared {
    const kept = this.#statements.get(sql)
    const prepared = kept ?? prepare(this, sql)
    this.#statements.delete(sql)
    this.#statements.set(sql, prepared)
    if (this.#statements.size > mostStatements) this.#statements.delete(this.#statements.keys().next().value!)
    return prepared
  }

  /** Rolls back what goes on; false where it cannot, and the connection is of no use any more. */
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

/** Opens a connection; makes the file, and what leads to it, where it is missing and `create` is set. */
export function connect(file: DatabaseFile, create: boolean, wanted: Durability, watch: Watch, wait: Wait): Link {
  const { name, directory: root, location, beside } = file
  // A derived one can be made anew.
  const durability = beside ? 'relaxed' : wanted
  const synchronous = beside ? 'OFF' : wanted === 'full' ? 'FULL' : 'NORMAL'
  let directory = attempt(`open the database \`${location}\``, () => findDirectory(root, []))
  if (directory === undefined) {
    if (!create) throw missing(location)
    directory = creating(location, () => {
      if (beside) makeLockDirectory(beside, durability)
      return makeDirectory(root, durability)
    })
  }
  const path = join(directory, name)
  const found = attempt(`open the database \`${location}\``, () => lookAt(path))
  if (found !== undefined && !found.isFile()) throw notAFile(location)
  if (found === undefined) {
    if (!create) throw missing(location)
    creating(location, () => createIn(directory, file, durability))
  }
  try {
    // Who repairs it after a crash keeps all others out for a moment.
    return poll(wait, () => new Link(path, synchronous, watch))
  } catch (error) {
    const code = primaryCode(error) ?? 0
    const cannotOpen = [Sqlite.cannotOpen, Sqlite.readOnly, Sqlite.permission].some((refusal) => refusal === code)
    if (!cannotOpen) throw reported(error, location)
    const unchanging = unchangingFile(directory, path, location, error as SqliteError)
    return attemptTo(location, () => new Link(path, synchronous, watch, unchanging))
  }
}

/**
 * Puts an empty file there, which in a private place is of mode 600 from the first.
 *
 * It gets its name only when nobody has it open, since closing a file lets go of every lock that this
 * process has on it, those of SQLite too.
 */
function createIn(directory: string, { name, directory: { isPrivate } }: DatabaseFile, durability: Durability): void {
  const temporary = join(directory, `.${name}.${randomBytes(8).toString('hex')}.agent-memory-tmp`)
  closeSync(openSync(temporary, 'wx', isPrivate ? 0o600 : 0o666))
  try {
    linkSync(temporary, join(directory, name))
  } catch (error) {
    // Made by another just now.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(temporary)
  }
  if (durability === 'full') syncDirectory(directory)
}

/** What the system refuses here is refused to whoever writes. */
function creating<T>(location: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { code, message, detail } = StorageFailure.from(error, `create the database \`${location}\``)
    throw new StorageFailure(code === 'permission' ? 'read-only' : code, message, detail)
  }
}

function attemptTo<T>(location: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw reported(error, location)
  }
}

function missing(location: string): StorageFailure {
  return new StorageFailure('not-found', `there is no database \`${location}\` yet`)
}

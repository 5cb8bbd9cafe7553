import { randomBytes } from 'node:crypto'
import { accessSync, closeSync, constants, linkSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { attempt, StorageFailure } from '../failure.ts'
import { databaseName, type Records, rootOf } from '../records.ts'
import { isSqliteError, primaryCode, resultCode, Sqlite } from '../sqlite-error.ts'
import { type Durability, findDirectory, lookAt, makeDirectory, syncDirectory } from '../walk.ts'
import { Authoriser } from './authoriser.ts'
import { notGranted, reported } from './failure.ts'
import { poll, type Wait } from './poll.ts'
import { mostBytes, prepare, type Prepared } from './statement.ts'

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

/** A connection to a database. */
export class Link {
  readonly database: DatabaseSync
  readonly authoriser: Authoriser
  /** Whether nothing can be changed through it. */
  readonly isReadOnly: boolean
  /** What is written elsewhere meanwhile would be seen in part: it serves one call alone. */
  readonly isImmutable: boolean
  readonly #path: string
  readonly #inode: number | undefined
  readonly #watch: Watch
  /** By their text, the one that was used last at the end. */
  readonly #statements = new Map<string, Prepared>()
  /** The host's own: no call finds them by giving their text. */
  readonly #own = new Map<string, StatementSync>()
  /** Whether it was seen not to be new. */
  #hasPages = false

  constructor(path: string, durability: Durability, watch: Watch, isImmutable = false) {
    this.#path = path
    this.#watch = watch
    this.isImmutable = isImmutable
    this.isReadOnly = isImmutable || !isAccessible(path, constants.W_OK)
    // `mode=rw`: it is never created here, where its permission bits would be SQLite's choice.
    const uri = `${pathToFileURL(path).href}?${isImmutable ? 'immutable=1' : 'mode=rw'}`
    this.database = new DatabaseSync(uri, {
      readOnly: isImmutable,
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
      this.database.exec(
        `PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}; PRAGMA trusted_schema = OFF`,
      )
      this.authoriser = new Authoriser(this.database)
      // The first look at the file tells whether it can be used at all.
      this.isNew()
    } catch (error) {
      this.database.close()
      throw error
    }
  }

  get isInTransaction(): boolean {
    return this.database.isTransaction
  }

  /** Whether the file that is open is still the one at its path. */
  isInPlace(): boolean {
    return lookAt(this.#path)?.ino === this.#inode
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
      return work()
    } catch (error) {
      throw isSqliteError(error) && this.authoriser.hasDenied ? notGranted(resultCode(error)) : error
    } finally {
      this.#watch.end()
    }
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
export function connect(records: Records, create: boolean, durability: Durability, watch: Watch, wait: Wait): Link {
  const root = rootOf(records)
  const location = `${records.location.replace(/\/+$/, '')}/${databaseName}`
  let directory = attempt(`open the database \`${location}\``, () => findDirectory(root, []))
  if (directory === undefined) {
    if (!create) throw missing(location)
    directory = creating(location, () => makeDirectory(root, durability))
  }
  const path = join(directory, databaseName)
  const found = attempt(`open the database \`${location}\``, () => lookAt(path))
  if (found !== undefined && !found.isFile()) throw notAFile(location)
  if (found === undefined) {
    if (!create) throw missing(location)
    creating(location, () => createIn(directory, durability))
  }
  try {
    // Who repairs it after a crash keeps all others out for a moment.
    return poll(wait, () => new Link(path, durability, watch))
  } catch (error) {
    const code = primaryCode(error) ?? 0
    const cannotOpen = [Sqlite.cannotOpen, Sqlite.readOnly, Sqlite.permission].some((refusal) => refusal === code)
    if (cannotOpen && isOnReadOnlyMedium(directory, path, location)) {
      return attemptTo(location, () => new Link(path, durability, watch, true))
    }
    throw reported(error, location)
  }
}

/**
 * Puts an empty file there, of mode 600 from the first.
 *
 * It gets its name only when nobody has it open, since closing a file lets go of every lock that this
 * process has on it, those of SQLite too.
 */
function createIn(directory: string, durability: Durability): void {
  const temporary = join(directory, `.${databaseName}.${randomBytes(8).toString('hex')}.agent-memory-tmp`)
  closeSync(openSync(temporary, 'wx', 0o600))
  try {
    linkSync(temporary, join(directory, databaseName))
  } catch (error) {
    // Made by another just now.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(temporary)
  }
  if (durability === 'full') syncDirectory(directory)
}

/**
 * A database in WAL mode on a medium that can only be read opens only where it is said not to change, which is
 * sure where the medium is so for everybody, and whole where no WAL was left.
 */
function isOnReadOnlyMedium(directory: string, path: string, location: string): boolean {
  const refusals = [errnoOf(path, constants.R_OK), errnoOf(directory, constants.W_OK | constants.X_OK)]
  const refused = refusals.find((error) => error?.code === 'EACCES' || error?.code === 'EPERM')
  if (refused) throw StorageFailure.from(refused, `open the database \`${location}\``)
  return refusals[1]?.code === 'EROFS' && !(lookAt(`${path}-wal`)?.size ?? 0)
}

function errnoOf(path: string, mode: number): NodeJS.ErrnoException | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

function isAccessible(path: string, mode: number): boolean {
  return errnoOf(path, mode) === undefined
}

function attemptTo<T>(location: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw reported(error, location)
  }
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

function missing(location: string): StorageFailure {
  return new StorageFailure('not-found', `there is no database \`${location}\` yet`)
}

function notAFile(location: string): StorageFailure {
  return new StorageFailure(
    'invalid-path',
    `\`${location}\` is not a file (a symbolic link is not followed): move it away`,
  )
}

import { accessSync, chmodSync, constants, lstatSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { monotonic, sleep } from '../time.ts'
import { StorageError, undefinedIfMissing } from './error.ts'
import { checkOwner } from './owner.ts'
import { isBusy, isSqliteError, primaryCode, resultCode, Sqlite, type SqliteError } from './sqlite-error.ts'
import {
  type Durability,
  type LockDirectory,
  lstatIfExists,
  makeDirectory,
  makeUnlessExists,
  type Root,
} from './directory.ts'

/** How often a waiting writer tries to take each of the two files, in milliseconds. */
const queuePoll = 2
const lockPoll = 1

/** How long a writer waits for the lock, in milliseconds. */
export interface LockTimeout {
  /** At the head of the queue. */
  readonly atHead: number
  /** In all, from the moment when the call first wants the lock. The wait within the process counts. */
  readonly total: number
}

/**
 * A place's lock. It ends with `release`, or when the thread or the process ends in any way.
 *
 * The lock is an open write transaction on the empty SQLite file `turn.sqlite`. Any host can take it, and the operating
 * system releases it after a crash. A writer takes `queue.sqlite` while it waits for `turn.sqlite`, so a writer that
 * takes the lock again at once cannot starve the others. Only SQLite may open these files: closing any other handle of
 * a file releases all POSIX locks that the process has on it.
 *
 * @see https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_
 */
export class Lock {
  /** When the wait at the head of the queue ends, on the clock `monotonic`. A wait for the database counts too. */
  readonly atHeadUntil: number
  readonly #file: LockFile

  private constructor(file: LockFile, atHeadUntil: number) {
    this.atHeadUntil = atHeadUntil
    this.#file = file
  }

  /** `since`: when the call first wanted the lock, on the clock `monotonic`. `onWait` runs once if it has to wait. */
  static acquire(
    root: LockDirectory,
    lockTimeout: LockTimeout,
    since: number,
    onWait: () => void = () => {},
    durability: Durability = 'full',
  ): Lock {
    const wait = { since, deadline: since + lockTimeout.total, atHead: lockTimeout.atHead, onWait }
    const { location, isPrivate = false } = root
    try {
      for (;;) {
        checkOwner(join(root.anchor, ...root.segments), location)
        const directory = makeLockDirectory(root, durability)
        const taken = undefinedIfMissing(() => takeFiles(directory, location, isPrivate, wait))
        if (taken !== undefined) return new Lock(taken.lock, taken.atHeadUntil)
        // The lock directory, or the lock file in it, was removed meanwhile. Try again: what is missing is made anew.
        if (monotonic() >= wait.deadline) throw busyError(since)
      }
    } catch (error) {
      throw obstacleError(root) ?? lockError(error)
    }
  }

  /** Throws if the file was removed while the lock was held: another writer can then take a new file. */
  check(): void {
    if (!this.#file.isInPlace()) throw new StorageError('io', 'the lock was removed while it was held; call again')
  }

  release(): void {
    this.#file[Symbol.dispose]()
  }
}

interface Wait {
  readonly since: number
  readonly deadline: number
  readonly atHead: number
  readonly onWait: () => void
}

/**
 * Waits in the queue and takes the lock. Returns undefined if the file of the lock was removed meanwhile, and throws
 * `ENOENT` if the lock directory was.
 */
function takeFiles(
  directory: string,
  location: string,
  isPrivate: boolean,
  wait: Wait,
): { lock: LockFile; atHeadUntil: number } | undefined {
  using queue = new LockFile(join(directory, 'queue.sqlite'), isPrivate)
  queue.take(queuePoll, wait.deadline, wait)
  using open = new DisposableStack()
  const lock = open.use(new LockFile(join(directory, 'turn.sqlite'), isPrivate))
  const atHeadUntil = Math.min(wait.deadline, monotonic() + wait.atHead)
  lock.take(lockPoll, atHeadUntil, wait)
  if (!lock.isInPlace()) return undefined
  checkOwner(directory, location)
  open.move()
  return { lock, atHeadUntil }
}

/** One of the two lock files, open. Closing it releases its lock. */
class LockFile {
  readonly #path: string
  readonly #inode: number
  readonly #database: DatabaseSync

  constructor(path: string, isPrivate: boolean) {
    this.#path = path
    const before = lstatIfExists(path)
    if (before !== undefined && !before.isFile()) {
      throw new StorageError('invalid-path', `\`${path}\` is not a file, but the lock needs one there: move it away`)
    }
    const database = openFile(path, before !== undefined)
    try {
      // Throws if SQLite has opened the file only for reading.
      accessSync(path, constants.W_OK)
      // Otherwise the first transaction on an empty file would create a journal file.
      database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF')
      // SQLite's default mode would exclude a group that may use the directory.
      if (before === undefined) chmodSync(path, isPrivate ? 0o600 : lstatSync(dirname(path)).mode & 0o666)
      this.#inode = lstatSync(path).ino
    } catch (error) {
      database.close()
      throw error
    }
    this.#database = database
  }

  /** Tries every `poll` milliseconds to take the file's lock. Throws `busy` at `deadline`. */
  take(poll: number, deadline: number, { since, onWait }: Wait): void {
    for (let first = true; !this.#try(); first = false) {
      if (monotonic() >= deadline) throw busyError(since)
      if (first) onWait()
      sleep(poll)
    }
  }

  isInPlace(): boolean {
    return lstatIfExists(this.#path)?.ino === this.#inode
  }

  [Symbol.dispose](): void {
    this.#database.close()
  }

  #try(): boolean {
    try {
      // On a read-only connection `BEGIN IMMEDIATE` succeeds without a lock, but a change fails. This change is never
      // written to the file.
      this.#database.exec('BEGIN IMMEDIATE; PRAGMA user_version = 0')
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw error
    }
  }
}

function openFile(path: string, exists: boolean): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 })
  } catch (error) {
    // SQLite does not give the reason. `accessSync` throws it, such as `ENOENT` for a directory that was removed.
    accessSync(dirname(path), constants.W_OK)
    if (exists) accessSync(path, constants.W_OK)
    throw error
  }
}

/** The error of a writer that has waited for too long, from `since` on. */
export function busyError(since: number): StorageError {
  const seconds = ((monotonic() - since) / 1000).toFixed(1)
  return new StorageError('busy', `other writers held the lock for the ${seconds} s that this call waited; call again`)
}

/** Makes the directory of a place's lock. Adds a `.gitignore` if the directory can be part of a work tree. */
export function makeLockDirectory(root: Root, durability: Durability): string {
  const directory = makeUnobstructed(root, durability)
  if (root.isHidden || (!root.isPrivate && basename(directory) === '.agent-memory')) ignoreInGit(directory, root)
  return directory
}

function makeUnobstructed(root: Root, durability: Durability): string {
  try {
    return makeDirectory(root, durability)
  } catch (error) {
    throw obstacleError(root) ?? error
  }
}

/** The error for what is in the way of the directory of a lock, by its path, as the native host names it. */
function obstacleError(root: Root): StorageError | undefined {
  const paths = root.segments.map((_, index) => join(root.anchor, ...root.segments.slice(0, index + 1)))
  const obstacle = paths.find((path) => lstatIfExists(path)?.isDirectory() === false)
  if (obstacle === undefined) return undefined
  return new StorageError(
    'invalid-path',
    `\`${obstacle}\` is not a directory (a symbolic link is not followed), but a lock needs one there: move it away`,
  )
}

function ignoreInGit(directory: string, { isPrivate = false }: Root): void {
  const path = join(directory, '.gitignore')
  if (lstatIfExists(path) === undefined)
    makeUnlessExists(() => writeFileSync(path, '*\n', { flag: 'wx', mode: isPrivate ? 0o600 : 0o666 }))
}

function lockError(error: unknown): StorageError {
  const primary = primaryCode(error)
  const { code } = error as NodeJS.ErrnoException
  const isRefused =
    primary === undefined
      ? ['EACCES', 'EPERM', 'EROFS'].includes(code ?? '')
      : primary === Sqlite.permission || primary === Sqlite.readOnly
  if (primary === Sqlite.full) {
    const message = 'cannot take the lock: the medium is full: free some space'
    return new StorageError('no-space', message, resultCode(error as SqliteError))
  }
  if (primary === Sqlite.notADatabase || primary === Sqlite.corrupt) {
    const message = 'cannot take the lock: its `queue.sqlite` or `turn.sqlite` is damaged: remove both'
    return new StorageError('io', message, resultCode(error as SqliteError))
  }
  if (!isRefused) return StorageError.from(error, 'take the lock')
  return new StorageError(
    'read-only',
    'cannot take the lock: the place where it is kept can only be read by this process: check its owner and permissions',
    isSqliteError(error) ? resultCode(error) : code,
  )
}

import { accessSync, chmodSync, constants, lstatSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { monotonic, sleep } from '../time.ts'
import { lstatIfExists, StorageError, undefinedIfMissing } from './error.ts'
import type { Tree } from './places.ts'
import { isBusy, isSqliteError, primaryCode, resultCode, Sqlite, type SqliteError } from './sqlite-error.ts'

/** The pause between a waiting writer's attempts to take `queue.sqlite` and `turn.sqlite`, in milliseconds. */
const queuePoll = 2
const lockPoll = 1

/** The timeouts of a writer that waits for the lock, in milliseconds. */
export interface LockTimeout {
  /** How long it waits at the head of the queue. */
  readonly atHead: number
  /**
   * How long it waits in all, from the moment when the call first wants the lock. The wait within the
   * process counts.
   */
  readonly total: number
}

/** An open place or registry, which has a lock. */
export type Lockable = Pick<Tree, 'lockPath' | 'isPrivate' | 'prepareLock' | 'checkOwner'>

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
    place: Lockable,
    lockTimeout: LockTimeout,
    since: number,
    onWait: () => void = () => {},
    directory = place.lockPath(),
  ): Lock {
    const wait = { since, deadline: since + lockTimeout.total, atHead: lockTimeout.atHead, onWait }
    for (;;) {
      // If this thread has both files open already, they exist, and nothing has to be created.
      if (!LockFile.isIdle(join(directory, queueFile)) || !LockFile.isIdle(join(directory, lockFile)))
        place.prepareLock()
      try {
        const taken = undefinedIfMissing(() => takeFiles(place, directory, wait))
        if (taken !== undefined) return new Lock(taken.lock, taken.atHeadUntil)
      } catch (error) {
        throw lockError(error)
      }
      // The lock directory, or the lock file in it, was removed meanwhile. Tries again, which creates
      // the missing files.
      if (monotonic() >= wait.deadline) throw busyError(since)
    }
  }

  /** Whether the file of the lock is still in place. If not, another writer may hold a new lock. */
  get isHeld(): boolean {
    return this.#file.isInPlace()
  }

  release(): void {
    this.#file.release()
  }
}

const queueFile = 'queue.sqlite'
const lockFile = 'turn.sqlite'

interface Wait {
  readonly since: number
  readonly deadline: number
  readonly atHead: number
  readonly onWait: () => void
}

/**
 * Waits in the queue and takes the lock. Returns undefined if the lock file was removed meanwhile.
 * Throws `ENOENT` if the lock directory was removed.
 */
function takeFiles(
  place: Lockable,
  directory: string,
  wait: Wait,
): { lock: LockFile; atHeadUntil: number } | undefined {
  const queue = new LockFile(join(directory, queueFile), place)
  try {
    queue.take(queuePoll, wait.deadline, wait)
    return takeLockFile(place, directory, wait)
  } finally {
    queue.release()
  }
}

function takeLockFile(
  place: Lockable,
  directory: string,
  wait: Wait,
): { lock: LockFile; atHeadUntil: number } | undefined {
  const lock = new LockFile(join(directory, lockFile), place)
  let isTaken = false
  try {
    const atHeadUntil = Math.min(wait.deadline, monotonic() + wait.atHead)
    lock.take(lockPoll, atHeadUntil, wait)
    if (!lock.isInPlace()) return undefined
    place.checkOwner()
    isTaken = true
    return { lock, atHeadUntil }
  } finally {
    if (!isTaken) lock.release()
  }
}

/** An open lock file. */
interface Open {
  readonly database: DatabaseSync
  readonly inode: number
}

/** The maximum number of lock files that stay open between uses in a thread. */
const maxIdle = 64

/** The lock files of this thread that no writer holds now, by path. They stay open for the next writer. */
const idle = new Map<string, Open>()

/** Whether idle lock files stay open. Not on Windows, where a directory with an open file cannot be moved. */
const keepsIdle = process.platform !== 'win32'

/** One of the two lock files, open. `release` releases its lock. */
class LockFile {
  readonly #path: string
  readonly #open: Open

  constructor(path: string, place: Lockable) {
    this.#path = path
    this.#open = takeIdle(path) ?? openFile(path, place)
  }

  /** Whether the thread has the file open for its next writer, and the file is still in place. */
  static isIdle(path: string): boolean {
    const open = idle.get(path)
    return open !== undefined && isInPlace(path, open)
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
    return isInPlace(this.#path, this.#open)
  }

  release(): void {
    const { database } = this.#open
    try {
      if (database.isTransaction) database.exec('ROLLBACK')
      if (keepsIdle && idle.size < maxIdle && !idle.has(this.#path)) {
        idle.set(this.#path, this.#open)
        return
      }
    } catch {}
    database.close()
  }

  #try(): boolean {
    try {
      // On a read-only connection, `BEGIN IMMEDIATE` succeeds without a lock. Only a change fails, so
      // this makes one, which is never written to the file.
      this.#open.database.exec('BEGIN IMMEDIATE; PRAGMA user_version = 0')
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw error
    }
  }
}

function takeIdle(path: string): Open | undefined {
  const open = idle.get(path)
  idle.delete(path)
  if (open === undefined || isInPlace(path, open)) return open
  open.database.close()
  return undefined
}

function isInPlace(path: string, { inode }: Open): boolean {
  return lstatIfExists(path)?.ino === inode
}

function openFile(path: string, place: Lockable): Open {
  if (idle.size >= maxIdle) {
    for (const { database } of idle.values()) database.close()
    idle.clear()
  }
  const before = lstatIfExists(path)
  if (before !== undefined && !before.isFile()) {
    throw new StorageError('invalid-path', `\`${path}\` is not a file, but the lock needs one there: move it away`)
  }
  const database = connect(path, before !== undefined)
  try {
    // Throws if SQLite has opened the file only for reading.
    accessSync(path, constants.W_OK)
    // With SQLite's default journal mode, the first transaction on an empty file would create a journal file.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF')
    // With the mode that SQLite gives new files, a group that may use the directory could not write
    // this file.
    if (before === undefined) chmodSync(path, place.isPrivate() ? 0o600 : lstatSync(dirname(path)).mode & 0o666)
    return { database, inode: lstatSync(path).ino }
  } catch (error) {
    database.close()
    throw error
  }
}

function connect(path: string, exists: boolean): DatabaseSync {
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
  return new StorageError(
    'busy',
    `other writers kept the lock for the ${seconds} s that this call waited: try again, or wait longer (\`lockWait\`)`,
  )
}

/** The error of a lock file. An error of the component of files is a storage error already. */
function lockError(error: unknown): unknown {
  if (!(error instanceof Error)) return error
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

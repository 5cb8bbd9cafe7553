import { accessSync, chmodSync, constants, lstatSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { monotonic, sleep } from '../time.ts'
import { StorageFailure, unlessMissing } from './error.ts'
import { isBusy, isSqliteError, primaryCode, resultCode, Sqlite } from './sqlite-error.ts'
import { type Durability, lookAt, makeDirectory, type Root, unlessThere } from './directory.ts'

const queuePoll = 2
const turnPoll = 1

/** How long a writer waits, in milliseconds. */
export interface Patience {
  /** At the head of the queue, while nobody else can be next. */
  readonly atHead: number
  /** In all, from the call's first request, the wait within the process included. */
  readonly inAll: number
}

/**
 * A place's lock, held until `release`, or until the thread or the process ends in any way.
 *
 * It is an open write transaction on the empty SQLite file `turn.sqlite`, so every process with any SQLite
 * can hold it and the operating system releases it after a crash. `queue.sqlite` is the turnstile before it:
 * a writer keeps it while it polls the turn, so that one that re-takes at once starves nobody. Neither
 * file is ever opened but through SQLite: closing another handle would drop the lock.
 */
export class Lock {
  /** Until when the head of the queue waits for what else it needs, on the clock `monotonic`. */
  readonly atHeadUntil: number
  readonly #turn: LockFile

  private constructor(turn: LockFile, atHeadUntil: number) {
    this.atHeadUntil = atHeadUntil
    this.#turn = turn
  }

  /** `since` is when the call first asked, on the clock `monotonic`. `onWait` is called when it has to wait. */
  static acquire(
    root: Root,
    patience: Patience,
    since: number,
    onWait: () => void = () => {},
    durability: Durability = 'full',
  ): Lock {
    const wait = { since, giveUp: since + patience.inAll, atHead: patience.atHead, onWait }
    const isPrivate = root.isPrivate ?? false
    try {
      for (;;) {
        const directory = makeLockDirectory(root, durability)
        const taken = unlessMissing(() => takeTurn(directory, isPrivate, wait))
        if (taken !== undefined) return new Lock(taken.turn, taken.atHeadUntil)
        // The repository was removed, and perhaps made anew, meanwhile.
        if (monotonic() >= wait.giveUp) throw busy(since)
      }
    } catch (error) {
      throw lockFailure(error)
    }
  }

  /** Throws where the file was removed while the lock was held: it excludes nobody any more. */
  check(): void {
    if (!this.#turn.inPlace()) throw new StorageFailure('io', 'the lock was removed while it was held; call again')
  }

  release(): void {
    this.#turn[Symbol.dispose]()
  }
}

interface Wait {
  readonly since: number
  readonly giveUp: number
  readonly atHead: number
  readonly onWait: () => void
}

/** Passes the turnstile. What was removed meanwhile is undefined, or throws `ENOENT`. */
function takeTurn(
  directory: string,
  isPrivate: boolean,
  wait: Wait,
): { turn: LockFile; atHeadUntil: number } | undefined {
  using queue = new LockFile(join(directory, 'queue.sqlite'), isPrivate)
  queue.take(queuePoll, wait.giveUp, wait)
  using open = new DisposableStack()
  const turn = open.use(new LockFile(join(directory, 'turn.sqlite'), isPrivate))
  const atHeadUntil = Math.min(wait.giveUp, monotonic() + wait.atHead)
  turn.take(turnPoll, atHeadUntil, wait)
  if (!turn.inPlace()) return undefined
  open.move()
  return { turn, atHeadUntil }
}

/** One of the two files, open. Closing it lets go of the file's lock. */
class LockFile {
  readonly #path: string
  readonly #inode: number
  readonly #database: DatabaseSync

  constructor(path: string, isPrivate: boolean) {
    this.#path = path
    const before = lookAt(path)
    if (before !== undefined && !before.isFile()) {
      throw new StorageFailure('invalid-path', `\`${basename(path)}\` of the lock is not a file; move it away`)
    }
    const database = opened(path, before !== undefined)
    try {
      // Says why, where the file may not be written and was opened to be read.
      accessSync(path, constants.W_OK)
      // Without this the first transaction of an empty file would create a journal.
      database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF')
      // SQLite's own choice shuts out a group that may use the directory.
      if (before === undefined) chmodSync(path, isPrivate ? 0o600 : lstatSync(dirname(path)).mode & 0o666)
      this.#inode = lstatSync(path).ino
    } catch (error) {
      database.close()
      throw error
    }
    this.#database = database
  }

  /** Polls until the lock is taken, and throws `busy` at the time `giveUp`. */
  take(poll: number, giveUp: number, { since, onWait }: Wait): void {
    for (let first = true; !this.#try(); first = false) {
      if (monotonic() >= giveUp) throw busy(since)
      if (first) onWait()
      sleep(poll)
    }
  }

  inPlace(): boolean {
    return lookAt(this.#path)?.ino === this.#inode
  }

  [Symbol.dispose](): void {
    this.#database.close()
  }

  #try(): boolean {
    try {
      // What SQLite could open only to be read, for whatever reason, it begins without a lock; that it cannot be
      // changed tells. The change stays in memory.
      this.#database.exec('BEGIN IMMEDIATE; PRAGMA user_version = 0')
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw error
    }
  }
}

function opened(path: string, exists: boolean): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: 0 })
  } catch (error) {
    // SQLite does not say why it cannot: the directory may merely have been removed.
    accessSync(dirname(path), constants.W_OK)
    if (exists) accessSync(path, constants.W_OK)
    throw error
  }
}

/** What a writer answers that has waited too long since `since`. */
export function busy(since: number): StorageFailure {
  const seconds = ((monotonic() - since) / 1000).toFixed(1)
  return new StorageFailure(
    'busy',
    `other writers held the lock for the ${seconds} s that this call waited; call again`,
  )
}

/** The directory of a place's lock, which Git ignores where it is one of a work tree. */
export function makeLockDirectory(root: Root, durability: Durability): string {
  const directory = makeDirectory(root, durability)
  if (!root.isPrivate && basename(directory) === '.agent-memory') ignoredByGit(directory)
  return directory
}

function ignoredByGit(directory: string): void {
  const path = join(directory, '.gitignore')
  if (lookAt(path) === undefined) unlessThere(() => writeFileSync(path, '*\n', { flag: 'wx' }))
}

function lockFailure(error: unknown): StorageFailure {
  const primary = primaryCode(error)
  const { code } = error as NodeJS.ErrnoException
  const isRefused =
    primary === undefined
      ? ['EACCES', 'EPERM', 'EROFS'].includes(code ?? '')
      : primary === Sqlite.permission || primary === Sqlite.readOnly
  if (!isRefused) return StorageFailure.from(error, 'take the lock')
  return new StorageFailure(
    'read-only',
    'cannot take the lock: the place where it is kept can only be read by this process: check its owner and permissions',
    isSqliteError(error) ? resultCode(error) : code,
  )
}

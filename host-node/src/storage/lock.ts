import { accessSync, chmodSync, constants, lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { monotonic, sleep } from '../time.ts'
import { StorageFailure, unlessMissing } from './failure.ts'
import { lookAt, type Root } from './walk.ts'

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
 * A tree's lock, held until `release`, or until the thread or the process ends in any way.
 *
 * It is an open write transaction on the empty SQLite file `turn.sqlite`, so every process with any SQLite
 * can hold it and the operating system releases it after a crash. `queue.sqlite` is the turnstile before it:
 * a writer keeps it while it polls the turn, so that one that re-takes at once starves nobody. Neither
 * file is ever opened but through SQLite: closing another handle would drop the lock.
 */
export class Lock {
  readonly #turn: LockFile

  private constructor(turn: LockFile) {
    this.#turn = turn
  }

  /** `since` is when the call first asked, on the clock `monotonic`. `onWait` is called when it has to wait. */
  static acquire(root: Root, patience: Patience, since: number, onWait: () => void = () => {}): Lock {
    const wait = { since, giveUp: since + patience.inAll, atHead: patience.atHead, onWait }
    try {
      for (;;) {
        const directory = prepare(root)
        const turn = unlessMissing(() => takeTurn(directory, wait))
        if (turn !== undefined) return new Lock(turn)
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
function takeTurn(directory: string, wait: Wait): LockFile | undefined {
  using queue = new LockFile(join(directory, 'queue.sqlite'))
  queue.take(queuePoll, wait.giveUp, wait)
  using open = new DisposableStack()
  const turn = open.use(new LockFile(join(directory, 'turn.sqlite')))
  turn.take(turnPoll, Math.min(wait.giveUp, monotonic() + wait.atHead), wait)
  if (!turn.inPlace()) return undefined
  open.move()
  return turn
}

/** One of the two files, open. Closing it lets go of the file's lock. */
class LockFile {
  readonly #path: string
  readonly #inode: number
  readonly #database: DatabaseSync

  constructor(path: string) {
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
      if (before === undefined) chmodSync(path, lstatSync(dirname(path)).mode & 0o666)
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
      if (primaryCode(error) === sqliteBusy) return false
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

function prepare({ anchor, segments }: Root): string {
  let directory = anchor
  for (const segment of segments) {
    directory = join(directory, segment)
    unlessThere(() => mkdirSync(directory))
    if (segment === '.agent-memory') ignoredByGit(directory)
  }
  return directory
}

function ignoredByGit(directory: string): void {
  const path = join(directory, '.gitignore')
  if (lookAt(path) === undefined) unlessThere(() => writeFileSync(path, '*\n', { flag: 'wx' }))
}

function unlessThere(make: () => void): void {
  try {
    make()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

const sqliteBusy = 5
const sqlitePermission = 3
const sqliteReadOnly = 8

function lockFailure(error: unknown): StorageFailure {
  const primary = primaryCode(error)
  const { code } = error as NodeJS.ErrnoException
  const detail = primary === undefined ? code : `SQLite result code ${primary}`
  const refused =
    ['EACCES', 'EPERM', 'EROFS'].includes(code ?? '') || [sqlitePermission, sqliteReadOnly].includes(primary ?? 0)
  if (refused)
    return new StorageFailure('read-only', 'the lock cannot be written; make the repository writable', detail)
  return StorageFailure.from(error, 'take the lock')
}

function primaryCode(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number }
  return errcode === undefined ? undefined : errcode & 0xff
}

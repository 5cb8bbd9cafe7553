import { accessSync, constants, type Stats } from 'node:fs'
import { attempt, StorageFailure } from '../error.ts'
import { resultCode, type SqliteError } from '../sqlite-error.ts'
import { lookAt } from '../directory.ts'
import { notAFile, reported } from './error.ts'

/** Where changes stand that are not in the file yet, or not any more. */
const journals = ['-wal', '-journal']

/** What SQLite keeps beside a database. */
const kept = ['-wal', '-shm', '-journal']

/** A file that is read as if nobody changed it. */
export interface Unchanging {
  /** Whether nobody has changed it since, so that what was read is what it holds. */
  holds(): boolean
  /** What to throw where somebody has. */
  changed(): StorageFailure
}

/**
 * The database as a file that can be read where nothing can be written: on a medium that can only be read, or in a
 * directory of somebody else's. Throws where that is not why SQLite could not open it, as `error` says.
 *
 * SQLite itself reads a file that it may not write. In the mode of a write-ahead log it needs the log's index beside
 * it (`-shm`), though, and makes that where there is none. Where it cannot, and no log was left, the file is all there
 * is, and it is read as if nobody changed it. Whether somebody did is looked at after every read.
 */
export function unchangingFile(directory: string, path: string, location: string, error: SqliteError): Unchanging {
  const attempting = `open the database \`${location}\``
  const before = attempt(attempting, () => lookAt(path))
  checkReach(path, attempting)
  for (const suffix of kept) {
    const found = attempt(attempting, () => lookAt(path + suffix))
    if (found === undefined) continue
    if (!found.isFile()) throw notAFile(location + suffix)
    checkReach(path + suffix, attempting)
  }
  const refusal = refusalOf(directory, constants.W_OK | constants.X_OK)?.code ?? ''
  if (!['EROFS', 'EACCES', 'EPERM'].includes(refusal)) throw reported(error, location)
  const journal = attempt(attempting, () => journalOf(path))
  if (journal !== undefined) {
    const message =
      `cannot read \`${location}\`: a program has left changes in \`${location}${journal}\`, which only a process ` +
      'that may write there can bring in: let one open it, or copy both files to where this one may write'
    throw new StorageFailure(refusal === 'EROFS' ? 'read-only' : 'permission', message, resultCode(error))
  }
  return {
    holds: () => isSame(before, lookAt(path)) && journalOf(path) === undefined,
    changed: () => new StorageFailure('busy', `\`${location}\` was changed while it was read: try again`),
  }
}

/** What keeps this process from using a file in a way. */
export function refusalOf(path: string, mode: number): NodeJS.ErrnoException | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

function checkReach(path: string, attempting: string): void {
  const refusal = refusalOf(path, constants.R_OK)
  if (refusal?.code === 'EACCES' || refusal?.code === 'EPERM') throw StorageFailure.from(refusal, attempting)
}

/** The suffix of what holds changes that are not in the file. */
function journalOf(path: string): string | undefined {
  return journals.find((suffix) => (lookAt(path + suffix)?.size ?? 0) > 0)
}

function isSame(before: Stats | undefined, now: Stats | undefined): boolean {
  return (
    before !== undefined &&
    now !== undefined &&
    (['ino', 'size', 'mtimeMs', 'mode'] as const).every((field) => before[field] === now[field])
  )
}

import { accessSync, constants, type Stats } from 'node:fs'
import { attempt, lstatIfExists, StorageError } from '../error.ts'
import { resultCode, type SqliteError } from '../sqlite-error.ts'
import { notAFileError, databaseError } from './error.ts'

/** The journals. While one of them is not empty, the database file alone is not the current state. */
const journalSuffixes = ['-wal', '-journal']

/** The files that SQLite adds to a database. */
const sqliteSuffixes = ['-wal', '-shm', '-journal']

/** A database file that SQLite reads as immutable: https://www.sqlite.org/uri.html#uriimmutable */
export interface ImmutableFile {
  /** Whether the file is unchanged, so that the rows that were read are right. */
  isUnchanged(): boolean
  /** The error for a file that has changed. */
  changedError(): StorageError
}

/**
 * The file of a database that SQLite cannot open, since this process may not write its directory, but can read as
 * immutable. `error` is SQLite's error; throws if it has another reason.
 *
 * In WAL mode even a reader needs the index file (`-shm`), which SQLite cannot create in such a directory. Without a
 * log (`-wal`) the database file is complete, so SQLite may ignore the index and read the file as immutable. After each
 * read the caller checks that the file is unchanged.
 */
export function immutableFile(directory: string, path: string, location: string, error: SqliteError): ImmutableFile {
  const action = `open the database \`${location}\``
  const before = attempt(action, () => lstatIfExists(path))
  checkReadable(path, action)
  for (const suffix of sqliteSuffixes) {
    const found = attempt(action, () => lstatIfExists(path + suffix))
    if (found === undefined) continue
    if (!found.isFile()) throw notAFileError(location + suffix)
    checkReadable(path + suffix, action)
  }
  const accessCode = accessErrorOf(directory, constants.W_OK | constants.X_OK)?.code ?? ''
  if (!['EROFS', 'EACCES', 'EPERM'].includes(accessCode)) throw databaseError(error, location)
  const journal = attempt(action, () => journalOf(path))
  if (journal !== undefined) {
    const message =
      `cannot read \`${location}\`: a program has left changes in \`${location}${journal}\`, which only a process ` +
      'that may write there can bring in: let one open it, or copy both files to where this one may write'
    throw new StorageError(accessCode === 'EROFS' ? 'read-only' : 'permission', message, resultCode(error))
  }
  return {
    isUnchanged: () => isSame(before, lstatIfExists(path)) && journalOf(path) === undefined,
    changedError: () => new StorageError('busy', `\`${location}\` was changed while it was read: try again`),
  }
}

/** The error if this process may not use a file in the given mode, such as `R_OK`. */
export function accessErrorOf(path: string, mode: number): NodeJS.ErrnoException | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    return error as NodeJS.ErrnoException
  }
}

function checkReadable(path: string, action: string): void {
  const error = accessErrorOf(path, constants.R_OK)
  if (error?.code === 'EACCES' || error?.code === 'EPERM') throw StorageError.from(error, action)
}

/** The suffix of a journal that is not empty, or undefined if there is none. */
function journalOf(path: string): string | undefined {
  return journalSuffixes.find((suffix) => (lstatIfExists(path + suffix)?.size ?? 0) > 0)
}

function isSame(before: Stats | undefined, now: Stats | undefined): boolean {
  return (
    before !== undefined &&
    now !== undefined &&
    (['ino', 'size', 'mtimeMs', 'mode'] as const).every((field) => before[field] === now[field])
  )
}

import { lstatSync, type Stats } from 'node:fs'
import type { Error as ErrorRecord, ErrorCode } from '../generated/component/interfaces/agent-memory-storage-types.js'

// `ENOENT` is not here: `not-found` is only for a file that the caller expects to be missing at times.
const full: Reason = ['no-space', 'the medium is full: free some space']
const refused: Reason = ['permission', 'the operating system refuses: check the permissions']
const obstructed: Reason = ['invalid-path', 'something else stands there, or the medium takes no such name']
const reasons: Record<string, Reason> = {
  ENOSPC: full,
  EDQUOT: full,
  EROFS: ['read-only', 'the medium can only be read'],
  EACCES: refused,
  EPERM: refused,
  ELOOP: obstructed,
  ENOTDIR: obstructed,
}
const unknown: Reason = ['io', 'the medium reports an error']

/** An error code, and the text of the reason, which is the same as in the native host. */
type Reason = [ErrorCode, string]

/** A storage error. The component receives it as the plain object that `record` returns. */
export class StorageError extends Error {
  readonly code: ErrorCode
  readonly detail: string | undefined

  constructor(code: ErrorCode, message: string, detail?: string) {
    super(message)
    this.code = code
    this.detail = detail
  }

  /** The storage error for any error of `action`. The action may name granted paths only. */
  static from(error: unknown, action: string): StorageError {
    if (error instanceof StorageError) return error
    const { code, errno, message } = error as NodeJS.ErrnoException
    if (code === undefined || errno === undefined) {
      return new StorageError('io', `cannot ${action}: an unexpected error of the host`, String(message ?? error))
    }
    const [kind, reason] = reasons[code] ?? unknown
    return new StorageError(kind, `cannot ${action}: ${reason}`, code)
  }

  record(): ErrorRecord {
    return { code: this.code, message: this.message, ...(this.detail !== undefined && { detail: this.detail }) }
  }
}

/** The stats of a path, or undefined if nothing exists at it. Symbolic links are not followed. */
export function lstatIfExists(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

/** Runs `work`, and makes any error that it throws a storage error of `action`. */
export function attempt<T>(action: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw StorageError.from(error, action)
  }
}

/** Returns the result of `work`, or undefined if it throws `ENOENT`. Throws every other error. */
export function undefinedIfMissing<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

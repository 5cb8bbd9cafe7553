import { getSystemErrorMessage } from 'node:util'
import type { CommitError as CommitErrorRecord } from '../generated/component/interfaces/agent-memory-storage-documents.js'
import type { Error as ErrorRecord, ErrorCode } from '../generated/component/interfaces/agent-memory-storage-types.js'

// `ENOENT` is not here: `not-found` is only for a file that the caller expects to be missing at times.
const codes: Record<string, ErrorCode> = {
  ENOSPC: 'no-space',
  EDQUOT: 'no-space',
  EROFS: 'read-only',
  EACCES: 'permission',
  EPERM: 'permission',
  EFBIG: 'too-large',
  ELOOP: 'invalid-path',
  ENOTDIR: 'invalid-path',
  EISDIR: 'invalid-path',
  ENAMETOOLONG: 'invalid-path',
}

/** A storage error. `record` gives the WIT's plain object, which the component receives. */
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
    return new StorageError(codes[code] ?? 'io', `cannot ${action}: ${getSystemErrorMessage(errno)}`, code)
  }

  record(): ErrorRecord {
    return { code: this.code, message: this.message, ...(this.detail !== undefined && { detail: this.detail }) }
  }
}

/** The error of a commit, with the change that failed and the number of changes that were applied. */
export class CommitError extends Error {
  readonly error: StorageError
  /** The index of the change; undefined if the whole commit failed. */
  readonly change: number | undefined
  readonly applied: number

  constructor(error: StorageError, change: number | undefined, applied: number) {
    super(error.message)
    this.error = error
    this.change = change
    this.applied = applied
  }

  record(): CommitErrorRecord {
    return {
      error: this.error.record(),
      ...(this.change !== undefined && { change: this.change }),
      applied: this.applied,
    }
  }
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

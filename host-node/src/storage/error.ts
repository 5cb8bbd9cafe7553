import { getSystemErrorMessage } from 'node:util'
import type { CommitError } from '../generated/component/interfaces/agent-memory-storage-documents.js'
import type { Error as StorageError, ErrorCode } from '../generated/component/interfaces/agent-memory-storage-types.js'

export type { ErrorCode, StorageError }

// No `ENOENT`: only who knows that an absence is an answer says `not-found`.
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

/** A storage error on its way to the seam, where it becomes the plain record that the component reads. */
export class StorageFailure extends Error {
  readonly code: ErrorCode
  readonly detail: string | undefined

  constructor(code: ErrorCode, message: string, detail?: string) {
    super(message)
    this.code = code
    this.detail = detail
  }

  /** Names what was being done; the caller is trusted to name no path beyond what was granted. */
  static from(error: unknown, doing: string): StorageFailure {
    if (error instanceof StorageFailure) return error
    const { code, errno, message } = error as NodeJS.ErrnoException
    if (code === undefined || errno === undefined) {
      return new StorageFailure('io', `cannot ${doing}: an unexpected error of the host`, String(message ?? error))
    }
    return new StorageFailure(codes[code] ?? 'io', `cannot ${doing}: ${getSystemErrorMessage(errno)}`, code)
  }

  record(): StorageError {
    return { code: this.code, message: this.message, ...(this.detail !== undefined && { detail: this.detail }) }
  }
}

/** A commit that failed: which change, and how many of them stand. */
export class CommitFailure extends Error {
  readonly failure: StorageFailure
  readonly change: number | undefined
  readonly applied: number

  constructor(failure: StorageFailure, change: number | undefined, applied: number) {
    super(failure.message)
    this.failure = failure
    this.change = change
    this.applied = applied
  }

  record(): CommitError {
    return {
      error: this.failure.record(),
      ...(this.change !== undefined && { change: this.change }),
      applied: this.applied,
    }
  }
}

/** Runs file work; whatever it throws says what was being done. */
export function attempt<T>(doing: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw StorageFailure.from(error, doing)
  }
}

/** What `work` returns, or undefined where nothing is there. Every other error is thrown. */
export function unlessMissing<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The error that `node:sqlite` throws if SQLite reports one. */
export interface SqliteError extends Error {
  /** The extended result code. */
  readonly errcode: number
}

/** SQLite's primary result codes: https://www.sqlite.org/rescode.html */
export const Sqlite = {
  permission: 3,
  busy: 5,
  locked: 6,
  readOnly: 8,
  interrupt: 9,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  tooBig: 18,
  constraint: 19,
  authorization: 23,
  range: 25,
  notADatabase: 26,
} as const

export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && 'errcode' in error
}

/** The primary result code, or undefined if it is not an error of SQLite. */
export function primaryCode(error: unknown): number | undefined {
  return isSqliteError(error) ? error.errcode & 0xff : undefined
}

/** Whether another connection has a lock. Deno gives SQLite's message, but no result code. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  if (code === undefined) return error instanceof Error && error.message.includes('is locked')
  return code === Sqlite.busy || code === Sqlite.locked
}

export function resultCode(error: SqliteError): string {
  return `SQLite result code ${error.errcode}`
}

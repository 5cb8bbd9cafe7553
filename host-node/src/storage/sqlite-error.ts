/** What `node:sqlite` throws where SQLite reports an error. */
export interface SqliteError extends Error {
  /** The extended result code. */
  readonly errcode: number
}

/** Primary result codes. */
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

/** The primary result code, or undefined where it is no error of SQLite's. */
export function primaryCode(error: unknown): number | undefined {
  return isSqliteError(error) ? error.errcode & 0xff : undefined
}

/** Whether another connection's lock is in the way. Deno gives no result code, but SQLite's text. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  if (code === undefined) return error instanceof Error && error.message.includes('is locked')
  return code === Sqlite.busy || code === Sqlite.locked
}

export function resultCode(error: SqliteError): string {
  return `SQLite result code ${error.errcode}`
}

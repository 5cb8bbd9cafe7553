import { StorageError } from '../error.ts'
import { isSqliteError, resultCode, Sqlite, type SqliteError } from '../sqlite-error.ts'

/** The extended result codes of the constraints UNIQUE, PRIMARYKEY and ROWID. */
const uniqueConstraints = new Set([2067, 1555, 2579])

/** The storage error for any error of the database at `location`. */
export function databaseError(error: unknown, location: string): StorageError {
  return isSqliteError(error) ? fromSqlite(error, location) : StorageError.from(error, `use \`${location}\``)
}

function fromSqlite(error: SqliteError, location: string): StorageError {
  const detail = resultCode(error)
  switch (error.errcode & 0xff) {
    case Sqlite.constraint: {
      if (!uniqueConstraints.has(error.errcode)) break
      const message = `a statement breaks a unique constraint of \`${location}\`: ${error.message}`
      return new StorageError('already-exists', message, detail)
    }
    case Sqlite.full:
      return new StorageError('no-space', `cannot write \`${location}\`: the medium is full: free some space`, detail)
    case Sqlite.readOnly:
      return readOnlyError(location, detail)
    case Sqlite.busy:
    case Sqlite.locked:
      return new StorageError('busy', `another program keeps \`${location}\` locked: try again`, detail)
    case Sqlite.permission: {
      const message = `cannot use \`${location}\`: the operating system refuses: check the permissions`
      return new StorageError('permission', message, detail)
    }
    case Sqlite.authorization:
      return notGrantedError(detail)
    case Sqlite.tooBig:
      return new StorageError('too-large', 'a text, a blob or a row is longer than 16777216 bytes', detail)
    case Sqlite.corrupt:
    case Sqlite.notADatabase: {
      const message = `\`${location}\` is damaged: look at it with \`agent-memory doctor\`, then restore it from a backup, or move it away`
      return new StorageError('corrupted', message, detail)
    }
    case Sqlite.interrupt:
      return new StorageError('cancelled', `a statement on \`${location}\` was stopped`, detail)
    case Sqlite.ioError:
    case Sqlite.cannotOpen:
      return new StorageError('io', `cannot use \`${location}\`: the medium reports an error`, detail)
  }
  return new StorageError('io', `cannot run a statement on \`${location}\`: ${error.message}`, detail)
}

export function notOneStatementError(): StorageError {
  return new StorageError('io', 'one statement at a time: the text holds none or several')
}

export function notGrantedError(detail?: string): StorageError {
  return new StorageError(
    'not-granted',
    'a statement that is not granted: it may attach nothing, load nothing, set nothing that outlives the call, ' +
      'and begin or end no transaction',
    detail,
  )
}

export function readOnlyError(location: string, detail?: string): StorageError {
  return new StorageError(
    'read-only',
    `cannot write \`${location}\`: it can only be read by this process: check its owner and permissions`,
    detail,
  )
}

export function notAFileError(location: string): StorageError {
  const message = `\`${location}\` is not a file (a symbolic link is not followed): move it away`
  return new StorageError('invalid-path', message)
}

export function nestedError(): StorageError {
  return new StorageError('nested', 'the call has a transaction already: a call takes one at a time')
}

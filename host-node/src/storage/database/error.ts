import { StorageFailure } from '../error.ts'
import { isSqliteError, resultCode, Sqlite, type SqliteError } from '../sqlite-error.ts'

/** Extended codes of the constraints that say that something is there already: UNIQUE, PRIMARYKEY, ROWID. */
const unique = new Set([2067, 1555, 2579])

/** What SQLite reports about the database at `location`, in the words of wit/storage.wit. */
export function reported(error: unknown, location: string): StorageFailure {
  return isSqliteError(error) ? ofSqlite(error, location) : StorageFailure.from(error, `use \`${location}\``)
}

function ofSqlite(error: SqliteError, location: string): StorageFailure {
  const detail = resultCode(error)
  switch (error.errcode & 0xff) {
    case Sqlite.constraint: {
      if (!unique.has(error.errcode)) break
      const message = `a statement breaks a unique constraint of \`${location}\`: ${error.message}`
      return new StorageFailure('already-exists', message, detail)
    }
    case Sqlite.full:
      return new StorageFailure('no-space', `cannot write \`${location}\`: the medium is full: free some space`, detail)
    case Sqlite.readOnly:
      return readOnly(location, detail)
    case Sqlite.busy:
    case Sqlite.locked:
      return new StorageFailure('busy', `another program keeps \`${location}\` locked: try again`, detail)
    case Sqlite.permission: {
      const message = `cannot use \`${location}\`: the operating system refuses: check the permissions`
      return new StorageFailure('permission', message, detail)
    }
    case Sqlite.authorization:
      return notGranted(detail)
    case Sqlite.tooBig:
      return new StorageFailure('too-large', 'a text, a blob or a row is longer than 16777216 bytes', detail)
    case Sqlite.corrupt:
    case Sqlite.notADatabase: {
      const message = `\`${location}\` is damaged: restore it from a backup, or move it away`
      return new StorageFailure('corrupted', message, detail)
    }
    case Sqlite.interrupt:
      return new StorageFailure('cancelled', `a statement on \`${location}\` was stopped`, detail)
    case Sqlite.ioError:
    case Sqlite.cannotOpen:
      return new StorageFailure('io', `cannot use \`${location}\`: the medium reports an error`, detail)
  }
  return new StorageFailure('io', `cannot run a statement on \`${location}\`: ${error.message}`, detail)
}

export function notOne(): StorageFailure {
  return new StorageFailure('io', 'one statement at a time: the text holds none or several')
}

export function notGranted(detail?: string): StorageFailure {
  return new StorageFailure(
    'not-granted',
    'a statement that is not granted: it may attach nothing, load nothing, set nothing that outlives the call, ' +
      'and begin or end no transaction',
    detail,
  )
}

export function readOnly(location: string, detail?: string): StorageFailure {
  return new StorageFailure(
    'read-only',
    `cannot write \`${location}\`: it can only be read by this process: check its owner and permissions`,
    detail,
  )
}

export function notAFile(location: string): StorageFailure {
  const message = `\`${location}\` is not a file (a symbolic link is not followed): move it away`
  return new StorageFailure('invalid-path', message)
}

export function nested(): StorageFailure {
  return new StorageFailure('nested', 'the call has a transaction already: a call takes one at a time')
}

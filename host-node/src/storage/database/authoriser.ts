import { constants, type DatabaseSync } from 'node:sqlite'
import { isPragmaGranted } from './pragmas.ts'
import { judge } from './statement-text.ts'

const deniedFunctions = new Set(['load_extension', 'fts3_tokenizer'])

/** The actions that only read. */
const readActions = new Set([
  constants.SQLITE_FUNCTION,
  constants.SQLITE_READ,
  constants.SQLITE_RECURSIVE,
  constants.SQLITE_SELECT,
])

/** The granted actions that change something. */
const writeActions = new Set([
  constants.SQLITE_ALTER_TABLE,
  constants.SQLITE_ANALYZE,
  constants.SQLITE_CREATE_INDEX,
  constants.SQLITE_CREATE_TABLE,
  constants.SQLITE_CREATE_TRIGGER,
  constants.SQLITE_CREATE_VIEW,
  constants.SQLITE_CREATE_VTABLE,
  constants.SQLITE_DELETE,
  constants.SQLITE_DROP_INDEX,
  constants.SQLITE_DROP_TABLE,
  constants.SQLITE_DROP_TRIGGER,
  constants.SQLITE_DROP_VIEW,
  constants.SQLITE_DROP_VTABLE,
  constants.SQLITE_INSERT,
  constants.SQLITE_REINDEX,
  constants.SQLITE_UPDATE,
])

/**
 * Decides which statements a call may run. A statement may use only this database, and must not change settings of the
 * connection beyond the call.
 *
 * @see https://www.sqlite.org/c3ref/set_authorizer.html
 */
export class Authoriser {
  /** Whether an action was denied since `reset`. SQLite's own error does not always tell. */
  hasDenied = false
  /** Whether a statement that was prepared since `reset` changes something. */
  hasChanges = false
  #isHost = false
  /** Whether the text of a statement decides, since Node before 24.10 has no authoriser. */
  readonly #judgesText: boolean

  constructor(database: DatabaseSync) {
    this.#judgesText = !('setAuthorizer' in database)
    if (this.#judgesText) return
    // SQLite calls this when it prepares a statement, also when a changed schema makes it prepare one again.
    database.setAuthorizer((action, first, second, schema) => {
      if (this.#isHost) return constants.SQLITE_OK
      if (writeActions.has(action) || setsUserVersion(action, first, second)) this.hasChanges = true
      if (isGranted(action, first, second, schema)) return constants.SQLITE_OK
      this.hasDenied = true
      return constants.SQLITE_DENY
    })
  }

  reset(): void {
    this.hasDenied = false
    this.hasChanges = false
  }

  /**
   * In Node before 24.10, checks the text of a call's statement before it is prepared. Returns false if it is denied.
   */
  admits(sql: string): boolean {
    if (!this.#judgesText) return true
    const verdict = judge(sql)
    this.hasChanges = verdict === 'write'
    return verdict !== 'denied'
  }

  /** Runs statements of the host. Nothing is denied. */
  asHost<T>(work: () => T): T {
    this.#isHost = true
    try {
      return work()
    } finally {
      this.#isHost = false
    }
  }
}

/** Whether a pragma sets `user_version`, which is stored in the database. */
function setsUserVersion(action: number, pragma: string | null, value: string | null): boolean {
  return action === constants.SQLITE_PRAGMA && pragma?.toLowerCase() === 'user_version' && value !== null
}

function isGranted(action: number, first: string | null, second: string | null, schema: string | null): boolean {
  if (action === constants.SQLITE_FUNCTION) return !deniedFunctions.has(second?.toLowerCase() ?? '')
  // `CREATE TABLE temp.t` is reported like an ordinary table, so the schema decides. Updates of `temp`
  // are allowed, because `ALTER TABLE` makes them.
  if (writeActions.has(action)) return schema !== 'temp' || action === constants.SQLITE_UPDATE
  if (action !== constants.SQLITE_PRAGMA) return readActions.has(action)
  return isPragmaGranted(first?.toLowerCase() ?? '', second !== null)
}

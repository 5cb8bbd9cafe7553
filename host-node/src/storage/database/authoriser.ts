import { constants, type DatabaseSync } from 'node:sqlite'

/** Pragmas that read, and one that a transaction may also set. */
const pragmas = new Set([
  'data_version', // FTS5 asks for it
  'foreign_key_check',
  'freelist_count',
  'index_info',
  'index_list',
  'index_xinfo',
  'integrity_check',
  'page_count',
  'page_size',
  'quick_check',
  'table_info',
  'table_list',
  'table_xinfo',
  'user_version',
])

/** Of those, the ones that have no argument: it would set something. */
const withoutArgument = new Set(['data_version', 'freelist_count', 'page_count', 'page_size'])

const deniedFunctions = new Set(['load_extension', 'fts3_tokenizer'])

/** What only reads, whatever its arguments. */
const reads = new Set([
  constants.SQLITE_FUNCTION,
  constants.SQLITE_READ,
  constants.SQLITE_RECURSIVE,
  constants.SQLITE_SELECT,
])

/** What changes something, and may. */
const changes = new Set([
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

/** Which statements a call may run: none that reaches beyond the database or outlives the call. */
export class Authoriser {
  /** Whether something was denied since `forget`: SQLite's own error does not always tell. */
  hasDenied = false
  /** Whether what was prepared since `forget` changes something. */
  hasChanges = false
  #isHost = false

  constructor(database: DatabaseSync) {
    // Asked when a statement is prepared; also anew, while it runs, where the schema has changed.
    database.setAuthorizer((action, first, second, schema) => {
      if (this.#isHost) return constants.SQLITE_OK
      if (changes.has(action) || sets(action, first, second)) this.hasChanges = true
      if (isGranted(action, first, second, schema)) return constants.SQLITE_OK
      this.hasDenied = true
      return constants.SQLITE_DENY
    })
  }

  forget(): void {
    this.hasDenied = false
    this.hasChanges = false
  }

  /** Runs what the host may do. */
  asHost<T>(work: () => T): T {
    this.#isHost = true
    try {
      return work()
    } finally {
      this.#isHost = false
    }
  }
}

/** Whether it sets what is kept in the database. */
function sets(action: number, pragma: string | null, value: string | null): boolean {
  return action === constants.SQLITE_PRAGMA && pragma?.toLowerCase() === 'user_version' && value !== null
}

function isGranted(action: number, first: string | null, second: string | null, schema: string | null): boolean {
  if (action === constants.SQLITE_FUNCTION) return !deniedFunctions.has(second?.toLowerCase() ?? '')
  // `CREATE TABLE temp.t` is no `CREATE TEMP TABLE t` here; and `ALTER TABLE` updates what refers to the table.
  if (changes.has(action)) return schema !== 'temp' || action === constants.SQLITE_UPDATE
  if (action !== constants.SQLITE_PRAGMA) return reads.has(action)
  const name = first?.toLowerCase() ?? ''
  return pragmas.has(name) && (second === null || !withoutArgument.has(name))
}

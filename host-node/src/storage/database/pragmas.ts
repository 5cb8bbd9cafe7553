/** The granted pragmas. A transaction may also set `user_version`; all others only read. */
const pragmas = new Set([
  'data_version', // FTS5 needs it.
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

/** The granted pragmas that may have no argument. With one, `page_size` would set something. */
const withoutArgument = new Set(['data_version', 'freelist_count', 'page_count', 'page_size'])

/** Whether a call may use a pragma, whose name is in lower case. */
export function isPragmaGranted(name: string, hasArgument: boolean): boolean {
  return pragmas.has(name) && !(hasArgument && withoutArgument.has(name))
}

/** Why a call has no outcome. */
export type MemoryCallErrorCode =
  /** No tool of that name is mounted. */
  | 'not-found'
  /** The arguments are no JSON object. */
  | 'invalid-request'
  /** The component ran for longer than its limit. */
  | 'deadline'
  /** The component needed more memory than its limit. */
  | 'memory'
  /** The component asked storage more often than its limit. */
  | 'storage-calls'
  /** The component failed: an error of this library. */
  | 'trap'
  /** The memory is closed. */
  | 'closed'

/**
 * A call that has no outcome. What a tool refuses is an outcome with `isError`, not this.
 *
 * After `deadline`, `memory`, `storage-calls` and `trap` a change may have been made; every other code promises that none was.
 * The next call works.
 */
export class MemoryCallError extends Error {
  override readonly name = 'MemoryCallError'
  readonly code: MemoryCallErrorCode

  constructor(code: MemoryCallErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** A memory that cannot be opened: an option is wrong, or the component cannot be loaded. */
export class MemoryOpenError extends Error {
  override readonly name = 'MemoryOpenError'
  readonly code: 'invalid-option' | 'component'

  constructor(code: 'invalid-option' | 'component', message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

export function invalidOption(option: string, why: string, cause?: unknown): MemoryOpenError {
  return new MemoryOpenError('invalid-option', `the option \`${option}\` ${why}`, cause)
}

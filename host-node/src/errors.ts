/** The reason why a call has no outcome. */
export type MemoryCallErrorCode =
  /** No mounted toolset has this tool, resource, prompt, argument to complete, or follow-up. */
  | 'not-found'
  /** The arguments are not a JSON object, or not those of the prompt. Or another argument of the method is wrong. */
  | 'invalid-request'
  /** The component or a statement on a database ran for longer than its limit. */
  | 'deadline'
  /** The component needed more memory than its limit. */
  | 'memory'
  /** The component made more storage calls than its limit. */
  | 'storage-calls'
  /** The component failed. This is an error of this library. */
  | 'trap'
  /** The memory is closed. */
  | 'closed'

/**
 * The error of a call that has no outcome. A tool's own error is an outcome with `isError` instead.
 *
 * With the codes `deadline`, `memory`, `storage-calls` and `trap`, the call may have changed something. With every
 * other code it has changed nothing. Unless the memory is closed, the next call works.
 */
export class MemoryCallError extends Error {
  override readonly name = 'MemoryCallError'
  readonly code: MemoryCallErrorCode

  constructor(code: MemoryCallErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** The error of a memory that cannot be opened: an option is wrong, or the component cannot be loaded. */
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

/** Throws unless the value is an object and not an array. */
export function requireObject(option: string, value: unknown): asserts value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidOption(option, 'is not an object')
}

export function unknownOption(option: string, known: readonly string[]): MemoryOpenError {
  return invalidOption(option, `does not exist; there are ${known.map((name) => `\`${name}\``).join(', ')}`)
}

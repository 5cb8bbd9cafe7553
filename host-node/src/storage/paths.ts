import { hash } from 'node:crypto'
import { StorageError } from './error.ts'

const maxSegmentBytes = 255
const maxSegments = 16
const temporarySuffix = '.agent-memory-tmp'

const controlOrReserved = /[\u0000-\u001f\u007f-\u009f\\:]/u
/** The names of Windows devices. */
const device = /^(con|prn|aux|nul|conin\$|conout\$|com[1-9¹²³]|lpt[1-9¹²³])$/i

/**
 * The segments of a document's path. Throws `invalid-path` if it breaks a rule of `resource tree` in
 * `wit/storage/storage.wit`. All hosts are tested with `tests/paths.json`.
 */
export function segmentsOf(path: string): string[] {
  const segments = path.split('/')
  if (segments.length > maxSegments) throw invalidPathError(path, `has more than ${maxSegments} segments`)
  for (const segment of segments) {
    const violation = violationOf(segment)
    if (violation !== undefined) throw invalidPathError(path, violation)
  }
  return segments
}

/** The segments of a directory's path. The empty path is the tree's root. */
export function directorySegmentsOf(path: string): string[] {
  return path === '' ? [] : segmentsOf(path)
}

/** Whether a name is one of the host's own names, in upper or lower case. */
export function isOwnName(name: string, ownNames: readonly string[] = []): boolean {
  const lower = name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  return ownNames.includes(lower)
}

/** The name of the temporary file with a document's new contents. A rename then replaces the document by it. */
export function temporaryName(name: string): string {
  const temporary = `.${name}${temporarySuffix}`
  return Buffer.byteLength(temporary) <= maxSegmentBytes ? temporary : `.${hash('sha256', name)}${temporarySuffix}`
}

export function isTemporary(name: string): boolean {
  return name.startsWith('.') && name.endsWith(temporarySuffix) && name.length > temporarySuffix.length
}

/** The rule that a segment breaks, as a part of a message. */
function violationOf(segment: string): string | undefined {
  if (segment === '') return 'has an empty segment'
  if (Buffer.byteLength(segment) > maxSegmentBytes) return `has a segment of more than ${maxSegmentBytes} bytes`
  if (controlOrReserved.test(segment)) return 'has a control character, `\\` or `:`'
  if (segment.endsWith('.') || segment.endsWith(' ')) return 'has a segment that ends in a dot or a space'
  if (segment.toLowerCase() === '.git') return 'has a segment `.git`'
  if (isTemporary(segment)) return "has the name of one of the host's temporary files"
  const stem = segment.split('.', 1)[0]!.replace(/ +$/, '')
  if (device.test(stem)) return 'has the name of a device'
  return undefined
}

function invalidPathError(path: string, why: string): StorageError {
  return new StorageError('invalid-path', `the path \`${path}\` ${why}; use another name`)
}

import { hash } from 'node:crypto'
import { StorageFailure } from './error.ts'

const longestSegment = 255
const mostSegments = 16
const suffix = '.agent-memory-tmp'

const controlOrReserved = /[\u0000-\u001f\u007f-\u009f\\:]/u
const device = /^(con|prn|aux|nul|conin\$|conout\$|com[1-9¹²³]|lpt[1-9¹²³])$/i

/**
 * The segments of a document's path, checked by the rules of `resource tree` in wit/storage.wit. Every
 * host is tested with tests/paths.json.
 */
export function segmentsOf(path: string): string[] {
  const segments = path.split('/')
  if (segments.length > mostSegments) throw refused(path, `has more than ${mostSegments} segments`)
  for (const segment of segments) {
    const why = objection(segment)
    if (why !== undefined) throw refused(path, why)
  }
  return segments
}

/** As `segmentsOf`, but the empty path is the tree's root. */
export function directorySegmentsOf(path: string): string[] {
  return path === '' ? [] : segmentsOf(path)
}

/** Whether a name is one of those, in any case: of what the host keeps for itself. */
export function isOwn(name: string, ownNames: readonly string[] = []): boolean {
  const lower = name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  return ownNames.includes(lower)
}

/** Where the new contents of a document wait, beside it, until they replace it. */
export function temporaryName(name: string): string {
  const whole = `.${name}${suffix}`
  return Buffer.byteLength(whole) <= longestSegment ? whole : `.${hash('sha256', name)}${suffix}`
}

export function isTemporary(name: string): boolean {
  return name.startsWith('.') && name.endsWith(suffix) && name.length > suffix.length
}

function objection(segment: string): string | undefined {
  if (segment === '') return 'has an empty segment'
  if (Buffer.byteLength(segment) > longestSegment) return `has a segment of more than ${longestSegment} bytes`
  if (controlOrReserved.test(segment)) return 'has a control character, `\\` or `:`'
  if (segment.endsWith('.') || segment.endsWith(' ')) return 'has a segment that ends in a dot or a space'
  if (segment.toLowerCase() === '.git') return 'has a segment `.git`'
  if (isTemporary(segment)) return "has the name of one of the host's temporary files"
  const stem = segment.split('.', 1)[0]!.replace(/ +$/, '')
  if (device.test(stem)) return 'has the name of a device'
  return undefined
}

function refused(path: string, why: string): StorageFailure {
  return new StorageFailure('invalid-path', `the path \`${path}\` ${why}; use another name`)
}

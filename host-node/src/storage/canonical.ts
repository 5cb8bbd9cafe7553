import { isUtf8 } from 'node:buffer'
import { realpathSync } from 'node:fs'

/** The canonical path, with all symbolic links followed. Undefined if it is not UTF-8. */
export function canonicalPath(path: string): string | undefined {
  return textOf(canonicalBytes(path))
}

/** The canonical path as bytes, which need not be UTF-8. */
export function canonicalBytes(path: string): Buffer {
  return realpathSync.native(path, 'buffer')
}

/** The text of a path, or undefined if it is not UTF-8: a replacement character would name another file. */
export function textOf(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

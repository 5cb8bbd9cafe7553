import { isUtf8 } from 'node:buffer'
import { realpathSync } from 'node:fs'

/** Where a path leads once every symbolic link is followed, or undefined where that is not UTF-8. */
export function canonicalPath(path: string): string | undefined {
  return textOf(canonicalBytes(path))
}

/** As `canonicalPath`, whatever the bytes are. */
export function canonicalBytes(path: string): Buffer {
  return realpathSync.native(path, 'buffer')
}

/** What bytes say, or undefined where they are not UTF-8: with the replacement character they would name another file. */
export function textOf(bytes: Buffer): string | undefined {
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

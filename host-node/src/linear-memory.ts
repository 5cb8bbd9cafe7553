const memorySection = 5
const headerLength = 8
const pageBytes = 65536

/**
 * Limits each linear memory that a core module defines to `limit` bytes. May change and return the given array.
 *
 * A worker's resource limits do not cover linear memory. So the limit is written into the module's memory section
 * before the module is compiled. `scripts/transpile.ts` has written a limit there already, so the bytes of the new
 * limit fit in its place.
 *
 * @see https://webassembly.github.io/spec/core/binary/modules.html#memory-section
 */
export function limitLinearMemory(module: Uint8Array, limit: number): Uint8Array<ArrayBuffer> {
  const pages = Math.floor(limit / pageBytes)
  for (let at = headerLength; at < module.length;) {
    const size = readLeb128(module, at + 1)
    const end = size.next + size.value
    if (module[at] === memorySection) {
      if (limitInPlace(module.subarray(size.next, end), pages)) return module as Uint8Array<ArrayBuffer>
      const body = limitSection(module.subarray(size.next, end), pages)
      return concat([module.subarray(0, at), [memorySection], leb128(body.length), body, module.subarray(end)])
    }
    at = end
  }
  return Uint8Array.from(module)
}

/**
 * Overwrites the limit in a section with one memory and a limit of `maxLength` bytes. False if it is another section.
 */
function limitInPlace(section: Uint8Array, pages: number): boolean {
  if (section[0] !== 1 || section[1] !== 1) return false
  const min = readLeb128(section, 2)
  const max = readLeb128(section, min.next)
  if (max.next - min.next !== maxLength || min.value > pages) return false
  section.set(padded(Math.min(max.value, pages)), min.next)
  return true
}

/** The length of the longest encoded limit in bytes: the limit of 65,536 pages. */
const maxLength = 3

function padded(value: number): number[] {
  return [(value & 127) | 128, ((value >> 7) & 127) | 128, value >> 14]
}

function limitSection(section: Uint8Array, pages: number): Uint8Array {
  const count = readLeb128(section, 0)
  const parts: Iterable<number>[] = [section.subarray(0, count.next)]
  let at = count.next
  for (let left = count.value; left > 0; left--) {
    const flags = section[at]!
    if (flags > 1) throw new Error('the component has a shared or a 64-bit memory, which this host cannot run')
    const min = readLeb128(section, at + 1)
    const max = flags === 1 ? readLeb128(section, min.next) : { value: pages, next: min.next }
    if (min.value > pages)
      throw new Error(
        `the component starts with ${min.value} pages of memory; the limit is ${pages}: raise \`limits.memory\``,
      )
    parts.push([1], leb128(min.value), padded(Math.min(max.value, pages)))
    at = max.next
  }
  return concat(parts)
}

function readLeb128(bytes: Uint8Array, at: number): { value: number; next: number } {
  for (let value = 0, factor = 1; ; factor *= 128) {
    const byte = bytes[at++]!
    value += (byte & 127) * factor
    if (byte < 128) return { value, next: at }
  }
}

function leb128(value: number): number[] {
  const bytes = []
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value & 127) | 128)
  return [...bytes, value]
}

function concat(parts: Iterable<number>[]): Uint8Array<ArrayBuffer> {
  const arrays = parts.map((part) => (part instanceof Uint8Array ? part : Uint8Array.from(part)))
  const whole = new Uint8Array(arrays.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of arrays) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

const memorySection = 5
const headerLength = 8
const pageBytes = 65536

/**
 * The core module with each linear memory that it defines limited to `limit` bytes.
 *
 * A worker's resource limits do not cover linear memory. So the limit is written into the module's memory section
 * before the module is compiled.
 *
 * @see https://webassembly.github.io/spec/core/binary/modules.html#memory-section
 */
export function limitLinearMemory(module: Uint8Array, limit: number): Uint8Array<ArrayBuffer> {
  const pages = Math.floor(limit / pageBytes)
  for (let at = headerLength; at < module.length;) {
    const size = readLeb128(module, at + 1)
    const end = size.next + size.value
    if (module[at] === memorySection) {
      const body = limitSection(module.subarray(size.next, end), pages)
      return concat([module.subarray(0, at), [memorySection], leb128(body.length), body, module.subarray(end)])
    }
    at = end
  }
  return Uint8Array.from(module)
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
    parts.push([1], leb128(min.value), leb128(Math.min(max.value, pages)))
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

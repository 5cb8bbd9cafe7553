const memorySection = 5
const headerLength = 8
const page = 65536

/**
 * The core module with every memory that it defines limited to `limit` bytes.
 *
 * A worker's resource limits do not cover the memory of WebAssembly, so the limit is written into the
 * module before it is compiled.
 */
export function capMemory(module: Uint8Array, limit: number): Uint8Array<ArrayBuffer> {
  const pages = Math.floor(limit / page)
  for (let at = headerLength; at < module.length;) {
    const size = readLeb(module, at + 1)
    const end = size.next + size.value
    if (module[at] === memorySection) {
      const body = capSection(module.subarray(size.next, end), pages)
      return concat([module.subarray(0, at), [memorySection], leb(body.length), body, module.subarray(end)])
    }
    at = end
  }
  return Uint8Array.from(module)
}

function capSection(section: Uint8Array, pages: number): Uint8Array {
  const count = readLeb(section, 0)
  const parts: Iterable<number>[] = [section.subarray(0, count.next)]
  let at = count.next
  for (let left = count.value; left > 0; left--) {
    const flags = section[at]!
    if (flags > 1) throw new Error('the component has a shared or a 64-bit memory, which this host does not run')
    const least = readLeb(section, at + 1)
    const most = flags === 1 ? readLeb(section, least.next) : { value: pages, next: least.next }
    if (least.value > pages)
      throw new Error(`the component starts with ${least.value} pages of memory; the limit is ${pages}`)
    parts.push([1], leb(least.value), leb(Math.min(most.value, pages)))
    at = most.next
  }
  return concat(parts)
}

function readLeb(bytes: Uint8Array, at: number): { value: number; next: number } {
  for (let value = 0, factor = 1; ; factor *= 128) {
    const byte = bytes[at++]!
    value += (byte & 127) * factor
    if (byte < 128) return { value, next: at }
  }
}

function leb(value: number): number[] {
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

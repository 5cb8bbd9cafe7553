/** Milliseconds on a clock that never runs backwards and is the same in every thread of the process. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

const nothing = new Int32Array(new SharedArrayBuffer(4))

/** Blocks this thread. */
export function sleep(milliseconds: number): void {
  Atomics.wait(nothing, 0, 0, milliseconds)
}

/** The time in milliseconds on a clock that never runs backwards, the same for all threads of the process. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

const unchanged = new Int32Array(new SharedArrayBuffer(4))

/** Blocks this thread for some milliseconds. */
export function sleep(milliseconds: number): void {
  Atomics.wait(unchanged, 0, 0, milliseconds)
}

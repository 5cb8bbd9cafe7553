import { monotonic, sleep } from '../../time.ts'
import { isBusy } from '../sqlite-error.ts'

/** How often SQLite's own lock is asked for, in milliseconds: whoever waits polls, to be fair to others. */
const every = 1

/** For how long a call waits for a lock, and whom it tells. */
export interface Wait {
  /** On the clock `monotonic`. */
  readonly until: number
  /** Called when it has to wait. */
  readonly onWait: () => void
}

/** Runs what another program's lock may hinder, again and again; the last time throws what it throws. */
export function poll<T>({ until, onWait }: Wait, attempt: () => T): T {
  for (let first = true; ; first = false) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || monotonic() >= until) throw error
    }
    if (first) onWait()
    sleep(every)
  }
}

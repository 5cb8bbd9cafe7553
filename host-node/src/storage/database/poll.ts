import { monotonic, sleep } from '../../time.ts'
import { isBusy } from '../sqlite-error.ts'

/** The pause between attempts, in milliseconds. SQLite's busy handler is not used: its growing pauses are unfair. */
const pollInterval = 1

/** The wait of a call for SQLite's lock. */
export interface Wait {
  /** When the wait ends, on the clock `monotonic`. */
  readonly until: number
  /** Called once, when the call has to wait. */
  readonly onWait: () => void
}

/** Runs `attempt` until it succeeds, while it fails because of another connection's lock and the wait has not ended. */
export function poll<T>({ until, onWait }: Wait, attempt: () => T): T {
  for (let first = true; ; first = false) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || monotonic() >= until) throw error
    }
    if (first) onWait()
    sleep(pollInterval)
  }
}

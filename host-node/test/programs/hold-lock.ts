// Holds a repository's lock until the standard input ends. With `try`, releases it at once. Prints `held` or the error.
import { Lock } from '../../dist/storage/lock.js'
import { monotonic } from '../../dist/time.js'
import { openRepository } from '../fixtures/places.ts'

const [repository, once] = process.argv.slice(2) as [string, string?]
const lockTimeout = once ? { atHead: 0, total: 0 } : { atHead: 10_000, total: 10_000 }
try {
  const lock = Lock.acquire(openRepository(repository), lockTimeout, monotonic())
  process.stdout.write('held')
  if (once) lock.release()
  else process.stdin.resume().once('end', () => lock.release())
} catch (error) {
  process.stdout.write((error as { code?: string }).code ?? String(error))
}

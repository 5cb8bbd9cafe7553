// Holds a repository's lock until the standard input ends. With `try`, releases it at once. Prints `held` or the error.
import { monotonic } from '../../dist/time.js'
import { StorageError } from '../../dist/storage/error.js'
import { Lock } from '../../dist/storage/lock.js'
import { findRepository } from '../../dist/storage/repository.js'

const [repository, once] = process.argv.slice(2) as [string, string?]
const lockTimeout = once ? { atHead: 0, total: 0 } : { atHead: 10_000, total: 10_000 }
try {
  const lock = Lock.acquire(findRepository(repository, [repository]).lock, lockTimeout, monotonic())
  process.stdout.write('held')
  if (once) lock.release()
  else process.stdin.resume().once('end', () => lock.release())
} catch (error) {
  process.stdout.write(error instanceof StorageError ? error.code : String(error))
}

// Takes a repository's lock on a worker thread. Tests terminate the thread, since it never ends by itself.
import { parentPort, workerData } from 'node:worker_threads'
import { commit } from '../../dist/storage/commit.js'
import { Lock } from '../../dist/storage/lock.js'
import { findRepository } from '../../dist/storage/repository.js'
import { readDocument, areasOf } from '../../dist/storage/tree.js'
import { monotonic } from '../../dist/time.js'

const { repository, moment } = workerData as { repository: string; moment: 'polling' | 'holding' | 'committing' }
const found = findRepository(repository, [repository])
const lockTimeout = { atHead: 600_000, total: 600_000 }

if (moment === 'polling') parentPort!.postMessage('polls from now on')
const lock = Lock.acquire(found.lock, lockTimeout, monotonic())
parentPort!.postMessage('holds')

const areas = areasOf(found)
const contents = Buffer.alloc(1_000_000, 'x')
for (let n = 0; ; n++) {
  lock.check()
  if (moment !== 'committing') continue
  const version = readDocument(areas, 'documents', 'a.md', 10_000_000n)?.version
  contents.writeInt32LE(n)
  const put = { area: 'documents' as const, path: 'a.md', contents, ...(version !== undefined && { expects: version }) }
  commit(areas, [{ tag: 'put', val: put }], 'full')
}

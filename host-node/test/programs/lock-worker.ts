// Takes a repository's lock on a worker thread. Tests terminate the thread, since it never ends by itself.
import { parentPort, workerData } from 'node:worker_threads'
import { Lock } from '../../dist/storage/lock.js'
import { monotonic } from '../../dist/time.js'
import { put } from '../fixtures/changes.ts'
import { openRepository } from '../fixtures/places.ts'

const { repository, moment } = workerData as { repository: string; moment: 'polling' | 'holding' | 'committing' }
const tree = openRepository(repository)
const lockTimeout = { atHead: 600_000, total: 600_000 }

if (moment === 'polling') parentPort!.postMessage('polls from now on')
const lock = Lock.acquire(tree, lockTimeout, monotonic())
parentPort!.postMessage('holds')

const contents = Buffer.alloc(1_000_000, 'x')
while (lock.isHeld) {
  if (moment !== 'committing') continue
  const version = tree.read('documents', 'a.md', 10_000_000n)?.version
  contents.writeInt32LE(Math.random() * 2 ** 31)
  tree.commit([put('a.md', contents, version)])
}

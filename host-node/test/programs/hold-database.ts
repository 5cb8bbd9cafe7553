// Begins a transaction and inserts a row, as a worker thread or a process. It never ends by itself: tests end it.
import { parentPort, workerData } from 'node:worker_threads'
import { sleep } from '../../dist/time.js'
import { beginWrite, databaseIn } from '../fixtures/places.ts'

const { directory, moment } = (workerData ?? { directory: process.argv[2], moment: 'holding' }) as {
  directory: string
  moment: 'holding' | 'waiting' | 'committing' | 'querying'
}
const lockTimeout = { atHead: 600_000, total: 600_000 }
const notify = () => (parentPort ? parentPort.postMessage('there') : process.stdout.write('there'))
const insert = { sql: 'INSERT INTO t (x) VALUES (-1)', parameters: [] }
const large = { sql: 'INSERT INTO t (x) VALUES (zeroblob(1000000)) RETURNING length(x)', parameters: [] }
const slow = {
  sql: 'WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3000000) SELECT count(*) FROM n',
  parameters: [],
}

const database = databaseIn(directory, { durability: 'full', lockTimeout })
database.open(false)
if (moment === 'waiting') notify()
const transaction = beginWrite(database, lockTimeout)
transaction.execute([insert])
if (moment !== 'committing') notify()
if (moment === 'querying') transaction.query(slow, 1)
for (let last = transaction; ;) {
  if (moment !== 'committing') {
    sleep(10)
    continue
  }
  last.query(large, 1)
  last.query({ sql: "DELETE FROM t WHERE typeof(x) = 'blob' RETURNING 1", parameters: [] }, 0)
  last.commit()
  if (last === transaction) notify()
  last = beginWrite(database, lockTimeout)
}

// Writes row after row of `t`, each in a transaction of its own, and says which are kept, until it is killed.
import { beginWrite, databaseIn } from '../fixtures/places.ts'

const [directory, first] = process.argv.slice(2) as [string, string]
const lockTimeout = { atHead: 60_000, total: 60_000 }
const database = databaseIn(directory, { durability: 'full', lockTimeout })
for (let number = BigInt(first); ; number++) {
  database.open(true)
  const transaction = beginWrite(database, lockTimeout)
  transaction.execute([{ sql: 'INSERT INTO t (x) VALUES (?1)', parameters: [{ tag: 'integer', val: number }] }])
  transaction.commit()
  process.stdout.write(`kept ${number}\n`)
}

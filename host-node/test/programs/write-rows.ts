// Inserts rows into `t` until it is killed, each in its own transaction. Prints the number of each committed row.
import { beginWrite, databaseIn } from '../fixtures/places.ts'

const [directory, first] = process.argv.slice(2) as [string, string]
const lockTimeout = { atHead: 60_000, total: 60_000 }
const database = databaseIn(directory, { durability: 'full', lockTimeout })
for (let number = BigInt(first); ; number++) {
  database.open(true)
  const transaction = beginWrite(database, lockTimeout)
  transaction.execute([{ sql: 'INSERT INTO t (x) VALUES (?1)', parameters: [{ tag: 'integer', val: number }] }])
  transaction.commit()
  process.stdout.write(`committed ${number}\n`)
}

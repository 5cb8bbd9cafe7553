// Adds a row to the database of a directory, and a table before that where there is none, for the count of its syncs.
import { beginWrite, databaseIn } from '../fixtures/places.ts'

const [directory, durability] = process.argv.slice(2) as [string, 'full' | 'relaxed']
const lockTimeout = { atHead: 5000, total: 5000 }
const database = databaseIn(directory, { durability, lockTimeout })
database.open(true)
const transaction = beginWrite(database, lockTimeout)
const texts = ['CREATE TABLE IF NOT EXISTS t (x)', 'INSERT INTO t VALUES (1)']
transaction.execute(texts.map((sql) => ({ sql, parameters: [] })))
transaction.commit()
// Closing would copy the log into the database, which is no part of a commit.
process.kill(process.pid, 'SIGKILL')

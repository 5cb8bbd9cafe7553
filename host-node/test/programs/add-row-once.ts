// Adds one row to the database of a directory, for tests that count its syncs. Creates the table if it is missing.
import { beginWrite, databaseIn } from '../fixtures/places.ts'

const [directory, durability] = process.argv.slice(2) as [string, 'full' | 'relaxed']
const lockTimeout = { atHead: 5000, total: 5000 }
const database = databaseIn(directory, { durability, lockTimeout })
database.open(true)
const transaction = beginWrite(database, lockTimeout)
const texts = ['CREATE TABLE IF NOT EXISTS t (x)', 'INSERT INTO t VALUES (1)']
transaction.execute(texts.map((sql) => ({ sql, parameters: [] })))
transaction.commit()
// Closing would copy the log into the database, and these syncs are not part of the commit.
process.kill(process.pid, 'SIGKILL')

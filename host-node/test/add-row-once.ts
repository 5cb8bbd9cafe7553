// Adds a row to the database of records, and a table before that where there is none, for the count of its syncs.
import { Database } from '../dist/storage/database/database.js'
import { grantRecords } from '../dist/storage/records.js'
import { monotonic } from '../dist/time.js'

const [directory, durability] = process.argv.slice(2) as [string, 'full' | 'relaxed']
const database = new Database(grantRecords(directory), { durability, patience: { atHead: 5000, inAll: 5000 } })
database.open(true)
const transaction = database.beginWrite(monotonic())
const texts = ['CREATE TABLE IF NOT EXISTS t (x)', 'INSERT INTO t VALUES (1)']
transaction.execute(texts.map((sql) => ({ sql, parameters: [] })))
transaction.commit()
// Closing would copy the log into the database, which is no part of a commit.
process.kill(process.pid, 'SIGKILL')

// Opens a repository that is granted. Prints the code and the message of the error as JSON, or `null`.
import { StorageError } from '../../dist/storage/error.js'
import { findRepository } from '../../dist/storage/repository.js'

const [repository] = process.argv.slice(2) as [string]
try {
  findRepository(repository, [repository])
  process.stdout.write('null')
} catch (error) {
  if (!(error instanceof StorageError)) throw error
  process.stdout.write(JSON.stringify({ code: error.code, message: error.message }))
}

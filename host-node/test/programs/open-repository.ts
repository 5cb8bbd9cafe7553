// Opens a repository that is granted. Prints the code and the message of the error as JSON, or `null`.
import { openRepository } from '../fixtures/places.ts'

const [repository] = process.argv.slice(2) as [string]
try {
  openRepository(repository)
  process.stdout.write('null')
} catch (error) {
  const { code, message } = error as { code: string; message: string }
  process.stdout.write(JSON.stringify({ code, message }))
}

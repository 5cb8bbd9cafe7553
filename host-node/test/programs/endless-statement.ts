// Runs a statement that never ends, and prints the results of this call and of later calls. Then it kills itself.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openComponent } from '../../dist/agent-memory.js'
import { componentIn } from '../fixtures/components.ts'

const [transpiled] = process.argv.slice(2) as [string]
const directory = mkdtempSync(join(tmpdir(), 'agent-memory-'))
const memory = await openComponent(componentIn(pathToFileURL(transpiled)), {
  allow: [],
  settings: { guests: { directory: join(directory, 'rows') } },
  workers: 1,
  lockWait: 50,
  limits: { statementTime: 200 },
})
const call = (tool: string) => memory.call(tool, {})
const print = (line: unknown) => process.stdout.write(`${String(line).toLowerCase()}\n`)

await call('endless-statement').catch((error) => print(error.code))
const read = await call('count')
print(read.isError ? read.error.code : 'read')
const next = await call('add-row')
print(next.isError ? next.error.code.replace('ErrorCode::', '') : 'added')
await memory.close()
print('closed')
rmSync(directory, { recursive: true })
process.kill(process.pid, 'SIGKILL')

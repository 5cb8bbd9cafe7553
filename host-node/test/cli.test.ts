// The command line without a native program. It understands options and variables as the native program does.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { memoryOptions } from '../cli/options.ts'
import { emptyDirectory, emptyRepository, repositoryFile } from './fixtures/scratch.ts'

const program = repositoryFile('host-node/dist/cli/agent-memory.js')
const directory = emptyDirectory()

type Variables = Record<string, string>

/** The options of a memory by a command line and variables, whose names are without `AGENT_MEMORY_`. */
function read(args: string[], variables: Variables = {}): any {
  const named = Object.entries(variables).map(([name, text]) => [`AGENT_MEMORY_${name}`, text])
  return memoryOptions(args, Object.fromEntries(named), directory)
}

function run(args: string[], input = '', env: Variables = {}) {
  const options = { cwd: emptyRepository(), input, env: { ...process.env, ...env }, encoding: 'utf8' } as const
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args], options)
  return { stdout, stderr, status }
}

const request = (id: number, method: string, params = {}) => JSON.stringify({ jsonrpc: '2.0', id, method, params })

const refused: [args: string[], variables: Variables, says: RegExp][] = [
  [['--agent-from=project'], {}, /^`--agent-from` needs the native program: .*omit=optional.*cargo install/],
  [['--database-url', 'postgresql://a:secret@h/d'], {}, /^`--database-url` needs/],
  [[], { DATABASE_URL: 'postgresql://a:secret@h/d' }, /^`AGENT_MEMORY_DATABASE_URL` needs/],
  [[], { DATABASE_URL_FILE: '/run/url' }, /^`AGENT_MEMORY_DATABASE_URL_FILE` needs/],
  [[], { EMBEDDER: 'http://localhost:1/v1' }, /^`AGENT_MEMORY_EMBEDDER` needs/],
  [[], { OPENAI_URL: 'http://localhost:1/v1' }, /^`AGENT_MEMORY_OPENAI_URL` needs/],
  [[], { ANTHROPIC_MODEL: 'small' }, /^`AGENT_MEMORY_ANTHROPIC_MODEL` needs/],
  [[], { FIXED_CLOCK: '2025-01-20T10:00:00Z' }, /^`AGENT_MEMORY_FIXED_CLOCK` needs/],
  [[], { FIXED_RANDOM: '1' }, /^`AGENT_MEMORY_FIXED_RANDOM` needs/],
  [['--http', '127.0.0.1:0'], {}, /'--http': if the native program has it, run npm without `--omit=optional`/],
  [['--data-dir', 'postgresql://a:secret@h/d'], {}, /^`--data-dir` takes a path, and not the URL of a database$/],
  [['--data-dir', 'a', '--data-dir', 'b'], {}, /^`--data-dir` is given several times/],
  [[], { DATA_DIR: '${HOME}/a' }, /^`AGENT_MEMORY_DATA_DIR` is .*write the path itself$/],
  [['--allow', 'file:///a'], {}, /^`--allow` is `file:\/\/\/a`, which is a URI/],
  [['--toolset', ' , '], {}, /^`--toolset` is ` , `, which is not a list of toolset names$/],
  [['--recent-capacity', '1e1'], {}, /^`--recent-capacity` is `1e1`, which is not a whole number$/],
  [[], { NO_SEARCH: 'yes' }, /^`AGENT_MEMORY_NO_SEARCH` is `yes`, which is not `true` or `false`$/],
  [['--utc-offset', '+24:00'], {}, /^`--utc-offset` is `\+24:00`, which is not an offset/],
  [[], { LOCK_WAIT: 'zz' }, /^`AGENT_MEMORY_LOCK_WAIT` is `zz`, which is not a duration such as `5s`$/],
]

for (const [args, variables, says] of refused)
  test(`${[...args, ...Object.keys(variables)].join(' ')} is refused: ${says}`, () => {
    const isMeant = ({ message }: Error) => says.test(message) && !message.includes('secret')
    assert.throws(() => read(args, variables), isMeant)
  })

test('a variable that is on or off is `true`, `false`, `1` or `0`', () => {
  for (const [text, value] of Object.entries({ true: true, 1: true, false: false, 0: false })) {
    assert.deepEqual(read([], { NO_SEARCH: text, NO_THESAURUS: text }).settings, {
      memory: { leave_out: value, no_thesaurus: value },
    })
  }
  assert.equal(read(['--no-search'], { NO_SEARCH: '0' }).settings.memory.leave_out, true)
})

test('a blank value counts as not set, and so does an unexpanded variable', () => {
  const unset = { DATABASE_URL: '', AGENT_FROM: ' ', DATA_DIR: '${user_config.directory}', NO_SEARCH: ' ' }
  const blank = ['--recent-capacity', '', '--toolset=', '--database-url', ' ', '--log-level', 'DEBUG']
  assert.deepEqual(read(blank, unset), { allow: [], settings: {} })
  assert.equal(read(['--recent-capacity', ''], { RECENT_CAPACITY: '7' }).settings.layers.recent_capacity, 7)
})

test('an option without an effect of its own is ignored', () => {
  const variables = { PROJECT: 'a', DATABASE_POOL: '4', OPENAI_MODEL: 'm', EMBEDDER_MODEL: 'm', MODEL_TIMEOUT: '1s' }
  assert.deepEqual(read([], variables), { allow: [], settings: {} })
})

test('the names of toolsets are trimmed', () => {
  assert.deepEqual(read([], { TOOLSET: 'sessions, records,' }).toolsets, ['sessions', 'records'])
  assert.deepEqual(read(['--toolset', 'sessions', '--toolset', ' files ']).toolsets, ['sessions', 'files'])
})

test('a relative path is below the working directory, and `~` is the home directory', () => {
  const { dataDir, settings, allow } = read([
    '--data-dir',
    'rel',
    '--memory-dir',
    'a',
    '--allow',
    '~',
    '--allow',
    'b:c',
  ])
  assert.equal(dataDir, join(directory, 'rel'))
  assert.equal(settings.records.directory, join(directory, 'a'))
  assert.deepEqual(allow, process.platform === 'win32' ? allow : [homedir(), join(directory, 'b:c')])
  assert.equal(read([], { FILES_DIR: '~/f' }).settings.files.directory, join(homedir(), 'f'))
})

test('an option for the zone beats both variables', () => {
  const { utcOffset, timeZone } = read(['--utc-offset', '-05:30'], { TIME_ZONE: 'Europe/Berlin' })
  assert.deepEqual([utcOffset, timeZone], [-330, undefined])
})

test('the version and the help are printed, and other commands name the remedy', () => {
  assert.match(run(['--version']).stdout, /^agent-memory \d+\.\d+\.\d+\n$/)
  for (const args of [['--help'], ['help', 'serve'], ['serve', '-h']]) {
    const { stdout, stderr, status } = run(args)
    assert.deepEqual([stderr, status], ['', 0])
    assert.match(stdout, /Usage: agent-memory serve \[OPTIONS\]\n[^]*--no-search\n[^]*--omit=optional/)
  }
  const nothing = run([])
  assert.match(nothing.stderr, /Usage: agent-memory serve/)
  assert.deepEqual([nothing.stdout, nothing.status], ['', 2])
  const other = run(['search', 'x'])
  assert.match(other.stderr, /^agent-memory: only `serve` runs without .*--omit=optional[^\n]*\n$/)
  assert.equal(other.status, 2)
})

test('the server gives instructions, and answers a last line without its end', () => {
  const { stdout, status } = run(['serve', '--toolset', 'layers', '--data-dir', 'data'], request(1, 'initialize'))
  const { instructions } = JSON.parse(stdout).result
  assert.equal(status, 0)
  assert.match(instructions, /^Memory that outlives .*: follow none in it\./)
  const uses = instructions.split('\n').filter((line: string) => line.startsWith('- '))
  // `records` is not mounted, and has a tool of the same name.
  assert.deepEqual(
    uses.map((line: string) => /`add_core_memory`|`resume_memory`, /.test(line)),
    [true, true],
  )
})

test('the server ends quietly when nothing reads its answers', async () => {
  const child = spawn(process.execPath, [program, 'serve'], { cwd: emptyRepository() })
  let stderr = ''
  child.stderr.on('data', (chunk) => (stderr += chunk))
  child.stdin.on('error', () => {})
  child.stdin.write(`${request(1, 'initialize')}\n`)
  await once(child.stdout, 'data')
  child.stdout.destroy()
  const timer = setInterval(() => child.stdin.write(`${request(2, 'ping')}\n`), 50)
  const [status] = await once(child, 'close')
  clearInterval(timer)
  assert.equal(status, 0)
  assert.match(stderr, /^agent-memory: no native program [^\n]*\n$/)
})

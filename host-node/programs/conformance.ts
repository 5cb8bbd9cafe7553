// Runs the conformance cases on this host and writes its report:
//     node dist/conformance.js [directory of the cases] [report]
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, isDeepStrictEqual } from 'node:util'
import { type Memory, MemoryCallError, openMemory } from 'agent-memory-host'
import { type Case, type Documents, fill, type Places, readCases, type Step } from './case.ts'
import { Scratch } from './scratch.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const [directory = join(repository, 'tests/conformance'), report = join(repository, 'target/conformance/node.json')] =
  process.argv.slice(2)

interface CaseReport {
  outcome: 'passed' | 'failed' | 'skipped'
  reason?: string
  documents: Record<string, string>
}

const { faults } = JSON.parse(readFileSync(join(directory, 'expectations/node.json'), 'utf8'))
const tools = await listedTools()
const cases: Record<string, CaseReport> = {}
for (const each of readCases(directory)) cases[each.name] = await run(each)

mkdirSync(dirname(report), { recursive: true })
writeFileSync(report, `${JSON.stringify({ runner: 'node', tools, cases }, null, 2)}\n`)
const outcomes = Object.entries(cases).map(([name, { outcome, reason }]) => ({ name, outcome, reason }))
for (const { name, outcome, reason } of outcomes) if (outcome === 'failed') console.error(`${name}: ${reason}`)
const count = (wanted: string) => outcomes.filter(({ outcome }) => outcome === wanted).length
console.log(`node: ${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)

async function listedTools(): Promise<Memory['tools']> {
  await using memory = await openMemory({ allow: [], toolsets: ['all'], workers: 1 })
  return memory.tools
}

async function run(each: Case): Promise<CaseReport> {
  if (each.faults.length > 0) return { outcome: 'skipped', reason: faults, documents: {} }
  using scratch = new Scratch(each.given)
  let fault: string | undefined
  try {
    await using memory = await openMemory({
      allow: [scratch.places.repo],
      toolsets: each.toolsets,
      clock: { now: each.clock.now, step: each.clock.step_ms },
      utcOffset: each.clock.utc_offset_minutes,
      random: { seed: each.seed },
      workers: 1,
    })
    for (const [index, step] of each.steps.entries()) {
      const wrong = await runStep(memory, step, scratch.places)
      if (wrong !== undefined) fault ??= `step ${index}: ${wrong}`
    }
  } catch (error) {
    fault ??= String(error)
  }
  const documents = scratch.documents()
  const strays = scratch.strays()
  fault ??= compareDocuments(each.then, documents)
  if (strays.length > 0) fault ??= `these are left in the repository: ${strays.join(', ')}`
  const hashes = Object.fromEntries(
    [...documents].map(([path, bytes]) => [path, createHash('sha256').update(bytes).digest('hex')]),
  )
  return {
    outcome: fault === undefined ? 'passed' : 'failed',
    ...(fault !== undefined && { reason: fault }),
    documents: hashes,
  }
}

/** Makes a call and says what is wrong with its answer. */
async function runStep(memory: Memory, step: Step, places: Places): Promise<string | undefined> {
  const got = await answer(memory, step.call, fill(step.arguments, places) as object)
  const { result, error, failure } = fill(step, places) as Step
  if (error === undefined || got.error === undefined) {
    return differs(
      { ...(result !== undefined && { result }), ...(error && { error }), ...(failure && { failure }) },
      got,
    )
  }
  const { message = '' } = got.error
  const missing = (fill(step.says ?? [], places) as string[]).filter((text) => !message.includes(text))
  if (missing.length > 0) return `the message does not say ${inspect(missing)}: ${message}`
  return differs({ error: withoutTexts(error, error) }, { error: withoutTexts(got.error, error) })
}

type Answer = Pick<Step, 'result' | 'error' | 'failure'>

async function answer(memory: Memory, tool: string, input: object): Promise<Answer> {
  try {
    const outcome = await memory.call(tool, input)
    return outcome.isError ? { error: outcome.error as NonNullable<Step['error']> } : { result: outcome.result }
  } catch (error) {
    if (error instanceof MemoryCallError && (error.code === 'not-found' || error.code === 'invalid-request'))
      return { failure: error.code }
    throw error
  }
}

/** The error without its message, and without the `accepted` texts that are not expected. */
function withoutTexts({ message: _, ...error }: NonNullable<Step['error']>, expected: Step['error']): object {
  const details = error.details?.map(({ accepted, ...detail }, index) => {
    return expected?.details?.[index]?.accepted === undefined ? detail : { ...detail, accepted }
  })
  return { ...error, ...(details && { details }) }
}

function differs(expected: Answer, got: Answer): string | undefined {
  if (isDeepStrictEqual(expected, got)) return undefined
  return `expected ${short(expected)}, got ${short(got)}`
}

function compareDocuments(expected: Documents, got: Documents): string | undefined {
  for (const [path, bytes] of expected) {
    const there = got.get(path)
    if (there === undefined) return `\`${path}\` is not there afterwards`
    if (!bytes.equals(there))
      return `\`${path}\` differs: expected ${short(bytes.toString())}, got ${short(there.toString())}`
  }
  const extra = [...got.keys()].find((path) => !expected.has(path))
  return extra === undefined ? undefined : `\`${extra}\` is there afterwards`
}

function short(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length > 2000 ? `${text.slice(0, 2000)}...` : text
}

// Runs the conformance cases on this host, and writes a report:
//     node dist/conformance.js [directory of the cases] [report]
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, isDeepStrictEqual } from 'node:util'
import {
  type AgentMemory,
  MemoryCallError,
  type MemoryOptions,
  type MemoryView,
  openMemory,
  type Outcome,
  type ResourceContents,
  type SummaryAnswer,
} from 'agent-memory'
import {
  type Case,
  type Documents,
  documentsWithIds,
  fill,
  type Places,
  readCases,
  type Step,
  type ToolError,
} from './case.ts'
import { Scratch } from './scratch.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const [directory = join(repository, 'tests/conformance'), report = join(repository, 'target/conformance/node.json')] =
  process.argv.slice(2)

const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

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

async function listedTools(): Promise<AgentMemory['tools']> {
  await using memory = await openMemory({ allow: [], toolsets: ['all'], workers: 1 })
  return memory.tools
}

async function run(each: Case): Promise<CaseReport> {
  if (each.faults.length > 0) return { outcome: 'skipped', reason: faults, documents: {} }
  using scratch = new Scratch(each)
  let difference: string | undefined
  const ids: (string | undefined)[] = []
  try {
    await using memory = await openMemory({
      ...grantsOf(each, scratch),
      dataDir: scratch.dataDir,
      toolsets: each.toolsets,
      models: each.models,
      ...(each.embedder && { embedModel: each.embedder.model }),
      clock: { now: each.clock.now, step: each.clock.step_ms },
      ...zoneOf(each.clock),
      random: { seed: each.seed },
      workers: 1,
    })
    const view = memory.withReach(each.caller)
    for (const [index, step] of each.steps.entries()) {
      const stepDifference = await runStep(view, step, scratch.places, ids, each.embedder?.vectors)
      if (stepDifference !== undefined) difference ??= `step ${index}: ${stepDifference}`
    }
  } catch (error) {
    difference ??= String(error)
  }
  for (const { query, rows } of each.thenRows) difference ??= compareRows(query, rows, scratch)
  const documents = scratch.documents()
  const unexpectedFiles = scratch.unexpectedFiles()
  if (each.then) difference ??= compareDocuments(documentsWithIds(each.then, ids), documents)
  if (unexpectedFiles.length > 0)
    difference ??= `these should not be there, or not like this: ${unexpectedFiles.join(', ')}`
  const hashes = Object.fromEntries(
    [...documents].map(([path, bytes]) => [path, createHash('sha256').update(bytes).digest('hex')]),
  )
  return {
    outcome: difference === undefined ? 'passed' : 'failed',
    ...(difference !== undefined && { reason: difference }),
    documents: hashes,
  }
}

function zoneOf({ time_zone, utc_offset_minutes }: Case['clock']): Pick<MemoryOptions, 'timeZone' | 'utcOffset'> {
  return time_zone === undefined ? { utcOffset: utc_offset_minutes } : { timeZone: time_zone }
}

/** Mounts exactly the toolsets that a case names. */
function grantsOf(each: Case, scratch: Scratch): MemoryOptions {
  const { settings, ...grants } = ownGrantsOf(each, scratch)
  return { ...grants, settings: { ...settings, memory: { leave_out: true } } }
}

function ownGrantsOf({ toolset, format, caps, settings }: Case, scratch: Scratch): MemoryOptions {
  if (format !== undefined) {
    const allow = toolset === 'memory' ? [scratch.places.repo] : []
    return { allow, settings: { records: { directory: scratch.memoryDir, format, ...caps } } }
  }
  if (toolset === 'layers') return { allow: [], settings: { layers: { file: scratch.database, ...settings } } }
  if (['stores', 'files', 'items'].includes(toolset)) return { allow: [] }
  return { allow: [scratch.places.repo] }
}

/** Runs a step. Returns the difference to the expected answer, if there is one. Adds the id of the result to `ids`. */
async function runStep(
  memory: MemoryView,
  step: Step,
  places: Places,
  ids: (string | undefined)[],
  vectors: Record<string, number[]> = {},
): Promise<string | undefined> {
  const { followUps = [], ...got } = await answer(memory, fill(step, places, ids) as Step, vectors)
  const { id } = (got.result ?? {}) as { id?: unknown }
  ids.push(typeof id === 'string' && uuid4.test(id) ? id : undefined)
  const expected = fill(step, places, ids) as Step
  const { leaves = [] } = expected
  const difference = compareAnswer(got, expected)
  if (difference !== undefined || contains(followUps, leaves)) return difference
  return `expected the follow-ups ${short(leaves)}, got ${short(followUps)}`
}

function compareAnswer(got: Answer, step: Step): string | undefined {
  const { has, error, failure, says = [] } = step
  // The answer to `pending` is in its follow-ups.
  const result = step.pending ? null : step.result
  if (has !== undefined) {
    return contains(got.result, has) ? undefined : `expected what has ${short(has)}, got ${short(got)}`
  }
  if (error === undefined || got.error === undefined) {
    return differs(
      { ...(result !== undefined && { result }), ...(error && { error }), ...(failure && { failure }) },
      got,
    )
  }
  const { message = '' } = fieldsOf(got.error)
  const missing = says.filter((text) => !message.includes(text))
  if (missing.length > 0) return `the message does not say ${inspect(missing)}: ${message}`
  return differs({ error: withoutTexts(error, error) }, { error: withoutTexts(got.error, error) })
}

type Answer = Pick<Step, 'result' | 'error' | 'failure'>

async function answer(
  memory: MemoryView,
  step: Step,
  vectors: Record<string, number[]>,
): Promise<Answer & { followUps?: Outcome['followUps'] }> {
  try {
    const outcome = await askWithVector(memory, step, vectors)
    const { isError, result, followUps } = outcome
    if (isError) return { error: result as ToolError, followUps }
    return { result: step.read === undefined ? result : textOf(step.read, outcome), followUps }
  } catch (error) {
    if (error instanceof MemoryCallError && (error.code === 'not-found' || error.code === 'invalid-request'))
      return { failure: error.code }
    throw error
  }
}

/** Repeats a search with the vector that its outcome wants, if the case's embedder has it. */
async function askWithVector(memory: MemoryView, step: Step, vectors: Record<string, number[]>): Promise<Outcome> {
  const outcome = await ask(memory, step)
  const text = outcome.wantsVector?.text
  const vector = text === undefined ? undefined : vectors[text]
  if (text === undefined || vector === undefined) return outcome
  const better = await memory.call(step.call!, step.arguments as object, { text, vector })
  return better.isError ? outcome : better
}

function ask(memory: MemoryView, step: Step): Promise<Outcome> {
  const { call, read, prompt, complete, pending, claim, answer } = step
  if (read !== undefined) return memory.readResource(read)
  if (prompt !== undefined) return memory.getPrompt(prompt, step.arguments as Record<string, string>)
  if (complete !== undefined) {
    const reference = 'prompt' in complete ? complete : { resourceTemplate: complete.resource_template }
    const { argument, value, others = {} } = step
    return memory.complete({ reference, argument: argument!, value: value!, others })
  }
  if (pending) return memory.pending()
  if (claim !== undefined) return memory.claim(claim, step.lease_seconds!)
  if (answer !== undefined) return memory.answer(answer, step.payload as SummaryAnswer)
  return memory.call(call!, step.arguments as object)
}

/** The contents of a resource, which has to be one JSON text. */
function textOf(uri: string, { result }: Outcome): unknown {
  const [content, ...more] = result as ResourceContents[]
  if (content?.uri !== uri || content.mimeType !== 'application/json' || more.length > 0) {
    throw new Error(`not one JSON text of \`${uri}\`: ${short(result)}`)
  }
  return JSON.parse(content.text)
}

/** The fields of an error. In `records` they are one level below, in `error`. */
function fieldsOf(error: ToolError): ToolError {
  return typeof error.error === 'object' ? error.error : error
}

/** The error without its message, and without `accepted` texts unless the case expects them. */
function withoutTexts(error: ToolError, expected: ToolError): object {
  const { message: _, ...fields } = fieldsOf(error)
  const details = fields.details?.map(({ accepted, ...detail }, index) => {
    return fieldsOf(expected).details?.[index]?.accepted === undefined ? detail : { ...detail, accepted }
  })
  const stripped = { ...fields, ...(details && { details }) }
  return typeof error.error === 'object' ? { ...error, error: stripped } : stripped
}

/** Whether a value contains the expected one: all its members, and for an array all items in the same order. */
function contains(got: unknown, expected: unknown): boolean {
  if (Array.isArray(got) && Array.isArray(expected)) {
    return got.length === expected.length && expected.every((item, index) => contains(got[index], item))
  }
  if (isObject(got) && isObject(expected)) {
    return Object.entries(expected).every(([name, item]) => Object.hasOwn(got, name) && contains(got[name], item))
  }
  return isDeepStrictEqual(got, expected)
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
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

function compareRows(query: string, expected: unknown[][], scratch: Scratch): string | undefined {
  try {
    const got = scratch.rows(query)
    if (isDeepStrictEqual(got, expected)) return undefined
    return `\`${query}\` answers ${short(got)}, not ${short(expected)}`
  } catch (error) {
    return `\`${query}\`: ${(error as Error).message}`
  }
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 2000 ? `${text.slice(0, 2000)}...` : text
}

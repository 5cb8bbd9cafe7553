import { isUtf8 } from 'node:buffer'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Bytes by path below `.github/agent-memory/` or `/memories/`, in the directory of records, or in the directory of stores. */
export type Documents = Map<string, Buffer>

export type Format = 'json' | 'sqlite'

/** A toolset's JSON for an error. Some toolsets have these fields one level below, in `error`. */
export interface ToolError {
  message?: string
  details?: { accepted?: unknown }[]
  error?: string | ToolError
}

export interface Step {
  call?: string
  arguments?: unknown
  /** The URI of a resource, instead of a call. */
  read?: string
  /** The name of a prompt, which gets the arguments. */
  prompt?: string
  /** The prompt or the resource template that has an argument to complete. */
  complete?: { prompt: string } | { resource_template: string }
  argument?: string
  value?: string
  others?: Record<string, string>
  pending?: true
  /** The id of a follow-up. */
  claim?: string
  lease_seconds?: number
  /** The id of a follow-up. */
  answer?: string
  payload?: unknown
  /** Parts of the follow-ups that the request leaves. */
  leaves?: object[]
  result?: unknown
  /** Values that the result has to contain. */
  has?: unknown
  error?: ToolError
  /** Texts that the error's message has to contain. */
  says?: string[]
  failure?: 'not-found' | 'invalid-request'
}

/** A query of a database, and its rows as JSON values. */
export interface Query {
  query: string
  rows: unknown[][]
}

/** A case of `cases/` in one format. `tests/conformance/README.md` describes the parts. */
export interface Case {
  name: string
  /** The toolset whose folder it is in. */
  toolset: string
  /** The format of records; undefined for a case of a toolset without records. */
  format: Format | undefined
  caps: { max_bytes?: number; max_memories?: number }
  /** Settings of the toolset, by name. */
  settings: object
  /** The models that the host names and that the case plays. */
  models: string[]
  /** The embedder that the case plays: its vectors of queries by their texts. */
  embedder: { model: string; vectors?: Record<string, number[]> } | undefined
  /** The only agents and stores that the caller may use. */
  caller: { agents?: string[]; stores?: string[] }
  clock: { now: string; step_ms: number; utc_offset_minutes: number; time_zone?: string }
  seed: number
  toolsets: string[]
  faults: unknown[]
  steps: Step[]
  given: Documents
  /** The names of the stores that are registered at first. */
  givenStores: readonly string[]
  /** The expected documents; undefined if the case does not compare them. */
  then: Documents | undefined
  /** The statements that make the database of a case of `layers`; none if there is no database at first. */
  givenSql: readonly string[]
  /** The queries of that database after the last step. */
  thenRows: readonly Query[]
}

/** The paths for the placeholders of a case. */
export type Places = Record<'repo' | 'elsewhere' | 'stores', string>

interface Repeated {
  repeat: string
  times: number
  before?: string
  after?: string
}

type Contents = string | { lines: string[] } | { file: string } | { base64: string } | Repeated

/** Storage before the first step or after the last. It has one of these. */
interface Storage {
  repo?: Record<string, Contents>
  records?: Record<string, Contents>
  /** By the name of the store, and the path in it. */
  stores?: Record<string, Record<string, Contents>>
  /** By the path below `/memories/`. */
  files?: Record<string, Contents>
  layers?: { sql?: string[]; rows?: Query[] }
}

const defaultClock = { now: '2025-01-20T10:00:00.000Z', step_ms: 1000, utc_offset_minutes: 0 }

/** All cases of a conformance directory in all their formats, in the order of their paths. */
export function readCases(directory: string): Case[] {
  const files = readdirSync(join(directory, 'cases'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.json'),
  )
  return files.sort().flatMap((file) => {
    const text = JSON.parse(readFileSync(join(directory, 'cases', file), 'utf8'))
    const given = documentsOf(text.given, directory)
    const name = file.slice(0, -'.json'.length)
    const toolset = name.split('/', 1)[0]!
    const hasRecords = toolset === 'records' || toolset === 'memory'
    const isCompared = toolset !== 'memory' && (text.given !== undefined || !hasRecords)
    const formats: (Format | undefined)[] = text.only ? [text.only.format] : ['json', 'sqlite']
    return (hasRecords ? formats : [undefined]).map((format) => ({
      name: format === undefined ? name : `${name}@${format}`,
      toolset,
      format,
      caps: text.caps ?? {},
      settings: text.settings ?? {},
      models: text.models ?? [],
      embedder: text.embedder,
      caller: text.caller ?? {},
      clock: { ...defaultClock, ...text.clock },
      seed: text.seed ?? 1,
      toolsets: text.toolsets ?? [toolset],
      faults: text.faults ?? [],
      steps: text.steps,
      given,
      givenStores: Object.keys(text.given?.stores ?? {}),
      then: text.then ? documentsOf(text.then, directory) : isCompared ? given : undefined,
      givenSql: text.given?.layers?.sql ?? [],
      thenRows: text.then?.layers?.rows ?? [],
    }))
  })
}

/** The value with its placeholders and repeated texts filled in. `ids` has the id that each earlier step returned. */
export function fill(value: unknown, places: Places, ids: readonly (string | undefined)[]): unknown {
  if (typeof value === 'string') {
    const text = value.replace(/\$\{(repo|elsewhere|stores)\}/g, (_, name: keyof Places) => places[name])
    return withIds(text, ids)
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, places, ids))
  if (typeof value !== 'object' || value === null) return value
  if (isRepeated(value)) return repeated(value)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, places, ids)]))
}

/** The documents with the placeholders for ids filled in. */
export function documentsWithIds(documents: Documents, ids: readonly (string | undefined)[]): Documents {
  const filled = (bytes: Buffer) => (isUtf8(bytes) ? Buffer.from(withIds(bytes.toString('utf8'), ids)) : bytes)
  return new Map([...documents].map(([path, bytes]) => [path, filled(bytes)]))
}

function withIds(text: string, ids: readonly (string | undefined)[]): string {
  return text.replace(/\$\{id:(\d+)\}/g, (whole, step: string) => ids[Number(step)] ?? whole)
}

function documentsOf(storage: Storage | undefined, directory: string): Documents {
  const ofStores = Object.entries(storage?.stores ?? {}).flatMap(([name, files]) =>
    Object.entries(files).map(([path, contents]) => [`${name}/${path}`, contents] as const),
  )
  const documents = storage?.repo ?? storage?.records ?? storage?.files ?? Object.fromEntries(ofStores)
  return new Map(Object.entries(documents).map(([path, contents]) => [path, bytesOf(contents, directory)]))
}

function bytesOf(contents: Contents, directory: string): Buffer {
  if (typeof contents === 'string') return Buffer.from(contents)
  if ('lines' in contents) return Buffer.from(contents.lines.map((line) => `${line}\n`).join(''))
  if ('file' in contents) return readFileSync(join(directory, 'documents', contents.file))
  if ('base64' in contents) return Buffer.from(contents.base64, 'base64')
  return Buffer.from(repeated(contents))
}

function isRepeated(value: object): value is Repeated {
  const names = Object.keys(value)
  return (
    'repeat' in value &&
    'times' in value &&
    names.every((name) => ['repeat', 'times', 'before', 'after'].includes(name))
  )
}

function repeated({ repeat, times, before = '', after = '' }: Repeated): string {
  return before + repeat.repeat(times) + after
}

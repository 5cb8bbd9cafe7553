import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Bytes by path below `.github/agent-memory/`. */
export type Documents = Map<string, Buffer>

export interface Step {
  call: string
  arguments: unknown
  result?: unknown
  error?: { message?: string; details?: { accepted?: unknown }[] }
  /** Texts that the error's message has to contain. */
  says?: string[]
  failure?: 'not-found' | 'invalid-request'
}

/** A file below `cases/`; tests/conformance/README.md tells what each part means. */
export interface Case {
  name: string
  clock: { now: string; step_ms: number; utc_offset_minutes: number }
  seed: number
  toolsets: string[]
  faults: unknown[]
  steps: Step[]
  given: Documents
  then: Documents
}

/** What the placeholders of a case stand for. */
export type Places = Record<'repo' | 'elsewhere', string>

interface Repeated {
  repeat: string
  times: number
  before?: string
  after?: string
}

type Contents = string | { lines: string[] } | { file: string } | { base64: string } | Repeated
type Storage = { repo: Record<string, Contents> }

const defaultClock = { now: '2025-01-20T10:00:00.000Z', step_ms: 1000, utc_offset_minutes: 0 }

/** Every case below a conformance directory, in the order of their paths. */
export function readCases(directory: string): Case[] {
  const files = readdirSync(join(directory, 'cases'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.json'),
  )
  return files.sort().map((file) => {
    const text = JSON.parse(readFileSync(join(directory, 'cases', file), 'utf8'))
    const given = documentsOf(text.given, directory)
    return {
      name: file.slice(0, -'.json'.length),
      clock: { ...defaultClock, ...text.clock },
      seed: text.seed ?? 1,
      toolsets: text.toolsets ?? ['sessions'],
      faults: text.faults ?? [],
      steps: text.steps,
      given,
      then: text.then ? documentsOf(text.then, directory) : given,
    }
  })
}

/** The value with its placeholders and repeated texts filled in. */
export function fill(value: unknown, places: Places): unknown {
  if (typeof value === 'string')
    return value.replace(/\$\{(repo|elsewhere)\}/g, (_, name: keyof Places) => places[name])
  if (Array.isArray(value)) return value.map((item) => fill(item, places))
  if (typeof value !== 'object' || value === null) return value
  if (isRepeated(value)) return repeated(value)
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fill(item, places)]))
}

function documentsOf(storage: Storage | undefined, directory: string): Documents {
  return new Map(Object.entries(storage?.repo ?? {}).map(([path, contents]) => [path, bytesOf(contents, directory)]))
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

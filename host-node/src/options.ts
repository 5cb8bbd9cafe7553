import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { MemoryOpenError } from './errors.ts'
import { canonicalPath } from './storage/canonical.ts'
import type { Durability } from './storage/walk.ts'
import type { Patience } from './storage/lock.ts'
import { grantRecords, type Records } from './storage/records.ts'

/** What `openMemory` takes. Everything may be left out but `allow`. */
export interface MemoryOptions {
  /** Absolute paths of directories. Each grants itself, where it is a repository, and the repositories below it. */
  allow: readonly string[]
  /** What is mounted. Default: `['sessions']`. */
  toolsets?: readonly string[]
  /**
   * The absolute path of the directory of records, made for its owner alone when something is kept. Default:
   * `~/.claude/agents/memories` where the toolset `records` is mounted; otherwise no records are granted.
   */
  memoryDir?: string
  /** How the records of an agent that has none yet are kept. Default: `json`. */
  recordsFormat?: 'json' | 'sqlite'
  /** The most bytes of an agent's records. Default: 16 MiB in JSON, which takes no more; no bound in SQLite. */
  recordsMaxBytes?: number
  /** The most records of an agent. Default: 100,000 in JSON, no bound in SQLite. */
  recordsMaxMemories?: number
  /** Minutes east of UTC of the zone in which a day begins and ends. Default: this machine's, at each call. */
  utcOffset?: number
  /** `full` (default): what was acknowledged survives a loss of power. `relaxed`: perhaps not its last moments. */
  durability?: Durability
  /** Milliseconds that a writer waits at the head of the queue. Default 5,000; in all it waits 30,000, or this if it is longer. */
  lockWait?: number
  /** Default: the system's. Fixed, call k sees `now` plus k times `step` milliseconds (default 0). */
  clock?: 'system' | { readonly now: string | Date; readonly step?: number }
  /** Default: the system's. Fixed, call k gets `seed` plus k. */
  random?: 'system' | { readonly seed: number | bigint }
  /**
   * The most worker threads, not counting those that wait for a lock that another process holds: there are
   * up to four times as many of these. Default 4. They start when they are needed.
   */
  workers?: number
  limits?: {
    /** Bytes of memory that the component may use in a call. Default: 256 MiB. */
    readonly memory?: number
    /** Milliseconds that the component itself may run in a call; waiting for a lock or a disk does not count. Default 2,000. */
    readonly guestTime?: number
    /** How often a call may ask storage. Default 100,000. */
    readonly storageCalls?: number
    /** Milliseconds that one statement on a database may run. Default 30,000. */
    readonly statementTime?: number
  }
}

/** The options with every default filled in. */
export interface Settings {
  readonly grants: readonly string[]
  readonly records: Records | undefined
  /** JSON, as the toolbox takes them. */
  readonly toolbox: string
  readonly durability: Durability
  readonly patience: Patience
  readonly workers: number
  readonly memoryLimit: number
  readonly guestTime: number
  readonly storageCalls: number
  readonly statementTime: number
  /** The clock's and the random generator's part of the next call's context. */
  readonly arrive: () => string
}

export const defaultToolsets: readonly string[] = ['sessions']
const defaultLockWait = 5_000
const mostLockWait = 3_600_000
const leastPatience = 30_000

/** Every option: a misspelt one would otherwise be left out without a word. */
const known: Record<keyof MemoryOptions, true> = {
  allow: true,
  toolsets: true,
  memoryDir: true,
  recordsFormat: true,
  recordsMaxBytes: true,
  recordsMaxMemories: true,
  utcOffset: true,
  durability: true,
  lockWait: true,
  clock: true,
  random: true,
  workers: true,
  limits: true,
}
const knownLimits: Record<keyof NonNullable<MemoryOptions['limits']>, true> = {
  memory: true,
  guestTime: true,
  storageCalls: true,
  statementTime: true,
}

export function settle(options: MemoryOptions): Settings {
  if (typeof options !== 'object' || options === null) throw invalid('allow', 'is missing')
  checkNames(options, known, '')
  checkNames(options.limits ?? {}, knownLimits, 'limits.')
  const {
    allow,
    toolsets = defaultToolsets,
    lockWait = defaultLockWait,
    durability = 'full',
    workers = 4,
    limits = {},
  } = options
  if (!Array.isArray(allow)) throw invalid('allow', 'is not an array of directories')
  if (durability !== 'full' && durability !== 'relaxed') throw invalid('durability', 'is neither `full` nor `relaxed`')
  const atHead = whole('lockWait', lockWait, 0)
  if (atHead > mostLockWait) throw invalid('lockWait', `is more than ${mostLockWait}, an hour`)
  return {
    grants: allow.map(granted),
    records: grantedRecords(options.memoryDir ?? defaultMemoryDir(toolsets)),
    toolbox: JSON.stringify({ toolsets, ...recordsSettings(options) }),
    durability,
    patience: { atHead, inAll: Math.max(leastPatience, atHead) },
    workers: whole('workers', workers, 1),
    memoryLimit: whole('limits.memory', limits.memory ?? 256 * 1024 * 1024, 1),
    guestTime: whole('limits.guestTime', limits.guestTime ?? 2_000, 1),
    storageCalls: whole('limits.storageCalls', limits.storageCalls ?? 100_000, 1),
    statementTime: whole('limits.statementTime', limits.statementTime ?? 30_000, 1),
    arrive: arrivals(options),
  }
}

function checkNames(options: object, known: object, above: string): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name))
  if (unknown === undefined) return
  throw invalid(above + unknown, `does not exist; there are ${Object.keys(known).join(', ')}`)
}

/** Numbers the calls and reads the clock for each as it arrives. */
function arrivals({ clock = 'system', random = 'system', utcOffset }: MemoryOptions): () => string {
  const start = clock === 'system' ? 0 : new Date(clock.now).getTime()
  if (Number.isNaN(start)) throw invalid('clock.now', 'is not a date')
  const step = clock === 'system' ? 0 : whole('clock.step', clock.step ?? 0, 0)
  const seed = random === 'system' ? 0n : BigInt(random.seed)
  if (utcOffset !== undefined && !(Number.isInteger(utcOffset) && Math.abs(utcOffset) < 1440)) {
    throw invalid('utcOffset', 'is not a whole number of minutes of less than a day')
  }

  let number = 0
  return () => {
    const k = number++
    const now = clock === 'system' ? new Date() : new Date(start + k * step)
    const offset = utcOffset ?? -now.getTimezoneOffset()
    const random64 = random === 'system' ? randomBytes(8).readBigUInt64BE() : BigInt.asUintN(64, seed + BigInt(k))
    // Written by hand: JSON.stringify has no 64-bit integers.
    return `"now":"${now.toISOString()}","utc_offset_minutes":${offset},"seed":${random64}`
  }
}

/** What the toolset `records` takes: only what was set. */
function recordsSettings({ recordsFormat, recordsMaxBytes, recordsMaxMemories }: MemoryOptions): object {
  if (recordsFormat !== undefined && recordsFormat !== 'json' && recordsFormat !== 'sqlite') {
    throw invalid('recordsFormat', 'is neither `json` nor `sqlite`')
  }
  const records = {
    ...(recordsFormat !== undefined && { format: recordsFormat }),
    ...(recordsMaxBytes !== undefined && { max_bytes: whole('recordsMaxBytes', recordsMaxBytes, 1) }),
    ...(recordsMaxMemories !== undefined && { max_memories: whole('recordsMaxMemories', recordsMaxMemories, 1) }),
  }
  return Object.keys(records).length > 0 ? { records } : {}
}

/** None where nobody has a use for it, or where there is no home directory. */
function defaultMemoryDir(toolsets: readonly string[]): string | undefined {
  const isMounted = toolsets.includes('records') || toolsets.includes('all')
  const home = isMounted ? homedir() : ''
  return isAbsolute(home) ? join(home, '.claude/agents/memories') : undefined
}

function grantedRecords(directory: string | undefined): Records | undefined {
  if (directory === undefined) return undefined
  try {
    return grantRecords(directory)
  } catch (error) {
    throw invalid('memoryDir', `cannot be granted: ${(error as Error).message}`, error)
  }
}

function granted(directory: string): string {
  if (typeof directory !== 'string') throw invalid('allow', 'has something that is no path')
  if (!isAbsolute(directory)) throw invalid('allow', `has \`${directory}\`, which is not an absolute path`)
  let path
  try {
    path = canonicalPath(directory)
  } catch (error) {
    throw invalid('allow', `has \`${directory}\`, which cannot be found`, error)
  }
  if (path === undefined) throw invalid('allow', `has \`${directory}\`, which leads to a path that is not UTF-8`)
  if (!statSync(path).isDirectory()) throw invalid('allow', `has \`${directory}\`, which is not a directory`)
  return path
}

function whole(option: string, value: number, least: number): number {
  if (!Number.isSafeInteger(value) || value < least) throw invalid(option, `is not a whole number of at least ${least}`)
  return value
}

function invalid(option: string, why: string, cause?: unknown): MemoryOpenError {
  return new MemoryOpenError('invalid-option', `the option \`${option}\` ${why}`, cause)
}

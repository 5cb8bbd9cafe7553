import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { type Description, mountedOf, type Toolset } from './description.ts'
import { invalidOption as invalid } from './errors.ts'
import type { Context } from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { ToolsetSettings } from './generated/toolsets.ts'
import { settleToolsets } from './toolset-settings.ts'
import { canonicalPath } from './storage/canonical.ts'
import type { Patience } from './storage/lock.ts'
import type { NamedPlaces } from './storage/named-place.ts'
import type { Durability } from './storage/directory.ts'

/** What `openMemory` takes. Everything may be left out but `allow`. */
export interface MemoryOptions extends ComponentOptions {
  settings?: ToolsetSettings
}

/** The same, for any component. */
export interface ComponentOptions {
  /** Absolute paths of directories. Each grants itself, where it is a repository, and the repositories below it. */
  allow: readonly string[]
  /** The names of the mounted toolsets, or `all`. Default: those that the component mounts by default. */
  toolsets?: readonly string[]
  /** The toolsets' own settings, by toolset and by name. A path is absolute or begins with `~/`. */
  settings?: object
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
    /** The same for a tool for people, which may convert the longest file of memories. Default 60,000. */
    readonly guestTimeForPeople?: number
    /** How often a call may ask storage. Default 100,000. */
    readonly storageCalls?: number
    /** Milliseconds that one statement on a database may run. Default 30,000. */
    readonly statementTime?: number
  }
}

/** The options with every default filled in. */
export interface Settings {
  readonly grants: readonly string[]
  readonly places: NamedPlaces
  readonly mounted: readonly Toolset[]
  readonly durability: Durability
  readonly patience: Patience
  readonly workers: number
  readonly memoryLimit: number
  readonly guestTime: number
  readonly guestTimeForPeople: number
  readonly storageCalls: number
  readonly statementTime: number
  /** The next call's context. */
  readonly arrive: () => Context
}

const defaultLockWait = 5_000
const mostLockWait = 3_600_000
const leastPatience = 30_000

/** Every option: a misspelt one would otherwise be left out without a word. */
const known: Record<keyof ComponentOptions, true> = {
  allow: true,
  toolsets: true,
  settings: true,
  utcOffset: true,
  durability: true,
  lockWait: true,
  clock: true,
  random: true,
  workers: true,
  limits: true,
}
const knownLimits: Record<keyof NonNullable<ComponentOptions['limits']>, true> = {
  memory: true,
  guestTime: true,
  guestTimeForPeople: true,
  storageCalls: true,
  statementTime: true,
}

export function settle(description: Description, options: ComponentOptions): Settings {
  if (typeof options !== 'object' || options === null) throw invalid('allow', 'is missing')
  checkNames(options, known, '')
  checkNames(options.limits ?? {}, knownLimits, 'limits.')
  const { allow, lockWait = defaultLockWait, durability = 'full', workers = 4, limits = {} } = options
  if (!Array.isArray(allow)) throw invalid('allow', 'is not an array of directories')
  if (durability !== 'full' && durability !== 'relaxed') throw invalid('durability', 'is neither `full` nor `relaxed`')
  const atHead = whole('lockWait', lockWait, 0)
  if (atHead > mostLockWait) throw invalid('lockWait', `is more than ${mostLockWait}, an hour`)
  const mounted = mountedOf(description, options.toolsets)
  const { places, ofToolsets } = settleToolsets(description.toolsets, mounted, options.settings)
  return {
    grants: allow.map(granted),
    places,
    mounted,
    durability,
    patience: { atHead, inAll: Math.max(leastPatience, atHead) },
    workers: whole('workers', workers, 1),
    memoryLimit: whole('limits.memory', limits.memory ?? 256 * 1024 * 1024, 1),
    guestTime: whole('limits.guestTime', limits.guestTime ?? 2_000, 1),
    guestTimeForPeople: whole('limits.guestTimeForPeople', limits.guestTimeForPeople ?? 60_000, 1),
    storageCalls: whole('limits.storageCalls', limits.storageCalls ?? 100_000, 1),
    statementTime: whole('limits.statementTime', limits.statementTime ?? 30_000, 1),
    arrive: arrivals({ toolsets: mounted.map(({ name }) => name), ofToolsets }, options),
  }
}

function checkNames(options: object, known: object, above: string): void {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(known, name))
  if (unknown === undefined) return
  throw invalid(above + unknown, `does not exist; there are ${Object.keys(known).join(', ')}`)
}

/** Numbers the calls and reads the clock for each as it arrives. */
function arrivals(
  settings: Context['settings'],
  { clock = 'system', random = 'system', utcOffset }: ComponentOptions,
): () => Context {
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
    return {
      settings,
      now: BigInt(now.getTime()),
      utcOffsetMinutes: utcOffset ?? -now.getTimezoneOffset(),
      seed: random === 'system' ? randomBytes(8).readBigUInt64BE() : BigInt.asUintN(64, seed + BigInt(k)),
    }
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

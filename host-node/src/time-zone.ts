import type { Zone } from './generated/component/interfaces/agent-memory-toolbox-toolbox.js'

/** The range of times whose offsets are sent: the years 1970 to 2099, in milliseconds since 1970-01-01T00:00:00Z. */
const begin = 0
const end = Date.UTC(2100, 0)

const second = 1000

/**
 * The step of the search for changes, in milliseconds. Since 1970, no zone has changed its offset and changed it back
 * within this time.
 */
const step = 6 * 24 * 60 * 60 * second

/** A zone in typed arrays. Sending them to a worker takes microseconds; sending 260 objects takes 100 times as long. */
export interface SentZone {
  readonly offsetMinutes: number
  /** The moments at which the offset changes, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly at: BigInt64Array
  /** The offset from each of these moments on. */
  readonly offsets: Int32Array
}

/** Converts a zone to the form that the component receives. */
export function receivedZone({ offsetMinutes, at, offsets }: SentZone): Zone {
  const changes: Zone['changes'] = []
  for (const [index, moment] of at.entries()) changes.push({ at: moment, offsetMinutes: offsets[index]! })
  return { offsetMinutes, changes }
}

/** The offset of a moment in minutes, positive to the east. */
type OffsetAt = (milliseconds: number) => number

/** The offsets of a zone in the years 1970 to 2099. They change at whole seconds. */
function zoneOf(offsetAt: OffsetAt): SentZone {
  const [moments, offsets]: [bigint[], number[]] = [[], []]
  const offsetMinutes = offsetAt(begin)
  let [from, offset] = [begin, offsetMinutes]
  while (from < end) {
    const to = Math.min(from + step, end)
    if (offsetAt(to) === offset) {
      from = to
      continue
    }
    // Binary search: the change is after `from`, and not after `at`.
    let at = to
    while (at - from > second) {
      const middle = from + Math.floor((at - from) / second / 2) * second
      if (offsetAt(middle) === offset) from = middle
      else at = middle
    }
    offset = offsetAt(at)
    if (at < end) {
      moments.push(BigInt(at))
      offsets.push(offset)
    }
    from = at
  }
  return { offsetMinutes, at: BigInt64Array.from(moments), offsets: Int32Array.from(offsets) }
}

const machineZones = new Map<string | undefined, SentZone>()

/** The zone of this machine. A program may change it with `process.env.TZ`. */
export function machineZone(): SentZone {
  const name = process.env['TZ']
  let zone = machineZones.get(name)
  if (zone === undefined) {
    zone = zoneOf((milliseconds) => 0 - Math.trunc(new Date(milliseconds).getTimezoneOffset()))
    machineZones.set(name, zone)
  }
  return zone
}

const namedZones = new Map<string, SentZone>()

/** The zone with a name in the IANA database. Undefined if there is no such zone. */
export function namedZone(name: string): SentZone | undefined {
  let zone = namedZones.get(name)
  if (zone === undefined) {
    // `Intl` would also accept an offset, such as `+02:00`.
    if (!/^[A-Za-z]/.test(name)) return undefined
    let format: Intl.DateTimeFormat
    try {
      format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
    } catch {
      return undefined
    }
    zone = zoneOf((milliseconds) => minutesOf(format.format(milliseconds)))
    namedZones.set(name, zone)
  }
  return zone
}

/** The offset at the end of a text such as `7/1/2026, GMT-04:00`, in minutes. */
function minutesOf(text: string): number {
  const found = /GMT(?:([+-])(\d\d):(\d\d)(?::\d\d)?)?$/.exec(text)
  if (found === null) throw new Error(`the offset of \`${text}\` cannot be read`)
  const [, sign, hours = '0', minutes = '0'] = found
  const offset = Number(hours) * 60 + Number(minutes)
  return sign === '-' && offset !== 0 ? -offset : offset
}

/** A zone that has the same offset on every day. */
export function fixedZone(offsetMinutes: number): SentZone {
  return { offsetMinutes, at: new BigInt64Array(), offsets: new Int32Array() }
}

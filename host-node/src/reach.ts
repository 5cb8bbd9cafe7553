import { MemoryCallError } from './errors.ts'

/** The agents and stores that a caller may use. Answers and errors do not mention any others. Default: all. */
export interface Reach {
  /** The only agents. With exactly one, a request that names no agent is for that one. */
  readonly agents?: readonly string[]
  /** The only stores. With exactly one, a request that names no store is for that one. */
  readonly stores?: readonly string[]
}

const members: Record<keyof Reach, true> = { agents: true, stores: true }

/**
 * Checks the form of a reach, for programs without types. An unknown member is an error: if it were
 * ignored, the reach would be too wide.
 */
export function checkReach(reach: Reach): Reach {
  const isList = (list: unknown) => Array.isArray(list) && list.every((name) => typeof name === 'string')
  if (typeof reach !== 'object' || reach === null || Array.isArray(reach)) throw wrongReach('it is not an object')
  for (const [name, list] of Object.entries(reach)) {
    if (!Object.hasOwn(members, name)) throw wrongReach(`it has \`${name}\``)
    if (list !== undefined && !isList(list)) throw wrongReach(`\`${name}\` is not an array of names`)
  }
  return reach
}

/** The agents and stores that both reaches have. */
export function narrowReach(one: Reach, other: Reach): Reach {
  const agents = narrowList(one.agents, other.agents)
  const stores = narrowList(one.stores, other.stores)
  return { ...(agents && { agents }), ...(stores && { stores }) }
}

function narrowList(one: readonly string[] | undefined, other: readonly string[] | undefined) {
  if (one === undefined || other === undefined) return (one ?? other)?.slice()
  return other.filter((name) => one.includes(name))
}

function wrongReach(what: string): MemoryCallError {
  return new MemoryCallError(
    'invalid-request',
    `the reach is wrong: ${what}; give \`agents\` and \`stores\` as arrays of names`,
  )
}

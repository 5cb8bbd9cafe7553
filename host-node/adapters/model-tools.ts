// The tools of a memory for a model, whose agent, repository and store the application sets. The other files here make
// tools of a framework of them.
import { resolve } from 'node:path'
import { type AgentMemory, type JsonSchema, MemoryCallError, type MemoryView, type Tool } from 'agent-memory'

/** What the application sets. No model sees or sets it. */
export interface Application {
  /** The name of the agent, which is the only one that the tools reach. */
  readonly agent: string
  /** The repository of the agent's sessions. It may be left out if only one is granted. */
  readonly repository?: string
  /** The only store that the tools reach. Without it, the model names one. */
  readonly store?: string
  /** The names of the tools to offer. Default: all tools for models. */
  readonly only?: readonly string[]
}

/** What a model gets from a call: the toolset's own JSON. That of a refusal says what to do. */
export interface Answer {
  readonly json: string
  readonly isError: boolean
}

/** A tool for a model. */
export interface ModelTool extends Pick<Tool, 'name' | 'title' | 'description' | 'annotations'> {
  /** The JSON Schema of the arguments that the model gives. */
  readonly inputSchema: JsonSchema
  /**
   * Calls the tool. A refusal is an answer. Rejects with a `MemoryCallError` for an error of the application, such as a
   * closed memory.
   */
  call(input: unknown): Promise<Answer>
}

/** The arguments that the application sets, by its own name for them. */
const argumentsOf = {
  agent: ['agent_name', 'agent_id', 'agent'],
  repository: ['repo_root'],
  store: ['store'],
} as const

/** The codes of errors that a model can do something about. */
export const forModels: readonly string[] = ['invalid-request', 'deadline', 'memory', 'storage-calls']

type Values = Readonly<Record<string, string | undefined>>

/** The tools of a memory for a model. They work until the memory is closed. Throws a `TypeError` for a wrong value. */
export function modelTools(memory: AgentMemory | MemoryView, application: Application): ModelTool[] {
  const { agent, repository, store, only } = application ?? {}
  if (typeof agent !== 'string') throw new TypeError("`agent` is missing: name the agent, such as `{ agent: 'ada' }`")
  const offered = memory.tools.filter(({ audience }) => audience === 'model')
  const unknown = only?.find((name) => !offered.some((tool) => tool.name === name))
  if (unknown !== undefined) throw new TypeError(`there is no tool \`${unknown}\` for models`)
  const values: Values = Object.fromEntries([
    ...argumentsOf.agent.map((name) => [name, agent]),
    ...argumentsOf.repository.map((name) => [name, repository && resolve(repository)]),
    ...(store === undefined ? [] : argumentsOf.store.map((name) => [name, store])),
  ])
  // An answer tells a model of no other agent, and of no other store if the application sets one.
  const bound = memory.withReach({ agents: [agent], ...(store !== undefined && { stores: [store] }) })
  return offered
    .filter(({ name }) => only?.includes(name) ?? true)
    .map((tool) => ({
      name: tool.name,
      title: tool.title,
      description: tool.description,
      annotations: tool.annotations,
      inputSchema: without(tool.inputSchema, values),
      call: (input) => call(bound, tool, values, input),
    }))
}

async function call(memory: MemoryView, { name, inputSchema }: Tool, values: Values, input: unknown): Promise<Answer> {
  try {
    const { isError, result } = await memory.call(name, completed(inputSchema, values, input ?? {}))
    return { json: JSON.stringify(forModel(result, values)), isError }
  } catch (error) {
    if (!(error instanceof MemoryCallError) || !forModels.includes(error.code)) throw error
    return { json: JSON.stringify({ error: error.code, message: error.message }), isError: true }
  }
}

/** The arguments of the model and of the application. */
function completed({ properties }: JsonSchema, values: Values, input: unknown): object {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new MemoryCallError('invalid-request', 'the arguments are not a JSON object')
  const given = Object.entries(input)
  const wrong = given.find(([name, value]) => Object.hasOwn(values, name) && value !== values[name])
  if (wrong !== undefined)
    throw new MemoryCallError('invalid-request', `the application sets \`${wrong[0]}\`: leave it out`)
  const set = Object.entries(values).filter(([name, value]) => value !== undefined && Object.hasOwn(properties!, name))
  return Object.fromEntries([...given.filter(([name]) => !Object.hasOwn(values, name)), ...set])
}

/** A schema without the arguments of the application, whose values it checks. */
function without(schema: JsonSchema, values: Values): JsonSchema {
  for (const [name, value] of Object.entries(values)) {
    const { pattern } = (schema.properties?.[name] ?? {}) as { pattern?: string }
    if (value !== undefined && pattern !== undefined && !new RegExp(pattern, 'u').test(value))
      throw new TypeError(`\`${value}\` is no \`${name}\`: it has to match \`${pattern}\``)
  }
  const isOfModel = (name: string) => !Object.hasOwn(values, name)
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => isOfModel(name))),
    required: (schema.required ?? []).filter(isOfModel),
  }
}

/**
 * A result without the names of the agent and the repository. A hit of a search has arguments of other tools. A search
 * may also find entries of other stores, which keep their names.
 */
function forModel(result: unknown, values: Values): unknown {
  if (Array.isArray(result)) return result.map((item) => forModel(item, values))
  if (typeof result !== 'object' || result === null) return result
  const isShown = ([name, value]: [string, unknown]) =>
    !Object.hasOwn(values, name) || (name === 'store' && value !== values[name])
  const shown = Object.entries(result).filter(isShown)
  return Object.fromEntries(shown.map(([name, value]) => [name, forModel(value, values)]))
}

/** A Standard Schema that takes every input, so that the memory answers a wrong one: it says what to do. */
export function passThrough(schema: JsonSchema): object {
  const json = () => schema
  return {
    '~standard': {
      version: 1,
      vendor: 'agent-memory',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: json, output: json },
    },
  }
}

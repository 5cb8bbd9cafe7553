import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Documents from '../dist/generated/component/interfaces/agent-memory-storage-documents.js'
import type { Connection, Kind } from '../dist/generated/component/interfaces/agent-memory-storage-database.js'
import type { Place } from '../dist/generated/component/interfaces/agent-memory-storage-types.js'
import type { Context } from '../dist/generated/component/interfaces/agent-memory-toolbox-toolbox.js'
import type { Description, PlaceDescription, Toolset } from '../dist/description.js'
import { openComponent } from '../dist/memory.js'
import type { ComponentOptions } from '../dist/options.js'
import { emptyDirectory, write } from './scratch.ts'

/** What the host lends to a tool; the generated types leave out what the product does not use. A resource that jco would drop is to be disposed of. */
export interface Lent {
  readonly documents: typeof Documents & {
    versionOf(contents: Uint8Array): string
    createPlace(place: Place): Documents.Tree
    listPlaces(kind: { tag: 'repository' } | { tag: 'named'; val: string }): string[]
  }
  readonly database: {
    open(place: Place, name: string, kind: Kind, create: boolean): Connection & { dialect(): string }
  }
  readonly context: Context
}

/** A tool of a component in plain JavaScript: its source is taken, so it names nothing around it. */
export type ToolSource = (input: any, lent: Lent) => unknown

/** What a toolset has that says nothing of itself. */
export const emptyToolset: Toolset = {
  name: 'guest',
  default: true,
  settings: [],
  places: [],
  tools: [],
  resources: [],
  resource_templates: [],
}

/** A setting for the path of a directory. */
export const directorySetting = {
  name: 'directory',
  schema: { type: 'string', minLength: 1 },
  help: 'Where things are',
  is_path: true,
}

/** A private place, where that setting says. */
export const privatePlace: PlaceDescription = {
  label: 'guest',
  kind: 'directory',
  is_private: true,
  setting: 'directory',
  default: '~/.guest',
  databases: [{ name: 'kept.db' }],
  missing: 'no directory for guests: set one',
}

/** A component in plain JavaScript, in a directory as `transpileTo` makes one. */
export function componentOf(sources: Record<string, ToolSource>, toolset: Partial<Toolset> = {}): URL {
  const directory = emptyDirectory()
  const tools = Object.keys(sources).map((name) => ({
    name,
    qualified_name: `guest_${name}`,
    shared_with: [],
    title: name,
    description: name,
    inputSchema: { type: 'object' },
    outputSchema: { type: 'object' },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    audience: 'model' as const,
  }))
  const description: Description = { toolsets: [{ ...emptyToolset, tools, ...toolset }] }
  write(join(directory, 'description.json'), JSON.stringify(description))
  const texts = Object.entries(sources).map(([name, source]) => `${JSON.stringify(name)}: ${source}`)
  write(
    join(directory, 'component.js'),
    program.replace('{ TOOLS }', () => `{ ${texts.join(',\n')} }`),
  )
  return pathToFileURL(`${directory}/`)
}

// A guest's refusal is the storage error that it met.
const program = `
const tools = { TOOLS }
export function instantiate(_, imports) {
  const documents = imports['agent-memory:storage/documents']
  const database = imports['agent-memory:storage/database']
  const callTool = (name, text, context) => {
    const outcome = (answer) => ({ answer, changed: [], followUps: [] })
    try {
      const result = tools[name](JSON.parse(text), { documents, database, context })
      return outcome({ tag: 'ok', val: JSON.stringify(result ?? null, (_, value) => typeof value === 'bigint' ? String(value) : value) })
    } catch (error) {
      if (error instanceof Error) throw error
      const { code, message } = error.error ?? error
      return outcome({ tag: 'err', val: { category: 'storage', code, message, json: JSON.stringify({ code, message }) } })
    }
  }
  return { toolbox: { callTool } }
}
`

/** Opens such a component with a private place, and says what its tools answer. */
export async function guest(sources: Record<string, ToolSource>, options: Partial<ComponentOptions> = {}) {
  const directory = join(emptyDirectory(), 'place')
  const component = componentOf(sources, { settings: [directorySetting], places: [privatePlace] })
  const memory = await openComponent(component, {
    allow: [],
    settings: { guest: { directory } },
    workers: 1,
    ...options,
  })
  /** The result, or the code of the storage error. */
  const call = async (tool: string, input: object = {}): Promise<any> => {
    const outcome = await memory.call(tool, input)
    return outcome.isError ? outcome.error.code : outcome.result
  }
  return { directory, component, memory, call }
}

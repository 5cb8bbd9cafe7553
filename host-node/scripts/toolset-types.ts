import { compile, type JSONSchema } from 'json-schema-to-typescript'
import type { DescribedTool, Description, Setting, Toolset } from '../src/description.ts'

const style = { semi: false, singleQuote: true, printWidth: 120 }

/** Generates TypeScript types for the inputs and outputs of all tools and for all settings, from the description. */
export async function toolsetTypes({ toolsets }: Description): Promise<string> {
  const tools = toolsets.flatMap((toolset) => toolset.tools)
  // The qualified name of a tool whose name is shared always works.
  const nameOf = ({ name, qualified_name, shared_with }: DescribedTool) =>
    shared_with.length > 0 ? qualified_name : name
  const described = tools.map((tool) => [nameOf(tool), typesOf(tool, nameOf(tool))])
  const shared = Map.groupBy(
    tools.filter((tool) => tool.shared_with.length > 0),
    (tool) => tool.name,
  )
  described.push(...[...shared].map(([name, those]) => [name, typesOfShared(those)]))
  const set = toolsets
    .filter(({ settings }) => settings.length > 0)
    .map((toolset) => [toolset.name, settingsOf(toolset)])
  return [
    '// Generated from the description of the component.\n',
    await typed('Tools', 'The input and output of each tool.', required(Object.fromEntries(described))),
    await typed('ToolsetSettings', "The toolsets' own settings.", { properties: Object.fromEntries(set) }),
  ].join('\n')
}

function typed(title: string, description: string, of: object): Promise<string> {
  const schema = { title, description, type: 'object', additionalProperties: false, ...of }
  return compile(schema as JSONSchema, title, { bannerComment: '', style })
}

function typesOf({ description, inputSchema, outputSchema }: DescribedTool, name: string): object {
  const type = name
    .split('_')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')
  const properties = {
    input: relocated(inputSchema, `${type}Input`, `#/properties/${name}/properties/input`),
    output: relocated(outputSchema, `${type}Output`, `#/properties/${name}/properties/output`),
  }
  return { description, type: 'object', additionalProperties: false, ...required(properties) }
}

/** The types of a name that tools of several toolsets share. It works if only one of these toolsets is mounted. */
function typesOfShared(tools: DescribedTool[]): object {
  const anyOf = (part: string) => ({
    anyOf: tools.map((tool) => ({ $ref: `#/properties/${tool.qualified_name}/properties/${part}` })),
  })
  const names = tools.map((tool) => `\`${tool.qualified_name}\``).join(' or ')
  return {
    description: `Stands for ${names} if the toolset of only one of them is mounted.`,
    type: 'object',
    additionalProperties: false,
    ...required({ input: anyOf('input'), output: anyOf('output') }),
  }
}

function settingsOf({ settings }: Toolset): object {
  const properties = settings.map((setting) => [setting.name, { ...setting.schema, description: helpOf(setting) }])
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) }
}

function helpOf({ help, more, default: value, default_text }: Setting): string {
  const usual = default_text || (value === undefined ? undefined : `\`${value}\``)
  return [help, more, usual && `Default: ${usual}`].filter(Boolean).join('\n\n')
}

function required(properties: object): object {
  return { properties, required: Object.keys(properties) }
}

/** The schema with its internal references adjusted to its place in the large schema. */
function relocated(schema: object, title: string, pointer: string): object {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${pointer}/`)
  return { ...JSON.parse(text), title }
}

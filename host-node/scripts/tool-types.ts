import { compile, type JSONSchema } from 'json-schema-to-typescript'
import type { Tool } from '../src/memory.ts'

/** TypeScript for the inputs and outputs of tools, from the schemas that the component itself lists. */
export async function toolTypes(tools: readonly Tool[]): Promise<string> {
  const properties = Object.fromEntries(tools.map((tool) => [tool.name, described(tool)]))
  const schema = closed({ title: 'Tools', description: 'What each tool takes and returns.', properties })
  return compile(schema as JSONSchema, 'Tools', {
    bannerComment: '// Generated from the tools that the component lists.',
    style: { semi: false, singleQuote: true, printWidth: 120 },
  })
}

function described({ name, description, inputSchema, outputSchema }: Tool): object {
  const type = name
    .split('_')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')
  return closed({
    description,
    properties: {
      input: moved(inputSchema, `${type}Input`, `#/properties/${name}/properties/input`),
      output: moved(outputSchema, `${type}Output`, `#/properties/${name}/properties/output`),
    },
  })
}

function closed(schema: { properties: object; [keyword: string]: unknown }): object {
  return { type: 'object', additionalProperties: false, required: Object.keys(schema.properties), ...schema }
}

/** The schema with the references into itself adjusted to where it stands now. */
function moved(schema: object, title: string, pointer: string): object {
  const text = JSON.stringify(schema).replaceAll('"$ref":"#/', `"$ref":"${pointer}/`)
  return { ...JSON.parse(text), title }
}

import { readFileSync } from 'node:fs'

/** The platforms that have a native program: `os-cpu`. Those for Linux are static, so they run on each C library. */
export const platforms = ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'linux-x64', 'win32-x64']

const { version, license } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** The manifest of a platform's package, and the path of the program in it. Undefined for an unknown platform. */
export function manifestOf(platform: string): { json: object; program: string } | undefined {
  if (!platforms.includes(platform)) return undefined
  const [os, cpu] = platform.split('-')
  const program = `bin/agent-memory${os === 'win32' ? '.exe' : ''}`
  const json = {
    name: `@agent-memory/${platform}`,
    version,
    description: `The program agent-memory for ${platform}`,
    license,
    os: [os],
    cpu: [cpu],
    files: ['bin', 'NOTICE'],
  }
  return { json, program }
}

/** The packages of all platforms, in the version of this package. npm installs the one that fits. */
export function optionalDependencies(): Record<string, string> {
  return Object.fromEntries(platforms.map((platform) => [`@agent-memory/${platform}`, version]))
}

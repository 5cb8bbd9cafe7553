import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** The path with `~/` replaced by the home directory; undefined if it is not absolute. */
export function absolutePath(path: string): string | undefined {
  const expanded = path.startsWith('~/') ? join(homedir(), path.slice(2)) : path
  return isAbsolute(expanded) ? expanded : undefined
}

/** The default data directory: `agent-memory` in the platform's. Undefined if there is no home directory. */
export function defaultDataDirectory(platform: NodeJS.Platform = process.platform): string | undefined {
  const directory = platformDataDirectory(platform)
  return directory === undefined ? undefined : join(directory, 'agent-memory')
}

/** The default directory for files that people edit. Undefined if there is no home directory. */
export function defaultConfigurationDirectory(platform: NodeJS.Platform = process.platform): string | undefined {
  const directory = platformConfigurationDirectory(platform)
  return directory === undefined ? undefined : join(directory, 'agent-memory')
}

function platformConfigurationDirectory(platform: NodeJS.Platform): string | undefined {
  switch (platform) {
    case 'darwin':
      return absolutePath('~/Library/Application Support')
    case 'win32':
      return absoluteVariable('APPDATA')
    default:
      return absoluteVariable('XDG_CONFIG_HOME') ?? absolutePath('~/.config')
  }
}

function platformDataDirectory(platform: NodeJS.Platform): string | undefined {
  switch (platform) {
    case 'darwin':
      return absolutePath('~/Library/Application Support')
    case 'win32':
      return absoluteVariable('LOCALAPPDATA')
    default:
      return absoluteVariable('XDG_DATA_HOME') ?? absolutePath('~/.local/share')
  }
}

/** The path in an environment variable. A relative one is ignored, as the XDG specification wants it. */
function absoluteVariable(name: string): string | undefined {
  const path = process.env[name]
  return path !== undefined && isAbsolute(path) ? path : undefined
}

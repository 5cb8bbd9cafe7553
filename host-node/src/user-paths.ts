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

function platformDataDirectory(platform: NodeJS.Platform): string | undefined {
  switch (platform) {
    case 'darwin':
      return absolutePath('~/Library/Application Support')
    case 'win32':
      return absolutePath(process.env['LOCALAPPDATA'] ?? '~/AppData/Local')
    default: {
      // The XDG specification ignores a relative path.
      const set = process.env['XDG_DATA_HOME']
      return set !== undefined && isAbsolute(set) ? set : absolutePath('~/.local/share')
    }
  }
}

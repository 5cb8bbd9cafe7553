import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { invalidOption } from './errors.ts'

/** The path with the home directory for `~/`. Undefined if the path is relative, or begins with `~/` without a home. */
export function absolutePath(path: string): string | undefined {
  const expanded = path.startsWith('~/') ? join(homeDirectory() ?? '', path.slice(2)) : path
  return isAbsolute(expanded) ? expanded : undefined
}

/** Why `absolutePath` returns no path. */
export const notAbsolute = 'neither an absolute path nor one that begins with `~/`'

/** The home directory. Undefined for a user without one. */
export function homeDirectory(): string | undefined {
  try {
    return homedir() || undefined
  } catch {
    return undefined
  }
}

/** Patterns of wrong paths: the rules of `setting-values/src/path.rs`. `tests/setting-paths.json` tests both. */
const mistakes: readonly (readonly [RegExp, string])[] = [
  [/^\s|\s$/, 'has white space at an end: leave it out'],
  [/^(["'])[^]*\1$|^[“„][^]*[”“]$/, 'has quotation marks around it: leave them out'],
  [/\$\{/, 'has a `${...}` that nothing has replaced: write the path itself'],
  [/\$\([^]*\)|`[^]*`/, 'has a command that no shell has run: write the path itself'],
  [/\{\{[^]*\}\}/, 'has a `{{...}}` that nothing has replaced: write the path itself'],
  [/(^|[/\\])\$[A-Za-z_]/, 'begins a name with a `$` variable that nothing has replaced: write the path itself'],
  [/(^|[/\\])\{[A-Z_][A-Z0-9_]*\}($|[/\\])/, 'has a `{NAME}` that nothing has replaced: write the path itself'],
  [/(^|[/\\])<[^<>/\\]+>($|[/\\])/, 'has a placeholder in `<...>`: write the path itself'],
  [
    /^(null|undefined|None|\[object Object\])$/,
    'is the text of a missing value: write a path, or leave the option out',
  ],
  [/%[A-Za-z_][A-Za-z0-9_()]*%/, 'has a `%...%` that nothing has replaced: write the path itself'],
  [/^(file:|[A-Za-z][A-Za-z0-9+.-]+:\/\/)/i, 'is a URI: write the path itself, such as `/home/ada/memory`'],
  ...(process.platform === 'win32'
    ? []
    : [[/^\/?[A-Za-z]:([/\\]|$)|^[A-Z]:|^\\\\/, 'is a path of Windows: write a path of this system'] as const]),
  [/^~[^/]/, 'begins with `~` and a name, which is not replaced here: write the path itself'],
]

/**
 * The reason why a path must be a mistake, such as an unexpanded variable in it. Otherwise a directory with that name
 * would be created. Undefined if the path has no known mistake.
 */
export function pathMistake(path: string): string | undefined {
  return mistakes.find(([pattern]) => pattern.test(path))?.[1]
}

/** Throws if a path has a mistake that `pathMistake` knows. */
export function requireMeant(option: string, path: string): void {
  const mistake = pathMistake(path)
  if (mistake !== undefined) throw invalidOption(option, `is \`${path}\`, which ${mistake}`)
}

/** The default data directory: `agent-memory` in the platform's data directory. Undefined without a home directory. */
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

/** The absolute path in an environment variable. A relative path is ignored, as the XDG specification demands. */
function absoluteVariable(name: string): string | undefined {
  const path = process.env[name]
  return path !== undefined && isAbsolute(path) ? path : undefined
}

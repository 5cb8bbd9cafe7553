import { isUtf8 } from 'node:buffer'
import {
  type BigIntStats,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import type { Kind, Metadata } from '../generated/files/interfaces/agent-memory-file-system-file-system.js'

/** A result of the component model. jco accepts it in place of a thrown error, which takes longer. */
type Result<T> = { readonly tag: 'ok'; readonly val: T } | { readonly tag: 'err'; readonly val: unknown }

/** The flag to open a directory only for looking up names, which needs no right to list it. Linux only. */
const O_PATH = 0o10000000

/**
 * Whether a name can be looked up relative to an open directory. Node has no `openat`, but on Linux the path
 * `/proc/self/fd/<descriptor>/<name>` has the same effect: if the directory's own path changes, no symbolic link on it
 * is followed. On other systems, each directory is checked before its path is used.
 */
const hasDescriptors = process.platform === 'linux' && existsSync('/proc/self/fd')

const isWindows = process.platform === 'win32'

/** On Windows some of these flags are undefined, and count as 0. */
const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY, O_NOCTTY } = constants
const openFlags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

/** The buffer of all reads. The component copies the bytes before the next read. */
let readBuffer = Buffer.alloc(0)

/** The import `agent-memory:file-system/file-system`. `close` closes all handles that a trap has left open. */
export function fileSystem(): { imports: object; close: () => void } {
  const descriptors = new Set<number>()
  const opened = (descriptor: number): number => {
    descriptors.add(descriptor)
    return descriptor
  }
  const close = (descriptor: number): void => {
    if (descriptors.delete(descriptor)) closeSync(descriptor)
  }

  class Directory {
    /** The path of the directory, to which a name in it is appended to look it up. */
    readonly own: string
    readonly #descriptor: number | undefined

    constructor(path: string, descriptor?: number) {
      this.own = path
      this.#descriptor = descriptor
    }

    /** Opens a directory at a path without a symbolic link. Throws `ENOTDIR` if something else is there. */
    static at(path: string): Directory {
      if (hasDescriptors) {
        const descriptor = opened(openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW))
        return new Directory(`/proc/self/fd/${descriptor}`, descriptor)
      }
      if (!lstatSync(path).isDirectory()) throw errnoError('ENOTDIR')
      return new Directory(path)
    }

    descend(names: string[]): Result<Directory> {
      let directory: Directory = this
      for (const [index, name] of names.entries()) {
        const above = directory
        try {
          directory = Directory.at(above.path(name))
        } catch (error) {
          return { tag: 'err', val: [index, errnoOf(error)] }
        } finally {
          if (above !== this) above[Symbol.dispose]()
        }
      }
      return { tag: 'ok', val: directory }
    }

    look(names: string[]): Result<(Metadata | undefined)[]> {
      return attempt(() => names.map((name) => metadataAt(this.path(name))))
    }

    names(): Result<string[]> {
      return attempt(() => {
        const names = readdirSync(`${this.own}/`, { encoding: 'buffer' })
        return names.filter((name) => isUtf8(name)).map((name) => name.toString('utf8'))
      })
    }

    openFile(name: string): Result<object> {
      const path = this.path(name)
      try {
        // Opening a device can have effects, so its kind is checked first.
        const before = lstatSync(path, { throwIfNoEntry: false })
        if (before === undefined) return { tag: 'ok', val: { tag: 'nothing' } }
        if (!before.isFile()) return { tag: 'ok', val: { tag: 'something-else' } }
        const file = new File(opened(openSync(path, O_RDONLY | openFlags)))
        const metadata = file.metadata()
        if (metadata.kind === 'file') return { tag: 'ok', val: { tag: 'file', val: [file, metadata] } }
        file[Symbol.dispose]()
        return { tag: 'ok', val: { tag: 'something-else' } }
      } catch (error) {
        const errno = errnoOf(error)
        if (errno === 'ENOENT') return { tag: 'ok', val: { tag: 'nothing' } }
        if (errno === 'ELOOP' || errno === 'ENXIO') return { tag: 'ok', val: { tag: 'something-else' } }
        return { tag: 'err', val: errno }
      }
    }

    createFile(name: string, mode: number, exclusive: boolean): Result<File> {
      const flags = O_WRONLY | O_CREAT | openFlags | (exclusive ? O_EXCL : 0)
      return attempt(() => new File(opened(openSync(this.path(name), flags, mode))))
    }

    createDirectory(name: string, mode: number): Result<void> {
      return attempt(() => void mkdirSync(this.path(name), mode))
    }

    link(name: string, other: Directory, to: string): Result<void> {
      return attempt(() => linkSync(this.path(name), other.path(to)))
    }

    rename(name: string, other: Directory, to: string): Result<void> {
      return attempt(() => renameSync(this.path(name), other.path(to)))
    }

    remove(name: string, isDirectory: boolean): Result<void> {
      return attempt(() => (isDirectory ? rmdirSync : unlinkSync)(this.path(name)))
    }

    sync(): Result<void> {
      return attempt(() => {
        // Windows syncs a directory only if it is open for writing.
        const descriptor = openSync(`${this.own}/`, isWindows ? O_RDWR : O_RDONLY | O_DIRECTORY)
        try {
          fsyncSync(descriptor)
        } finally {
          closeSync(descriptor)
        }
      })
    }

    path(name: string): string {
      return `${this.own}/${name}`
    }

    [Symbol.dispose](): void {
      if (this.#descriptor !== undefined) close(this.#descriptor)
    }
  }

  class File {
    readonly #descriptor: number

    constructor(descriptor: number) {
      this.#descriptor = descriptor
    }

    metadata(): Metadata {
      return metadataOf(fstatSync(this.#descriptor, { bigint: true }))
    }

    read(maxBytes: number): Result<Uint8Array> {
      return attempt(() => {
        if (readBuffer.length < maxBytes) readBuffer = Buffer.allocUnsafeSlow(maxBytes)
        let length = 0
        for (let read = 1; read > 0 && length < maxBytes; length += read)
          read = readSync(this.#descriptor, readBuffer, length, maxBytes - length, null)
        return readBuffer.subarray(0, length)
      })
    }

    write(bytes: Uint8Array): Result<void> {
      return attempt(() => {
        for (let at = 0; at < bytes.length;) at += writeSync(this.#descriptor, bytes, at)
      })
    }

    sync(): Result<void> {
      return attempt(() => fdatasyncSync(this.#descriptor))
    }

    setMode(mode: number): Result<void> {
      return attempt(() => {
        if ((fstatSync(this.#descriptor).mode & 0o777) !== mode) fchmodSync(this.#descriptor, mode)
      })
    }

    [Symbol.dispose](): void {
      close(this.#descriptor)
    }
  }

  const imports = {
    Directory,
    File,
    canonical: (path: string) => attempt(() => canonicalPath(path)),
    kindAt: (path: string, follow: boolean) =>
      attempt(() => {
        const stats = (follow ? statSync : lstatSync)(systemPath(path), { throwIfNoEntry: false })
        return stats && kindOf(stats)
      }),
    openDirectory: (path: string) => attempt(() => openCanonical(path)),
  }

  function openCanonical(path: string): Directory {
    const directory = Directory.at(systemPath(path))
    if (!hasDescriptors || readlinkSync(directory.own) === path) return directory
    directory[Symbol.dispose]()
    throw errnoError('ELOOP')
  }

  return { imports, close: () => [...descriptors].forEach(close) }
}

/** The canonical path as bytes, which need not be UTF-8. The separator is `/`, also on Windows. */
function canonicalPath(path: string): Buffer {
  const bytes = realpathSync.native(systemPath(path), 'buffer')
  return isWindows ? Buffer.from(bytes.toString('utf8').replaceAll('\\', '/')) : bytes
}

/** The path for the system. Adds `/` to `C:`, which alone would be the working directory of the drive. */
function systemPath(path: string): string {
  return isWindows && /^[a-z]:$/i.test(path) ? `${path}/` : path
}

function metadataAt(path: string): Metadata | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stats && metadataOf(stats)
}

function metadataOf(stats: BigIntStats): Metadata {
  const { size, ino: inode, mtimeNs: modified, ctimeNs: changed } = stats
  return { kind: kindOf(stats), size, mode: Number(stats.mode & 0o777n), inode, modified, changed }
}

function kindOf(stats: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }): Kind {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'link' : 'other'
}

function attempt<T>(work: () => T): Result<T> {
  try {
    return { tag: 'ok', val: work() }
  } catch (error) {
    return { tag: 'err', val: errnoOf(error) }
  }
}

/**
 * The name of the system's error. `ENOENT` for a path with a NUL character, which Node refuses: no file can have it.
 */
function errnoOf(error: unknown): string {
  const { code = 'EIO' } = error as NodeJS.ErrnoException
  return code === 'ERR_INVALID_ARG_VALUE' ? 'ENOENT' : code
}

function errnoError(code: string): Error {
  return Object.assign(new Error(code), { code })
}

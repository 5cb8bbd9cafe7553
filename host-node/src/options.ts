import type { Durability } from './durability.ts'
import type { Embed } from './embedding.ts'
import type { ToolsetSettings } from './generated/toolsets.ts'
import type { Summarize } from './summaries.ts'

/** The options of `openMemory`. Only `allow` is required. */
export interface MemoryOptions extends ComponentOptions {
  /**
   * The toolsets' own settings, by toolset and by name. A path is absolute or begins with `~/`. The path of a file may
   * also be relative to the working directory.
   */
  settings?: ToolsetSettings
}

/** The options for any component. */
export interface ComponentOptions {
  /**
   * Directories: absolute paths, or ones that begin with `~/`. Each grants the repositories below it, and itself if it
   * is a repository.
   */
  allow: readonly string[]
  /**
   * The names of the toolsets to mount; `all` mounts every toolset. Default: the component's default toolsets. With any
   * of them come those that have a setting to leave them out, unless it is `true`.
   */
  toolsets?: readonly string[]
  /**
   * The toolsets' own settings, by toolset and by name. A path is absolute or begins with `~/`. The path of a file may
   * also be relative to the working directory.
   */
  settings?: object
  /**
   * The directory for data outside of repositories whose path no setting gives: absolute, or begins with `~/`. It need
   * not exist. Default: `agent-memory` in the data directory of the platform, which is `$XDG_DATA_HOME` or
   * `~/.local/share` on Linux, `~/Library/Application Support` on macOS and `%LOCALAPPDATA%` on Windows.
   */
  dataDir?: string
  /**
   * Asks a model for a summary of memories, after the answer of the call that needs the summary. It has 30 s. If it
   * rejects, or returns an empty or too long text, the built-in summary is used. Its name among the models is
   * `function`. Without `summarize` and `models`, summaries are the built-in ones, made within the call.
   */
  summarize?: Summarize
  /**
   * The names of models that the program asks itself, the preferred one first. `summarize` comes before all of them.
   * The program claims follow-ups with `claim` and answers them with `answer`. Default: none.
   */
  models?: readonly string[]
  /**
   * Returns the vectors of stored texts, after the answer of the call that stored them, and the vectors of queries, for
   * which a search waits at most 1 s. It needs `embedModel`. Without `embed` and `embedModel` there are no vectors.
   */
  embed?: Embed
  /**
   * The name of the model of `embed`. Vectors are stored under this name, and vectors under another name are ignored:
   * use a new name for a new model. Without `embed`, the program itself claims and answers the follow-ups for vectors,
   * and repeats a search with the vector that its outcome wants.
   */
  embedModel?: string
  /**
   * The paths of the places of families, by the label of the family and by the name of the place. Each path is absolute
   * or begins with `~/`, and has no symbolic link. A family that is given here has only these places: it has no
   * registry, and calls cannot create places in it.
   */
  places?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /**
   * The time zone of dates, and of timestamps without an offset, by its name in the IANA database, such as
   * `America/New_York`. Default: the zone of this machine at the time of each call.
   */
  timeZone?: string
  /**
   * A time zone that has this offset on every day, instead of `timeZone`, in minutes east of UTC: less than 1,440
   * either way.
   */
  utcOffset?: number
  /**
   * `full` (default): changes survive a loss of power once their call has returned. `relaxed`: the system decides when
   * to sync, so a loss of power may undo the last changes.
   */
  durability?: Durability
  /**
   * The maximum wait in milliseconds of the writer at the head of the queue for the lock, and of a call for a database
   * that another program has locked. At most 3,600,000. Default: 5,000. Including its time in the queue, a writer waits
   * at most 30,000 ms, or `lockWait` if that is longer.
   */
  lockWait?: number
  /**
   * The clock of the calls. Default: the system's. With `now`, call k (from 0) sees `now` plus k times `step`
   * milliseconds; `step` is 0 by default.
   */
  clock?: 'system' | { readonly now: string | Date; readonly step?: number }
  /** The seed of each call. Default: random. With `seed`, call k (from 0) gets `seed` plus k. */
  random?: 'system' | { readonly seed: number | bigint }
  /**
   * The maximum number of worker threads. Default: 4. They start when they are needed. Threads that wait for a lock of
   * another process do not count: there may be up to four times as many of these in addition.
   */
  workers?: number
  /** The limits of a call. A call that exceeds one rejects with a `MemoryCallError`. */
  limits?: {
    /** The most bytes of linear memory that the component may use: at least 16 MiB. Default: 256 MiB. */
    readonly memory?: number
    /** The most milliseconds that the component itself may run, without waits for locks or disks. Default: 2,000. */
    readonly guestTime?: number
    /** As `guestTime`, for tools for people, which may convert very long files of memories. Default: 60,000. */
    readonly guestTimeForPeople?: number
    /** The most storage calls that the component may make. Default: 100,000. */
    readonly storageCalls?: number
    /** The most milliseconds that one statement on a database may run. Default: 30,000. */
    readonly statementTime?: number
  }
}

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
  /** Absolute paths of directories. Each grants the repositories below it, and itself if it is a repository. */
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
   * Asks a model for a summary of memories, after the call that left the request was answered. It has 30 s. If it
   * rejects, or answers nothing or too much, the built-in summary is used. Its name among the models is `function`.
   * Without it, and without `models`, summaries are the built-in ones, within the call.
   */
  summarize?: Summarize
  /**
   * The names of models that the program asks by itself, after `function`, the preferred one first: it claims the
   * follow-ups of outcomes with `claim` and answers them with `answer`. Default: none.
   */
  models?: readonly string[]
  /**
   * Gives the vectors of what is kept, after the call that left the request was answered, and the vectors of
   * queries, for which a search waits 1 s at most. It needs `embedModel`. Without it there are no vectors.
   */
  embed?: Embed
  /**
   * The name of the model of `embed`. Vectors are stored under it, and those of another name are ignored: name another
   * model differently. Without `embed`, the program gives the vectors by hand: it claims and answers the follow-ups, and
   * repeats a search with the vector that its outcome wants.
   */
  embedModel?: string
  /**
   * The places of families, by the label of the family and by name. Each
   * path is absolute or begins with `~/`, and no symbolic link leads to it. Such a family has these places only: it has
   * no registry, and calls create no further ones.
   */
  places?: Readonly<Record<string, Readonly<Record<string, string>>>>
  /**
   * The time zone of dates, and of timestamps without an offset, by its name in the IANA database, such as
   * `America/New_York`. Default: the zone of this machine at the time of each call.
   */
  timeZone?: string
  /**
   * A time zone that has this offset on every day, instead of `timeZone`, in minutes east of UTC: less than 1,440 either
   * way.
   */
  utcOffset?: number
  /**
   * `full` (default): changes survive a loss of power once their call has returned. `relaxed`: the system decides when
   * to sync, so a loss of power may undo the last changes.
   */
  durability?: Durability
  /**
   * The most milliseconds that the writer at the head of the queue waits for the lock, and a call for a database that
   * another program has locked: at most 3,600,000. Default: 5,000. With its time in the queue, a writer waits at most
   * 30,000 ms, or `lockWait` if that is longer.
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
   * The most worker threads. Default: 4. They start when they are needed. Threads that wait for a lock of another
   * process do not count: there may be four times as many of them in addition.
   */
  workers?: number
  /** The limits of a call. A call that exceeds one rejects with a `MemoryCallError`. */
  limits?: {
    /** The most bytes of linear memory that the component may use: at least 16 MiB. Default: 256 MiB. */
    readonly memory?: number
    /** The most milliseconds that the component itself may run, without waits for locks or disks. Default: 2,000. */
    readonly guestTime?: number
    /** The same for a tool for people, which may convert the longest file of memories. Default: 60,000. */
    readonly guestTimeForPeople?: number
    /** The most storage calls that the component may make. Default: 100,000. */
    readonly storageCalls?: number
    /** The most milliseconds that one statement on a database may run. Default: 30,000. */
    readonly statementTime?: number
  }
}

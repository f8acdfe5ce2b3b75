/** A file, folder or link of a volume. */
export interface VolumeEntry {
  /** Relative to the volume, without a slash at its ends. Empty for the volume's own folder. */
  readonly path: string;
  /** A type of tar: `file`, `directory`, `symlink`, `link` (a hard link), `fifo`, `character-device`. */
  readonly type: string;
  /** The target of a link; that of a hard link is relative to the volume. */
  readonly target: string | null;
  /** Bytes of a file, else 0. */
  readonly size: number;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtime: Date;
  /** Major and minor number of a device. */
  readonly device: readonly [number, number];
  /** Extended attributes, as `SCHILY.xattr.user.name`. */
  readonly attributes: Readonly<Record<string, string>> | null;
  /** The bytes of a file. What is not read is skipped with the next entry. */
  readonly data: AsyncIterable<Buffer>;
}

/** The files of one volume on the engine's machine. No process of an app is involved. */
export interface VolumeFiles {
  /** Yields the volume's own folder first, then everything in it, parents before children. */
  read(): AsyncGenerator<VolumeEntry>;
  /** Adds the entries with their owners, modes and times. */
  write(entries: AsyncIterable<VolumeEntry>): Promise<void>;
  /** Must be called; the volume cannot be removed before. */
  close(): Promise<void>;
}

/** A command that runs in a container, with its input and its output as streams. */
export interface PipedCommand {
  /** What it prints on its standard output. */
  readonly output: AsyncIterable<Buffer>;
  /** Resolves when the output was read to its end. */
  result(): Promise<{ readonly exitCode: number; readonly stderr: string }>;
}

export interface PipeOptions {
  /** Its standard input. Without it the command has none. */
  readonly input?: AsyncIterable<Buffer>;
  /** Ends the connection to the command. */
  readonly signal: AbortSignal;
}

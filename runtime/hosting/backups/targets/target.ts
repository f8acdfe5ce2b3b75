/** A place where backups are stored. Names are relative paths of letters, digits, `.`, `-` and `_`. */
export interface Target {
  /**
   * Stores a stream. The object exists only when all of it was stored.
   *
   * @param begun Called with what `discard` needs to remove the bytes of an attempt that was killed.
   */
  put(name: string, chunks: AsyncIterable<Buffer>, begun?: Begun): Promise<void>;
  /** Removes what a killed `put` has left of an object. */
  discard(name: string, attempt: string | null): Promise<void>;
  get(name: string): AsyncIterable<Buffer>;
  /** Does nothing when it does not exist. */
  remove(name: string): Promise<void>;
  /** The names that begin with `prefix`, in their order. */
  list(prefix: string): Promise<readonly string[]>;
}

export type Begun = (attempt: string) => Promise<void>;

/** Writes, reads and removes a small object. @throws the error of the first step that fails. */
export async function tryTarget(target: Target): Promise<void> {
  const name = `_check/${Date.now().toString(36)}`;
  const text = Buffer.from('twofold');
  await target.put(name, single(text));
  const read: Buffer[] = [];
  for await (const chunk of target.get(name)) read.push(chunk);
  await target.remove(name);
  if (!Buffer.concat(read).equals(text)) throw new Error('it returns other bytes than were stored');
}

async function* single(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

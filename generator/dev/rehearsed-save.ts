import type { SourceText } from '@twofold/schema';
import { planSources, type RunOptions } from '../pipeline.ts';
import { readSources } from '../read.ts';
import { type Disk, disk as realDisk } from '../write/disk.ts';
import { writeChanges } from '../write/write.ts';

/**
 * A save that nobody made, up to the last file: a type has a field more, then the sources are as they are. Each goes the way
 * of a real one, in which a definition has changed, and what it writes stays in memory.
 */
export function createRehearsedSave(
  root: string,
  options: RunOptions,
  disk: Disk = realDisk,
): () => Promise<void> {
  let turn = 0;
  return async () => {
    const sources = await readSources(root);
    const inMemory = createMemoryDisk(disk);
    const saved =
      turn % 2 === 0 ? { ...sources, schema: withField(sources.schema, turn / 2) } : sources;
    turn++;
    const { changes } = await planSources(saved, options, inMemory);
    await writeChanges(root, changes, inMemory);
  };
}

/** Far enough from one to the next that root types, entities and others have their turn. */
const STRIDE = 37;

/** One field more in one of the types; if there is one of that name, the run ends with a finding, as saves do. */
function withField(schema: readonly SourceText[], turn: number): SourceText[] {
  const places = schema.flatMap(({ file, text }) =>
    Array.from(text.matchAll(/^type \w+[^\n{]*\{\n/gm), ({ index, 0: line }) => ({
      file,
      at: index + line.length,
    })),
  );
  const place = places[(places.length - 1 + turn * STRIDE) % places.length];
  return schema.map(({ file, text }) => ({
    file,
    text:
      file === place?.file
        ? `${text.slice(0, place.at)}  rehearsed: Int\n${text.slice(place.at)}`
        : text,
  }));
}

/** A disk that takes writes without a trace. */
function createMemoryDisk(disk: Disk): Disk {
  const texts = new Map<string, string | null>();
  const set = (path: string, text: string | null) => void texts.set(path, text);
  const read = async (path: string) => (texts.has(path) ? texts.get(path)! : disk.read(path));
  return {
    read,
    write: async (path, text) => set(path, text),
    rename: async (from, to) => {
      set(to, await read(from));
      set(from, null);
    },
    remove: async (path) => set(path, null),
    removeFolder: async (path) => {
      for (const each of texts.keys()) if (each.startsWith(path)) set(each, null);
    },
    createExclusive: async (path, text) => set(path, text),
    list: (path) => disk.list(path),
  };
}

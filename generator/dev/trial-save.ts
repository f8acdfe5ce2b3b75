import { lookUp } from '@twofold/schema';
import type { SourceText } from '@twofold/schema';
import { planSources, type RunOptions } from '../pipeline.ts';
import { readSources } from '../read.ts';
import { type Disk, disk as realDisk } from '../write/disk.ts';
import { writeChanges } from '../write/write.ts';

/**
 * A run as after a save, whose output stays in memory. In turn, one type gets an additional field,
 * and then the sources are as on disk: each run finds a changed definition, as after a real save.
 */
export function createTrialSave(
  root: string,
  options: RunOptions,
  disk: Disk = realDisk,
): () => Promise<void> {
  let round = 0;
  return async () => {
    const sources = await readSources(root);
    const inMemory = createMemoryDisk(disk);
    const saved =
      round % 2 === 0 ? { ...sources, schema: withField(sources.schema, round / 2) } : sources;
    round++;
    const { changes } = await planSources(saved, { ...options, codegen: false }, inMemory);
    await writeChanges(root, changes, inMemory);
  };
}

/**
 * The distance between the types of two trials. A prime, so that root types, entities and others
 * all get their turn.
 */
const STRIDE = 37;

/**
 * The schema with one more field in one type. If the type already has a field of that name, the run
 * ends with a finding.
 */
function withField(schema: readonly SourceText[], round: number): SourceText[] {
  const places = schema.flatMap(({ file, text }) =>
    Array.from(text.matchAll(/^type \w+[^\n{]*\{\n/gm), ({ index, 0: line }) => ({
      file,
      at: index + line.length,
    })),
  );
  const place = places[(places.length - 1 + round * STRIDE) % places.length];
  return schema.map(({ file, text }) => ({
    file,
    text:
      file === place?.file
        ? `${text.slice(0, place.at)}  trial: Int\n${text.slice(place.at)}`
        : text,
  }));
}

/** A disk whose writes stay in memory. */
function createMemoryDisk(disk: Disk): Disk {
  const texts = new Map<string, string | null>();
  const set = (path: string, text: string | null) => void texts.set(path, text);
  const read = async (path: string) => (texts.has(path) ? lookUp(texts, path) : disk.read(path));
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

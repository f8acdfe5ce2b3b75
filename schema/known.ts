import type { Project } from './model.ts';
import { parseManifest } from './parse/manifest.ts';
import type { Known, ProjectInput, ProjectReading } from './reading.ts';
import type { SourceText } from './source.ts';

/**
 * Knows nothing yet. The same one is given to every reading of a project: what did not change is
 * not worked out again.
 *
 * @example
 * const known = createKnown();
 * readProject({ schema, manifest, known });
 */
export function createKnown(): Known {
  return { last: null, pieces: new Map(), manifest: null, project: null };
}

/**
 * The reading of texts that are those of the last time is the last one: most saves are of neither
 * input.
 */
export function readOnce(
  known: Known,
  given: Omit<ProjectInput, 'known'>,
  read: () => ProjectReading,
): ProjectReading {
  if (known.last && isSame(known.last.given, given)) return known.last.reading;
  known.last = { given, reading: read() };
  return known.last.reading;
}

/** What the manifest says: read again if its text is another one. */
export function readManifest(
  known: Known,
  source: SourceText | null,
): ReturnType<typeof parseManifest> {
  const before = known.manifest;
  if (before && isSame(before.source, source)) return before.reading;
  known.manifest = { source, reading: parseManifest(source) };
  return known.manifest.reading;
}

/**
 * The model, in which every part that did not change is the same object as in the last one:
 * whatever is remembered of it is still good. What is compared is data, so that nothing but its
 * text can tell the two apart.
 */
export function keepProject(known: Known, project: Project): Project {
  const before = known.project;
  known.project = before ? withPartsOf(before, project) : project;
  return known.project;
}

function withPartsOf(before: Project, project: Project): Project {
  const parts = Object.entries(project).map(([key, part]: [string, unknown]) => [
    key,
    kept(before[key as keyof Project], part),
  ]);
  return Object.fromEntries(parts) as unknown as Project;
}

/** Lists keep what they can, by name; everything else is kept as a whole. */
function kept(before: unknown, now: unknown): unknown {
  if (!Array.isArray(before) || !Array.isArray(now)) return isSame(before, now) ? before : now;
  const named = new Map(before.map((item) => [nameOf(item), item as unknown]));
  const items = now.map((item) => {
    const known = named.get(nameOf(item));
    return known !== undefined && isSame(known, item) ? known : (item as unknown);
  });
  return items.length === before.length && items.every((item, at) => item === before[at])
    ? before
    : items;
}

/** What the parts of a list go by; two of one name only make a part be taken for new. */
function nameOf(item: unknown): string | undefined {
  const { id, name } = item as { readonly id?: string; readonly name?: string };
  return id ?? name;
}

/**
 * Whether two pieces of data are the same, the order of members included: templates may print it.
 */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  return Array.isArray(a)
    ? Array.isArray(b) && isSameList(a, b)
    : !Array.isArray(b) && isSameRecord(a as Data, b as Data);
}

type Data = Readonly<Record<string, unknown>>;

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, at) => isSame(item, b[at]));
}

/** A loop over `in` takes a third of the time of one over keys. */
function isSameRecord(a: Data, b: Data): boolean {
  const keys = Object.keys(b);
  let at = 0;
  for (const key in a) if (keys[at++] !== key || !isSame(a[key], b[key])) return false;
  return at === keys.length;
}

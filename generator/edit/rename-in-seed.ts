import { isMap, isScalar, isSeq, type Pair, parseDocument, type YAMLMap } from 'yaml';
import type { Rename } from './rename-in-schema.ts';

/**
 * The text of a seed file, YAML or JSON, after a rename of the keys that name the type, or the
 * field in rows of the type. Everything else stays. A file that cannot be read is returned
 * unchanged: `seed` reports its mistakes.
 *
 * @example
 * renameInSeed('Post:\n  - { title: x }\n', { kind: 'field', type: 'Post', from: 'title', to: 'name' })
 */
export function renameInSeed(text: string, rename: Rename): string {
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0 || !isMap(document.contents)) return text;
  const pairs =
    rename.kind === 'type'
      ? pairsNamed(document.contents, rename.from)
      : rowsOf(document.contents, rename.type).flatMap((row) => pairsNamed(row, rename.from));
  return pairs.reduceRight((done, pair) => renamed(done, pair, rename.to), text);
}

function pairsNamed(map: YAMLMap, name: string): Pair[] {
  return map.items.filter(({ key }) => isScalar(key) && key.value === name);
}

/** The rows of a type: a list, or a map with keys that the user chose. */
function rowsOf(types: YAMLMap, type: string): YAMLMap[] {
  return pairsNamed(types, type).flatMap(({ value }) => {
    const rows = isSeq(value)
      ? value.items
      : isMap(value)
        ? value.items.map((row) => row.value)
        : [];
    return rows.filter((row) => isMap(row));
  });
}

function renamed(text: string, { key }: Pair, to: string): string {
  if (!isScalar(key) || !key.range) return text;
  const [start, end] = key.range;
  const quote = /^["']/.exec(text.slice(start, end))?.[0] ?? '';
  return text.slice(0, start) + quote + to + quote + text.slice(end);
}

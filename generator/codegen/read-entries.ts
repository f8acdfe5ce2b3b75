import type { SourceText } from '@twofold/schema';
import type { CodegenEntry, PluginUse } from './entry.ts';

/**
 * The entries of `codegen:`, each with its line. Empty without the section, and where the manifest
 * is reported as wrong.
 */
export async function readEntries(manifest: SourceText | null): Promise<readonly CodegenEntry[]> {
  if (!manifest || !/^codegen\b/m.test(manifest.text)) return [];
  if (last.text !== manifest.text)
    last = { text: manifest.text, entries: await entriesIn(manifest) };
  return last.entries;
}

/**
 * The entries of the manifest that was read last, because most saves do not change the manifest.
 */
let last: { readonly text: string; readonly entries: readonly CodegenEntry[] } = {
  text: '',
  entries: [],
};

async function entriesIn(manifest: SourceText): Promise<CodegenEntry[]> {
  const { isMap, isScalar, LineCounter, parseDocument } = await import('yaml');
  const lines = new LineCounter();
  const document = parseDocument(manifest.text, { lineCounter: lines });
  const section = document.get('codegen');
  if (document.errors.length > 0 || !isMap(section)) return [];
  return section.items.flatMap(({ key, value }) => {
    if (!isScalar(key) || !isMap(value) || !key.range) return [];
    const { line, col } = lines.linePos(key.range[0]);
    const at = { line, column: col, length: key.range[1] - key.range[0] };
    return [{ ...entryOf(String(key.value), value.toJSON() as Written), at }];
  });
}

interface Written {
  readonly plugins?: readonly (string | Readonly<Record<string, unknown>>)[];
  readonly preset?: string;
  readonly presetConfig?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
  readonly documents?: string | readonly string[];
}

function entryOf(
  path: string,
  { plugins, preset, presetConfig = {}, config = {}, documents }: Written,
): Omit<CodegenEntry, 'at'> {
  return {
    path,
    plugins: (plugins ?? []).flatMap(usesOf),
    ...(preset !== undefined && { preset }),
    presetConfig,
    config,
    ...(documents !== undefined && { documents: [documents].flat() }),
  };
}

/** A name, or names with their configurations. */
const usesOf = (use: string | Readonly<Record<string, unknown>>): PluginUse[] =>
  typeof use === 'string'
    ? [{ name: use, config: {} }]
    : Object.entries(use).map(([name, config]) => ({ name, config: config ?? {} }));

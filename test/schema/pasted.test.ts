import { describe, expect, it } from 'vitest';
import { type Diagnostic, nearest } from '@twofold/schema';
import { parse, stringify } from 'yaml';
import { applied } from './applied-fix.ts';
import { CASES } from './findings/index.ts';
import { read } from './reading.ts';

interface Inputs {
  readonly sdl: string;
  readonly manifest: string | null;
}

/** The inputs after the fix was pasted as it stands; null for a fix that is a sentence. */
function pasted(
  { sdl, manifest }: Inputs,
  { at, summary, fix = '', fixes = [] }: Diagnostic,
): Inputs | null {
  if (fixes[0]) return { sdl: applied(sdl, fixes[0]), manifest };
  const section = /^in manifest\.yaml: (.+)$/.exec(fix)?.[1];
  if (section !== undefined)
    return { sdl, manifest: stringify(merged(parse(manifest ?? 'name: x'), parse(section))) };
  const spot = inPlace({ sdl, manifest }, at, fix);
  if (spot) return spot;
  const near = /^[Dd]id you mean ([^\s?]+)\?$/.exec(fix)?.[1];
  if (near === undefined) return null;
  const name = near.replaceAll(/["@]/g, '');
  const inManifest = at.file === 'manifest.yaml';
  const lines = (inManifest ? (manifest ?? '') : sdl).split('\n');
  const line = lines[at.line - 1]!;
  // A finding about a word inside a directive marks the whole directive, and says the word.
  const marked = line.slice(at.column - 1, at.column - 1 + at.length);
  const word = nearest(name, wordsOf(marked, summary)) ?? nearest(name, wordsOf(line, summary));
  if (word === undefined) return null;
  const from = line.indexOf(word, marked.includes(word) ? at.column - 1 : 0);
  lines[at.line - 1] = line.slice(0, from) + name + line.slice(from + word.length);
  const text = lines.join('\n');
  return inManifest ? { sdl, manifest: text } : { sdl: text, manifest };
}

/** A section of the manifest with another one laid over it. */
function merged(a: any, b: any): any {
  if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b];
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return b ?? a;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return Object.fromEntries(
    [...keys].map((name) => [
      name,
      name in a && name in b ? merged(a[name], b[name]) : (b[name] ?? a[name]),
    ]),
  );
}

/** A directive, or a value or `key: value` of the manifest, that goes where the finding stands. */
function inPlace({ sdl, manifest }: Inputs, at: Diagnostic['at'], fix: string): Inputs | null {
  const inManifest = at.file === 'manifest.yaml';
  const lines = (inManifest ? (manifest ?? '') : sdl).split('\n');
  const line = lines[at.line - 1] ?? '';
  const [start, end] = [at.column - 1, at.column - 1 + at.length];
  const [, key] = /^(\w+): ("[^"]*"|[\w/]+|\[[^\]]*\])$/.exec(fix) ?? [];
  const written = /^write ([a-z]\w*)$/.exec(fix)?.[1];
  const isValue = /^(?:\d[\w./-]*|https:\/\/[\w.]+|[\w-]+[.:][\w./-]+|auto)$/.test(fix);
  const paste = (from: number, to: number, text: string) => {
    lines[at.line - 1] = line.slice(0, from) + text + line.slice(to);
    const whole = lines.join('\n');
    return inManifest ? { sdl, manifest: whole } : { sdl: whole, manifest };
  };
  if (written !== undefined) return paste(start, end, written);
  const member = /^(\w+): [\w[\]!]+(?: @\w+)*$/.exec(fix)?.[1];
  if (!inManifest && member !== undefined) {
    const old = new RegExp(`\\b${member}: ?[\\w[\\]!]+`, 'd').exec(line);
    const open = line.indexOf('{', start) + 1;
    return old ? paste(...old.indices![0]!, fix) : paste(open, open, ` ${fix}`);
  }
  if (!inManifest && fix.startsWith('type Query {')) return { sdl: fix, manifest };
  if (!inManifest)
    return /^@auth\([^…]*\)$/.test(fix) && line.slice(start).startsWith('@auth(')
      ? paste(start, end, fix)
      : null;
  if (isValue) {
    if (line[end] !== ':') return paste(start, end, fix);
    // The key is marked: its list has the value instead.
    const list = /^: (\[[^\]]*\])/d.exec(line.slice(end))?.indices![1];
    return list ? paste(end + list[0], end + list[1], fix === 'auto' ? fix : `[${fix}]`) : null;
  }
  const old =
    key === undefined
      ? null
      : new RegExp(`\\b${key}: ?("[^"]*"|\\[[^\\]]*\\]|[^,}\\s]+)`, 'd').exec(line);
  if (old) return paste(...old.indices![0]!, fix);
  // A key that is missing beside the marked value.
  const beside = /[{,] ?(\w+): ?$/d.exec(line.slice(0, start))?.indices![1]![0];
  return key && beside !== undefined ? paste(beside, beside, `${fix}, `) : null;
}

/** The words of a text that a summary has too. */
const wordsOf = (text: string, summary: string): string[] => {
  const said = new Set(summary.match(/\w+/g));
  return (text.match(/\w+/g) ?? []).filter((word) => said.has(word));
};

const key = ({ code, summary }: Diagnostic) => `${code} ${summary}`;
const table = CASES.flatMap(({ code, sdl, manifest = null }) => {
  const all = read(sdl, manifest).diagnostics;
  const finding = all.find((each) => each.code === code);
  return finding?.fix ? [{ code, sdl, manifest, finding, all }] : [];
});

/** Codes whose fix no program can paste: what to decide, or what to write where. */
const IN_WORDS = [
  'AUTH_CREDENTIAL_FIELD',
  'AUTH_REGISTER_FIELD_UNKNOWN',
  'AUTH_REGISTER_PRIVILEGE',
  'AUTH_RULE_AMBIGUOUS',
  'COLUMN_TYPE_UNFIT',
  'CONSOLE_ROLES_WITHOUT_AUTH',
  'CONSTRAINT_INVALID',
  'INPUT_UNUSED',
  'MANIFEST_KEY_DUPLICATE',
  'MANIFEST_KEY_MISSING',
  'MANIFEST_SECRET',
  'MANIFEST_SHAPE',
  'MANIFEST_SYNTAX',
  'MCP_DOCUMENTS_MISSING',
  'MODELS_ALIAS_LOOP',
  'OAUTH_PROVIDER',
  'RELATION_INVERSE_MISMATCH',
  'RENAMED_FROM_PRESENT',
  'SCALAR_UNMAPPED',
  'SDL_EXECUTABLE',
  'SDL_INVALID',
  'SDL_SYNTAX',
  'SEARCH_FIELD_GUARDED',
  'SUNSET_INVALID',
  'VIEW_WRITTEN',
];

describe('a fix that is text', () => {
  const texts = table.flatMap((row) => {
    const after = pasted(row, row.finding);
    return after ? [{ ...row, after }] : [];
  });
  it.each(texts)(
    'of $code, pasted, ends its finding and brings no other: $sdl $manifest',
    ({ finding, all, after }) => {
      const left = read(after.sdl, after.manifest).diagnostics;
      const keys = left.map(key);
      expect(keys).not.toContain(key(finding));
      const known = new Set(all.map(({ code }) => code));
      expect(
        left.filter(({ code, severity }) => severity === 'error' && !known.has(code)).map(key),
      ).toEqual([]);
      if (!all.some(({ at }) => at.file !== finding.at.file))
        expect(
          left
            .filter(
              ({ code, at }) =>
                code === finding.code &&
                at.line === finding.at.line &&
                at.column === finding.at.column,
            )
            .map(key),
        ).toEqual([]);
    },
  );

  it('is what each finding with a fix has, but for those whose fix is a decision in words', () => {
    const codes = new Set(texts.map(({ code }) => code));
    const words = table.map(({ code }) => code).filter((code) => !codes.has(code));
    expect([...new Set(words)].sort()).toEqual(IN_WORDS);
  });
});

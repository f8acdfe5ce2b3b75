import type * as Yaml from 'yaml';
import { positionAt, type Diagnostic, type Position, type SourceText } from '../diagnostic.ts';
import { loadYaml } from './load-yaml.ts';

/** A path in the manifest: `['auth', 'jwt', 'ttl']`. */
export type ManifestPath = readonly (string | number)[];

/** The text as plain values, and the position of each. */
export interface YamlText {
  readonly value: unknown;
  readonly diagnostics: readonly Diagnostic[];
  readonly at: PlaceOf;
}

/** The position of the value at a path, or of its key; of the nearest parent if it is absent. */
export type PlaceOf = (path: ManifestPath, part?: 'key' | 'value') => Position;

/** Deeper than any real manifest; the parser below recurses for each level. */
const DEEPEST = 60;
const MOST_CHARACTERS = 1_000_000;
const MOST_ALIASES = 50;

/**
 * Reads YAML and never throws: errors become findings.
 *
 * @example
 * parseYaml({ file: 'manifest.yaml', text: 'name: shop' }).value // { name: 'shop' }
 */
export function parseYaml(source: SourceText): YamlText {
  const refusal = refuse(source);
  if (refusal) return { value: null, diagnostics: [refusal], at: () => refusal.at };
  const yaml = loadYaml();
  const document = yaml.parseDocument(source.text, {
    prettyErrors: false,
    uniqueKeys: true,
    strict: true,
    stringKeys: true,
  });
  const diagnostics = [...document.errors, ...document.warnings].map((error) =>
    syntaxFinding(source, error),
  );
  const at: PlaceOf = (path, part = 'value') => positionOf(yaml, source, document, path, part);
  if (diagnostics.length > 0) return { value: null, diagnostics, at };
  try {
    return { value: document.toJS({ maxAliasCount: MOST_ALIASES }), diagnostics, at };
  } catch {
    return {
      value: null,
      diagnostics: [
        finding(
          'MANIFEST_SYNTAX',
          'The aliases repeat too much',
          positionAt(source, 0),
          'write the values out',
        ),
      ],
      at,
    };
  }
}

function refuse(source: SourceText): Diagnostic | undefined {
  const { text } = source;
  if (text.length > MOST_CHARACTERS)
    return finding(
      'MANIFEST_SYNTAX',
      'The manifest is longer than a million characters',
      positionAt(source, 0),
      'is it the right file?',
    );
  const deep = tooDeepAt(text);
  return deep < 0
    ? undefined
    : finding(
        'MANIFEST_SYNTAX',
        `More than ${DEEPEST} levels are open at once`,
        positionAt(source, deep),
        'close the brackets before this one',
      );
}

/**
 * Brackets, `- - -` and indentation all nest. Brackets in quoted text are counted too, because a
 * manifest never needs so many.
 */
function tooDeepAt(text: string): number {
  let depth = 0;
  for (const match of text.matchAll(/[[{]|[\]}]|^[^\S\n]*(?:[-?:][^\S\n]+)+|^ +/gm)) {
    const [token] = match;
    if (token === '[' || token === '{') depth++;
    else if (token === ']' || token === '}') depth = Math.max(0, depth - 1);
    else if (token.length > DEEPEST * 2) return match.index;
    if (depth > DEEPEST) return match.index;
  }
  return -1;
}

/** Fixes for the parser's errors, by its codes. */
const FIXES: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'keep one of the two',
  TAB_AS_INDENT: 'indent with spaces',
  BAD_INDENT: 'indent with two spaces for each level',
  MULTIPLE_DOCS: 'remove the line ---',
  MISSING_CHAR: 'close the bracket or the quote',
};

function syntaxFinding(source: SourceText, error: Yaml.YAMLError): Diagnostic {
  const [start, end] = error.pos;
  const summary =
    error.code === 'DUPLICATE_KEY'
      ? `The key ${word(source.text, start)} stands twice`
      : error.message.replace(/\.$/, '');
  const line = /[\r\n]/.exec(source.text.slice(start, end))?.index ?? end - start;
  return finding(
    error.code === 'DUPLICATE_KEY' ? 'MANIFEST_KEY_DUPLICATE' : 'MANIFEST_SYNTAX',
    summary,
    positionAt(source, start, line),
    FIXES[error.code] ?? 'the mistake is here or just before',
  );
}

function word(text: string, start: number): string {
  return /^[^\s:]+/.exec(text.slice(start, start + 100))?.[0] ?? '';
}

function positionOf(
  yaml: typeof Yaml,
  source: SourceText,
  document: Yaml.Document,
  path: ManifestPath,
  part: 'key' | 'value',
): Position {
  let node: unknown = document.contents;
  const [top = 0] = rangeOf(node) ?? [];
  let best: readonly number[] = [top, top];
  for (const [depth, segment] of path.entries()) {
    if (yaml.isAlias(node)) node = node.resolve(document);
    const pair = pairAt(yaml, node, segment);
    const next = pair ? pair.value : yaml.isSeq(node) ? node.items[Number(segment)] : undefined;
    const ofKey = part === 'key' || depth < path.length - 1 || !isNode(next);
    const wanted = pair && (ofKey || yaml.isCollection(next)) ? pair.key : next;
    best = rangeOf(wanted) ?? best;
    if (!isNode(next)) break;
    node = next;
  }
  const [start = 0, end = start + 1] = best;
  const length = /[\r\n]/.exec(source.text.slice(start, end))?.index ?? end - start;
  return positionAt(source, start, length);
}

function pairAt(yaml: typeof Yaml, node: unknown, segment: ManifestPath[number]) {
  if (!yaml.isMap(node)) return undefined;
  const nameOf = (key: unknown) => String(yaml.isScalar(key) ? key.value : key);
  return node.items.find(({ key }) => nameOf(key) === String(segment));
}

const rangeOf = (node: unknown): readonly number[] | undefined =>
  (isNode(node) && node.range) || undefined;

function isNode(node: unknown): node is Yaml.Node {
  return typeof node === 'object' && node !== null && 'range' in node;
}

function finding(code: string, summary: string, at: Position, fix?: string): Diagnostic {
  return { code, severity: 'error', summary, ...(fix && { fix }), at };
}

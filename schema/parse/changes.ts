import { Kind, type ASTNode, type ConstDirectiveNode, type Location } from 'graphql';
import type { Edit, SourceText } from '../diagnostic.ts';

/**
 * One change of the schema's text, expressed by its nodes. Their positions are looked up after all
 * rules have run.
 */
export type Change =
  /**
   * Adds a directive to a field or type, or sets these arguments of an existing one. Values are
   * GraphQL literals.
   */
  | {
      readonly kind: 'directive';
      readonly on: ASTNode;
      readonly name: string;
      readonly args: Readonly<Record<string, string>>;
      /** Adds the directive even if the field has it already. */
      readonly repeated?: boolean;
    }
  /**
   * Replaces a node by a text: a type, a name or a value. `within`: the node that the finding
   * shows.
   */
  | {
      readonly kind: 'replace';
      readonly node: ASTNode;
      readonly text: string;
      readonly within?: ASTNode;
    }
  /**
   * Removes a directive, one of its arguments or a field, with the space and the comma beside it.
   */
  | { readonly kind: 'remove'; readonly node: ASTNode; readonly within?: ASTNode }
  /** Adds a field to a type, as the first or the last one. */
  | {
      readonly kind: 'member';
      readonly of: ASTNode;
      readonly text: string;
      readonly first?: boolean;
    }
  /** Adds a definition at the end of the file that contains a node. */
  | { readonly kind: 'definition'; readonly beside: ASTNode; readonly text: string };

/** A fix as a rule describes it. */
export interface ProposedFix {
  readonly title?: string;
  readonly changes: readonly Change[];
}

/** A node with its position, and the offset in the file of the text that it was parsed from. */
export interface Located {
  readonly node: ASTNode;
  readonly source: SourceText;
  readonly start: number;
}

/** The nodes whose positions a change needs. */
export function nodesOfChange(change: Change): ASTNode[] {
  switch (change.kind) {
    case 'directive':
      return [change.on];
    case 'replace':
    case 'remove':
      return change.within ? [change.node, change.within] : [change.node];
    case 'member':
      return [change.of];
    case 'definition':
      return [change.beside];
  }
}

/** A change as edits, and as the resulting lines. */
export interface WrittenChange {
  readonly edits: readonly Edit[];
  readonly text: string;
}

/** An argument and its value. */
type Setting = readonly [name: string, value: string];
type Span = readonly [start: number, end: number];

/** Turns a change into edits; undefined if one of its nodes is in no file. */
export function writeChange(
  change: Change,
  located: ReadonlyMap<ASTNode, Located>,
): WrittenChange | undefined {
  const [node, around = node] = nodesOfChange(change).map((each) => located.get(each));
  if (!node || !around) return undefined;
  const edits = editsOf(change, node);
  const { source } = node;
  if (change.kind === 'member' || change.kind === 'definition') return { edits, text: change.text };
  const isWholeLine = change.kind === 'remove' && !change.within;
  const shown = isWholeLine ? lineSpan(source.text, edits) : headOf(around);
  return { edits, text: excerpt(source.text, shown, edits) };
}

function editsOf(change: Change, at: Located): Edit[] {
  switch (change.kind) {
    case 'directive':
      return directiveEdits(change, Object.entries(change.args), at);
    case 'replace':
      return [edit(at, spanOf(at), change.text)];
    case 'remove':
      return [removal(at)];
    case 'member':
      return [member(change.text, change.first ?? false, at)];
    case 'definition':
      return [definition(change.text, at)];
  }
}

function directiveEdits(
  { name, repeated }: Extract<Change, { kind: 'directive' }>,
  args: readonly Setting[],
  at: Located,
): Edit[] {
  const { directives = [] } = at.node as { directives?: readonly ConstDirectiveNode[] };
  const present = repeated
    ? undefined
    : directives.find((directive) => directive.name.value === name);
  const list = (some: typeof args) => some.map(([arg, value]) => `${arg}: ${value}`).join(', ');
  if (present) return argumentEdits(present, args, list, at);
  const end = headOf(at)[1];
  return [edit(at, [end, end], ` @${name}${args.length > 0 ? `(${list(args)})` : ''}`)];
}

/** Values of existing arguments are replaced; other arguments are added after the last one. */
function argumentEdits(
  directive: ConstDirectiveNode,
  args: readonly Setting[],
  list: (some: readonly Setting[]) => string,
  at: Located,
): Edit[] {
  const { arguments: given = [] } = directive;
  const present = (name: string) => given.find((argument) => argument.name.value === name);
  const edits = args.flatMap(([name, value]) => {
    const argument = present(name);
    return argument ? [edit(at, placed(at, argument.value.loc), value)] : [];
  });
  const missing = args.filter(([name]) => !present(name));
  if (missing.length === 0) return edits;
  const [, end] = placed(at, (given.at(-1) ?? directive.name).loc);
  const text = given.length > 0 ? `, ${list(missing)}` : `(${list(missing)})`;
  return [...edits, edit(at, [end, end], text)];
}

function removal(at: Located): Edit {
  const [start, end] = spanOf(at);
  const { text } = at.source;
  const isArgument = at.node.kind === Kind.ARGUMENT;
  const before = (isArgument ? /,?[ \t]*$/ : /[ \t]*$/).exec(
    text.slice(Math.max(0, start - 80), start),
  );
  const from = start - (before?.[0].length ?? 0);
  const isFirst = isArgument && !before?.[0].includes(',');
  if (isMember(at.node) && /(?:^|\n)$/.test(text.slice(0, from)))
    return edit(at, [from, end + lengthOf(/^[ \t]*\r?\n/, text.slice(end, end + 80))], '');
  const behind = isFirst ? lengthOf(/^[ \t]*,?[ \t]*/, text.slice(end, end + 80)) : 0;
  return edit(at, [from, end + behind], '');
}

/**
 * Whether a node is a field or an argument, which may be on a line of its own: then the whole line
 * is removed.
 */
const isMember = ({ kind }: ASTNode) =>
  kind === Kind.FIELD_DEFINITION || kind === Kind.INPUT_VALUE_DEFINITION;

const lengthOf = (pattern: RegExp, text: string) => pattern.exec(text)?.[0].length ?? 0;

/**
 * Inserts on a line of its own with the indent of its neighbour, or beside it if everything is on
 * one line.
 */
function member(text: string, first: boolean, at: Located): Edit {
  const { fields = [] } = at.node as { fields?: readonly ASTNode[] };
  const neighbour = first ? fields[0] : fields.at(-1);
  const whole = placed(at, neighbour?.loc);
  const from = at.source.text.lastIndexOf('\n', whole[0] - 1) + 1;
  const indent = at.source.text.slice(from, whole[0]);
  const gap = indent.trim() === '' ? `${lineEnd(at.source)}${indent}` : ' ';
  const spot = first ? whole[0] : whole[1];
  return edit(at, [spot, spot], first ? `${text}${gap}` : `${gap}${text}`);
}

function definition(text: string, at: Located): Edit {
  const { text: all } = at.source;
  const newline = lineEnd(at.source);
  const gap = all.endsWith('\n') ? newline : newline + newline;
  return edit(at, [all.length, all.length], `${gap}${text}${newline}`);
}

const lineEnd = ({ text }: SourceText): string => (text.includes('\r\n') ? '\r\n' : '\n');

function edit({ source }: Located, [start, end]: Span, text: string): Edit {
  return { file: source.file, start, end, text };
}

function placed({ start }: Located, loc: Location | undefined): Span {
  return [start + (loc?.start ?? 0), start + (loc?.end ?? 0)];
}

const spanOf = (at: Located): Span => placed(at, at.node.loc);

/** A definition without its description and its body in braces; any other node as a whole. */
function headOf(at: Located): Span {
  const { node } = at;
  const parts = node as {
    description?: ASTNode;
    name?: ASTNode;
    interfaces?: readonly ASTNode[];
    directives?: readonly ASTNode[];
  };
  const [whole, end] = spanOf(at);
  const described = parts.description?.loc ? placed(at, parts.description.loc)[1] : undefined;
  const start =
    described === undefined
      ? whole
      : whole + tokenAfter(at.source.text.slice(whole), described - whole);
  if (!BRACED.has(node.kind)) return [start, end];
  const last = [parts.name, ...(parts.interfaces ?? []), ...(parts.directives ?? [])];
  return [start, Math.max(...last.map((part) => placed(at, part?.loc)[1]))];
}

const BRACED: ReadonlySet<string> = new Set([
  Kind.OBJECT_TYPE_DEFINITION,
  Kind.OBJECT_TYPE_EXTENSION,
  Kind.INTERFACE_TYPE_DEFINITION,
  Kind.INPUT_OBJECT_TYPE_DEFINITION,
  Kind.ENUM_TYPE_DEFINITION,
]);

/** The offset of the first token after a description; spaces, commas and comments are skipped. */
function tokenAfter(text: string, offset: number): number {
  const ignored = /^(?:[\s,\uFEFF]|#[^\n\r]*)*/.exec(text.slice(offset));
  return offset + (ignored?.[0].length ?? 0);
}

function lineSpan(text: string, edits: readonly Edit[]): Span {
  const start = Math.min(...edits.map((each) => each.start));
  const end = Math.max(...edits.map((each) => each.end));
  const next = text.indexOf('\n', end);
  return [text.lastIndexOf('\n', start - 1) + 1, next < 0 ? text.length : next];
}

/** The changed lines of the shown range, after the edits. */
function excerpt(text: string, [from, to]: Span, edits: readonly Edit[]): string {
  const [lineStart, lineEnds] = lineSpan(text, edits);
  const [start, end] = [
    Math.max(from, lineStart),
    Math.max(Math.min(to, lineEnds), lastEnd(edits)),
  ];
  const inside = edits.map((each) => ({
    ...each,
    start: each.start - start,
    end: each.end - start,
  }));
  return applyEdits(text.slice(start, end), inside).trim();
}

const lastEnd = (edits: readonly Edit[]): number => Math.max(...edits.map(({ end }) => end));

/**
 * Applies edits to a text. They may be adjacent but must not overlap.
 *
 * @example
 * applyEdits('a: Int', [{ file, start: 6, end: 6, text: '!' }]) // 'a: Int!'
 */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  const ordered = edits.toSorted((a, b) => a.start - b.start || a.end - b.end);
  let done = '';
  let copiedTo = 0;
  for (const { start, end, text: piece } of ordered) {
    done += text.slice(copiedTo, start) + piece;
    copiedTo = end;
  }
  return done + text.slice(copiedTo);
}

import { first, locationOf } from '@twofold/schema';
import type { SourceText } from '@twofold/schema';
import { type ConstDirectiveNode, type DefinitionNode, type Location, print } from 'graphql';
import {
  type Definition,
  type MemberNode,
  membersOf,
  type Placed,
  readDefinitions,
} from './definitions.ts';
import { isUntouched, mergeMember } from './merge-member.ts';

/** The three texts of a merge. */
export interface SchemaMerge {
  /** The schema that the last import wrote. */
  readonly base: string;
  /** The schema that this import would write into an empty project. */
  readonly next: string;
  /** The schema of the project, in all its files. */
  readonly yours: readonly SourceText[];
  /** Which side wins when both changed one part. */
  readonly prefer: 'yours' | 'theirs';
}

export interface MergedSchema {
  readonly files: readonly SourceText[];
  /** Coordinates where both sides changed one part. */
  readonly conflicts: readonly string[];
  /** Coordinates that the database lost and the user has changed, so that they stayed. */
  readonly gone: readonly string[];
}

/** A part of a file that gets another text. */
interface Edit {
  readonly file: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

interface Outcome {
  readonly edits: Edit[];
  readonly conflicts: string[];
  readonly gone: string[];
}

/** The file to which new types are added. */
const MAIN = 'schema.graphql';

/**
 * Merges an import into a schema that was edited since the last one: by table and column, not by
 * line. All that the user renamed, moved, described, added or deleted stays.
 *
 * @example mergeSchema({ base, next, yours: [{ file: 'schema.graphql', text }], prefer: 'yours' })
 */
export function mergeSchema(merge: SchemaMerge): MergedSchema {
  const [base, next] = [merge.base, merge.next].map((text) =>
    readDefinitions([{ file: MAIN, text }]),
  ) as [ReadonlyMap<string, Definition>, ReadonlyMap<string, Definition>];
  const yours = readDefinitions(merge.yours);
  const renamed = new Map(
    [...base].map(([identity, { name }]) => [name, yours.get(identity)?.name ?? name]),
  );
  const outcome: Outcome = { edits: [], conflicts: [], gone: [] };
  const added: string[] = [];
  for (const [identity, after] of next) {
    const [before, own] = [base.get(identity), yours.get(identity)];
    if (before && own)
      mergeDefinition({ before, after, own }, { renamed, prefer: merge.prefer, outcome });
    else if (!before && !own)
      added.push(...after.parts.map(({ node }) => withNames(print(node), renamed)));
  }
  for (const [identity, before] of base) {
    const own = yours.get(identity);
    if (own && !next.has(identity)) removeDefinition(before, own, renamed, outcome);
  }
  return {
    files: withAdded(applyEdits(merge.yours, outcome.edits), added),
    conflicts: outcome.conflicts,
    gone: outcome.gone,
  };
}

interface Sides {
  readonly before: Definition;
  readonly after: Definition;
  readonly own: Definition;
}

interface Merging {
  readonly renamed: ReadonlyMap<string, string>;
  readonly prefer: SchemaMerge['prefer'];
  readonly outcome: Outcome;
}

function mergeDefinition({ before, after, own }: Sides, merging: Merging): void {
  const { renamed, outcome } = merging;
  outcome.edits.push(
    ...directiveEdits({ before, after, own }, rulesStay({ before, after, own }, merging)),
  );
  const added: MemberNode[] = [];
  for (const [identity, { node: next }] of after.members) {
    const [base, mine] = [before.members.get(identity), own.members.get(identity)];
    if (base && mine) changeMember({ base: base.node, next, mine }, own.name, merging);
    else if (!base && !mine) added.push(next);
  }
  for (const [identity, { node: base }] of before.members) {
    const mine = own.members.get(identity);
    if (!mine || after.members.has(identity)) continue;
    if (isUntouched(base, mine.node, renamed)) outcome.edits.push(removal(mine));
    else outcome.gone.push(`${own.name}.${mine.node.name.value}`);
  }
  if (added.length > 0) outcome.edits.push(insertion(own, added, renamed));
}

/**
 * Whether the user's rules of a type are kept. All rules of a type are one part: an imported rule
 * beside a narrower one of the user would open the type again.
 */
function rulesStay({ before, after, own }: Sides, { prefer, outcome }: Merging): boolean {
  const rules = (of: Definition) => directivesOf(of).filter(isRule).map(print).sort().join(' ');
  const [base, next, mine] = [before, after, own].map(rules);
  if (mine === base || next === base || mine === next) return mine !== base;
  outcome.conflicts.push(`${own.name} @auth`);
  return prefer === 'yours';
}

const isRule = ({ name }: ConstDirectiveNode) => name.value === 'auth';

/**
 * Edits for directives of a type that the source added or removed: `@index`, and `@auth` unless the
 * user's rules are kept.
 */
function directiveEdits({ before, after, own }: Sides, staying: boolean): Edit[] {
  const merged = (each: ConstDirectiveNode) => !staying || !isRule(each);
  const base = new Set(directivesOf(before).filter(merged).map(print));
  const next = new Set(directivesOf(after).filter(merged).map(print));
  const mine = own.parts.flatMap(({ node, file }) =>
    typeDirectives(node).map((each) => ({ text: print(each), loc: locationOf(each), file })),
  );
  const gone = mine.filter(({ text }) => base.has(text) && !next.has(text));
  const added = [...next].filter(
    (text) => !base.has(text) && !mine.some((each) => each.text === text),
  );
  const last = mine.at(-1);
  return [
    ...gone.map(({ file, loc }) => replacement(file, loc, '')),
    ...(last && added.length > 0
      ? [{ file: last.file, start: last.loc.end, end: last.loc.end, text: ` ${added.join(' ')}` }]
      : []),
  ];
}

const directivesOf = ({ parts }: Definition) => parts.flatMap(({ node }) => typeDirectives(node));

const typeDirectives = (node: DefinitionNode): readonly ConstDirectiveNode[] =>
  node.kind === 'ObjectTypeDefinition' ? (node.directives ?? []) : [];

function changeMember(
  { base, next, mine }: { base: MemberNode; next: MemberNode; mine: Placed<MemberNode> },
  owner: string,
  { renamed, prefer, outcome }: Merging,
): void {
  const { changes, conflict } = mergeMember(base, next, mine.node, renamed);
  if (changes.size === 0) return;
  if (conflict) outcome.conflicts.push(`${owner}.${mine.node.name.value}`);
  if (conflict && prefer === 'yours') return;
  outcome.edits.push(...partEdits(mine, changes));
}

/** The edits of a member: its type, and directives that changed, came or went. */
function partEdits(
  { node, file }: Placed<MemberNode>,
  changes: ReadonlyMap<string, string | null>,
): Edit[] {
  return [...changes].flatMap(([part, text]) => {
    if (part === 'arguments') return [];
    if (part === 'type')
      return 'type' in node ? [replacement(file, locationOf(node.type), text ?? '')] : [];
    const [known, ...others] =
      node.directives?.filter(({ name }) => `@${name.value}` === part) ?? [];
    if (known)
      return [
        replacement(file, locationOf(known), text ?? ''),
        ...others.map(({ loc }) => replacement(file, loc!, '')),
      ];
    const end = locationOf(node).end;
    return text === null ? [] : [{ file, start: end, end, text: ` ${text}` }];
  });
}

/** When a directive is removed, the blank before it is removed too. */
function replacement(file: string, { start, end, source }: Location, text: string): Edit {
  const blank = text === '' && source.body[start - 1] === ' ' ? 1 : 0;
  return { file, start: start - blank, end, text };
}

function removeDefinition(
  before: Definition,
  own: Definition,
  renamed: ReadonlyMap<string, string>,
  { edits, gone }: Outcome,
): void {
  const isWhole =
    own.parts.length === 1 &&
    own.name === before.name &&
    own.members.size === before.members.size &&
    [...before.members].every(([identity, { node }]) => {
      const mine = own.members.get(identity);
      return mine !== undefined && isUntouched(node, mine.node, renamed);
    });
  if (isWhole) edits.push(removal(first(own.parts)));
  else gone.push(own.name);
}

/** Removes whole lines, with the empty line before a definition. */
function removal({ node, file }: Placed<DefinitionNode | MemberNode>): Edit {
  const { start, end, source } = locationOf(node);
  const text = source.body;
  const lineStart = text.lastIndexOf('\n', start - 1) + 1;
  const from =
    'name' in node && isMember(node) ? lineStart : text.slice(0, lineStart).trimEnd().length;
  const lineEnd = text.indexOf('\n', end);
  const until = lineEnd === -1 ? text.length : lineEnd + (isMember(node) ? 1 : 0);
  return { file, start: from, end: until, text: '' };
}

const isMember = (node: DefinitionNode | MemberNode): node is MemberNode =>
  node.kind === 'FieldDefinition' || node.kind === 'EnumValueDefinition';

/** New members come last in the first part of the definition. */
function insertion(
  own: Definition,
  added: readonly MemberNode[],
  renamed: ReadonlyMap<string, string>,
): Edit {
  const { node, file } =
    own.parts.find((part) => membersOf(part.node).length > 0) ?? first(own.parts);
  const end = locationOf(node).end - 1;
  const lines = added.map(
    (member) => `  ${withNames(print(member), renamed).replaceAll('\n', '\n  ')}\n`,
  );
  return { file, start: end, end, text: lines.join('') };
}

/**
 * Replaces names of types by those that the user gave them. A name with a colon after it is a
 * field, and stays.
 */
const withNames = (text: string, renamed: ReadonlyMap<string, string>) =>
  text.replace(/(?<=: \[?)\w+/g, (name) => renamed.get(name) ?? name);

function applyEdits(files: readonly SourceText[], edits: readonly Edit[]): SourceText[] {
  return files.map(({ file, text }) => ({
    file,
    text: edits
      .filter((edit) => edit.file === file)
      .sort((a, b) => b.start - a.start || b.end - a.end)
      .reduce(
        (all, { start, end, text: part }) => all.slice(0, start) + part + all.slice(end),
        text,
      ),
  }));
}

function withAdded(files: readonly SourceText[], added: readonly string[]): readonly SourceText[] {
  if (added.length === 0) return files;
  const main = files.find(({ file }) => file === MAIN);
  const text = [...(main ? [main.text.trimEnd()] : []), ...added].join('\n\n');
  return [...files.filter((file) => file !== main), { file: MAIN, text: `${text}\n` }];
}

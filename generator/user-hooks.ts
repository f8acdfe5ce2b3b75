import { last, nearest } from '@twofold/schema';
import { basename } from 'node:path';
import type { Diagnostic, Project, SourceText } from '@twofold/schema';

/** The names of lifecycle hooks, in the order in which they run. */
const HOOKS = [
  'resolveInput',
  'validate',
  'beforeOperation',
  'afterOperation',
  'afterCommit',
] as const;

const isHooks = ({ file }: SourceText) => file.startsWith('src/hooks/');

/**
 * The entities with a file of hooks, and whether a hook of theirs completes creates. Read without
 * running the file.
 *
 * @example readUserHooks([{ file: 'src/hooks/Article.ts', text }]) // { Article: { completesCreate: true } }
 */
export function readUserHooks(
  texts: readonly SourceText[],
): Readonly<Record<string, { readonly completesCreate: boolean }>> {
  return Object.fromEntries(
    texts
      .filter(isHooks)
      .map(({ file, text }) => [basename(file, '.ts'), { completesCreate: completesCreate(text) }]),
  );
}

/** Whether `beforeRegister` may set any column of a new user. */
export const completesUser = (texts: readonly SourceText[]): boolean =>
  texts.some(
    ({ file, text }) =>
      file === 'src/auth-hooks.ts' &&
      membersOf(text, 'authHooks')?.some(({ name }) => name === 'beforeRegister'),
  );

function completesCreate(text: string): boolean {
  const hook = membersOf(text)?.find(({ name }) => name === 'resolveInput');
  if (!hook) return false;
  const open = /^\s*:\s*\{/.exec(text.slice(hook.end));
  if (!open) return true;
  const inner = scan(text, hook.end + open[0].length) ?? [];
  return inner.some(({ name }) => name === 'create');
}

/** The hooks that the file of an entity exports. */
export const hookNames = (text: string): string[] =>
  (membersOf(text) ?? []).map(({ name }) => name);

/** HOOKS_ENTITY_UNKNOWN, HOOK_UNKNOWN: files and names that nothing would ever call. */
export function findHookProblems(project: Project, texts: readonly SourceText[]): Diagnostic[] {
  const entities = project.entities.map(({ name }) => name);
  return texts.filter(isHooks).flatMap((source) => {
    const entity = basename(source.file, '.ts');
    return entities.includes(entity)
      ? unknownHooks(source)
      : [unknownEntity(source.file, entity, entities)];
  });
}

function unknownEntity(file: string, entity: string, entities: readonly string[]): Diagnostic {
  const meant = nearest(entity, entities);
  return {
    code: 'HOOKS_ENTITY_UNKNOWN',
    severity: 'error',
    summary: `${file} has hooks for ${entity}, which is no entity of the schema`,
    why: 'the file is named after the entity whose writes it hooks into',
    fix: meant
      ? `Did you mean "${meant}"? Rename the file to src/hooks/${meant}.ts`
      : `rename the file to one of ${entities.join(', ')}, or remove it`,
    at: { file, line: 1, column: 1, length: 1 },
  };
}

function unknownHooks({ file, text }: SourceText): Diagnostic[] {
  const wrong = (membersOf(text) ?? []).filter(
    ({ name }) => !HOOKS.some((known) => known === name),
  );
  return wrong.map(({ name, start }) => {
    const meant = nearest(name, HOOKS);
    const before = text.slice(0, start).split('\n');
    return {
      code: 'HOOK_UNKNOWN',
      severity: 'error',
      summary: `${file}: there is no hook ${name}`,
      why: 'nothing would call it',
      fix: meant ? `Did you mean "${meant}"?` : `one of ${HOOKS.join(', ')}`,
      at: { file, line: before.length, column: last(before).length + 1, length: name.length },
    };
  });
}

interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The members of `export const hooks = { … }`; null when it is no plain object. */
function membersOf(text: string, exported = 'hooks'): Member[] | null {
  const start = new RegExp(String.raw`export\s+const\s+${exported}\b[^=]*=\s*\{`).exec(text);
  return start && scan(text, start.index + start[0].length);
}

const SKIPPED = /^(?:\s+|,|\/\/[^\n]*|\/\*[^]*?\*\/)/;
const NAME = /^(?:async\s+)?['"]?([A-Za-z_$][\w$]*)['"]?/;

/** The members of the object whose brace is open before `at`; null for what cannot be read. */
function scan(text: string, at: number): Member[] | null {
  const members: Member[] = [];
  for (let index = at; index < text.length;) {
    const skipped = SKIPPED.exec(text.slice(index));
    if (skipped) {
      index += skipped[0].length;
      continue;
    }
    if (text[index] === '}') return members;
    const found = NAME.exec(text.slice(index));
    if (!found) return null;
    const end = index + found[0].length;
    members.push({ name: found[1]!, start: end - found[1]!.length, end });
    index = endOfMember(text, end);
  }
  return null;
}

/** The comma or the brace after a member. Text in quotes and comments does not count. */
function endOfMember(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at += 1) {
    const rest = text.slice(at, at + 2);
    if (rest === '//') at = text.indexOf('\n', at);
    else if (rest === '/*') at = text.indexOf('*/', at) + 1;
    else if ('"\'`'.includes(text[at]!)) at = endOfText(text, at);
    else if ('({['.includes(text[at]!)) depth += 1;
    else if (depth === 0 && ',}'.includes(text[at]!)) return at;
    else if (')}]'.includes(text[at]!)) depth -= 1;
    if (at < 0) return text.length;
  }
  return text.length;
}

function endOfText(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === text[start]) return at;
  }
  return text.length;
}

import { last, lookUp, nearest } from '@twofold/schema';
import { basename } from 'node:path';
import type { Diagnostic, Project, SourceText } from '@twofold/schema';
import { rootNames } from '../templates/owned/type-names.ts';

/**
 * Functions of the user for fields that the schema does not have: they are kept, never called, and
 * reported with their place.
 */
export async function findOrphanMembers(
  project: Project,
  resolvers: readonly SourceText[],
): Promise<Diagnostic[]> {
  if (resolvers.length === 0) return [];
  const fields = fieldsByType(project);
  const found: Diagnostic[] = [];
  for (const source of resolvers) {
    const type = basename(source.file, '.ts');
    const known = fields.get(type);
    if (known && mayHold(source.text, known)) found.push(...(await orphansIn(source, type, known)));
  }
  return found;
}

function fieldsByType(project: Project): ReadonlyMap<string, ReadonlySet<string>> {
  const roots = rootNames(project);
  const fields = new Map<string, Set<string>>();
  const add = (type: string, name: string) =>
    void (fields.get(type) ?? lookUp(fields.set(type, new Set()), type)).add(name);
  for (const { name, fields: own } of [...project.entities, ...project.objects])
    for (const field of own) add(name, field.name);
  for (const { root, name } of project.operations) add(roots[root], name);
  return fields;
}

/** A cheap check before parsing: whether a line might begin a member that is not a field. */
function mayHold(text: string, known: ReadonlySet<string>): boolean {
  return [
    ...text.matchAll(
      /^[ \t]*(?:export const resolvers\b.*?\{\s*)?(?:async\s+)?['"]?(\w+)['"]?\s*[(:,}]/gm,
    ),
  ].some(([, name]) => !known.has(name!));
}

async function orphansIn(
  { file, text }: SourceText,
  type: string,
  known: ReadonlySet<string>,
): Promise<Diagnostic[]> {
  const { memberNames, memberRange } = await import('./edit/insert-member.ts');
  const found: Diagnostic[] = [];
  for (const name of (await memberNames(text)) ?? []) {
    if (name === '' || name.startsWith('__') || known.has(name)) continue;
    const range = await memberRange(text, name);
    if (range)
      found.push(
        orphan(
          type,
          name,
          { file, ...placeIn(text, range.start), length: name.length },
          nearest(name, [...known]),
        ),
      );
  }
  return found;
}

function orphan(
  type: string,
  name: string,
  at: Diagnostic['at'],
  near: string | undefined,
): Diagnostic {
  return {
    code: 'RESOLVER_FIELD_ORPHAN',
    severity: 'warning',
    summary: `${type} has no field ${name}: the function is kept, and nothing calls it`,
    why: 'the field was removed or renamed, or the name is not spelled as in the schema',
    fix: near ? `rename it to ${near}, or remove it` : 'remove it, or put the field back',
    at,
  };
}

/** Line and column of a character, from 1. */
export function placeIn(
  text: string,
  offset: number,
): { readonly line: number; readonly column: number } {
  const before = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: before.length, column: last(before).length + 1 };
}

import { failure } from '../errors.ts';

/** A parsed query string; a parameter may occur several times. */
export type QueryString = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The selected fields of an object and of its embedded objects. */
export interface FieldSelection {
  /** Null selects all fields. */
  readonly fields: Set<string> | null;
  readonly include: Map<string, FieldSelection>;
}

type Draft = { fields: Set<string> | null; readonly include: Map<string, Draft> };

/** The most levels of embedding. The cost of a request is limited separately. */
const MAX_LEVELS = 6;

/**
 * Reads `fields` and `include`: names separated by commas; a dot leads into an embedded object.
 *
 * @throws AppError 400 for an invalid name, or one with too many levels.
 * @example readFieldSelection({ fields: 'title,author.name' }) // { fields: {title}, include: { author: { fields: {name}, … } } }
 */
export function readFieldSelection(query: QueryString): FieldSelection {
  const root: Draft = { fields: null, include: new Map() };
  for (const path of pathsOf(query, 'include')) enter(root, path);
  for (const path of pathsOf(query, 'fields')) {
    const at = enter(root, path.slice(0, -1));
    (at.fields ??= new Set()).add(path.at(-1) as string);
  }
  return root;
}

function enter(root: Draft, path: readonly string[]): Draft {
  return path.reduce<Draft>((at, name) => {
    const next = at.include.get(name) ?? { fields: null, include: new Map() };
    at.include.set(name, next);
    return next;
  }, root);
}

function pathsOf(query: QueryString, parameter: string): string[][] {
  const names = namesIn(query[parameter]);
  return names.map((name) => {
    const path = name.split('.');
    if (!/^[_A-Za-z]\w*(\.[_A-Za-z]\w*)*$/.test(name))
      throw failure.badRequest(`${parameter}: ${JSON.stringify(name)} is no name`);
    if (path.length > MAX_LEVELS)
      throw failure.badRequest(`${parameter}: ${name} leads deeper than ${MAX_LEVELS} levels`);
    return path;
  });
}

/** @example namesIn('a, b') // ['a', 'b'] */
function namesIn(given: QueryString[string]): string[] {
  return [given ?? []]
    .flat()
    .flatMap((text) => text.split(','))
    .map((text) => text.trim())
    .filter((text) => text !== '');
}

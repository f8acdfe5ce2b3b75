import { locationOf } from '@twofold/schema';
import { type FieldDefinitionNode, Kind, parse, Source } from 'graphql';
import type { Operation, Project, SourceText } from '@twofold/schema';
import { ejectableNames } from './ejected-sdl.ts';

/** The value of `@resolve(as:)` for an action that is inferred from the name of its field. */
const VERBS: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  create: 'CREATE',
  update: 'UPDATE',
  remove: 'DELETE',
};

/**
 * Operations that were inferred before and would have no implementation in `after`: `createUser` is
 * about `User` by its name. What `api.crud` writes is written for the new name.
 *
 * @example lostOperations(before, after) // [{ root: 'mutation', name: 'createUser', … }]
 */
export function lostOperations(before: Project, after: Project): Operation[] {
  const answered = new Set(after.operations.filter(isInferred).map(coordinateOf));
  const written = new Set(before.crudSdl === undefined ? [] : ejectableNames(before.crudSdl));
  return before.operations.filter(
    (operation) =>
      isInferred(operation) &&
      !answered.has(coordinateOf(operation)) &&
      !written.has(`${rootType(before, operation.root)}.${operation.name}`),
  );
}

const isInferred = ({ action }: Operation) => action.kind !== 'custom';
const coordinateOf = ({ root, name }: Operation) => `${root}.${name}`;

/**
 * Adds `@resolve` to operations whose behaviour can no longer be inferred from their name. `entity`
 * is the type they are about.
 */
export function withResolve(
  sources: readonly SourceText[],
  operations: readonly Operation[],
  { entity, project }: { readonly entity: string; readonly project: Project },
): SourceText[] {
  const verbs = new Map(
    operations
      .filter(({ root, action }) => root !== 'subscription' && action.kind in VERBS)
      .map(({ root, name, action }) => [`${rootType(project, root)}.${name}`, VERBS[action.kind]!]),
  );
  return sources.map(({ file, text }) => ({
    file,
    text: insertions(new Source(text, file), verbs, entity).reduceRight(
      (done, { at, text: added }) => done.slice(0, at) + added + done.slice(at),
      text,
    ),
  }));
}

/** The schema's name for a root type. */
function rootType({ sdl }: Project, root: Operation['root']): string {
  const named = new RegExp(`^schema\\b[^}]*\\b${root}:\\s*(\\w+)`, 'm').exec(sdl)?.[1];
  return named ?? (root === 'query' ? 'Query' : 'Mutation');
}

interface TextAt {
  readonly at: number;
  readonly text: string;
}

/** @param verbs by the coordinate of a root field: `Mutation.createUser`. */
function insertions(source: Source, verbs: ReadonlyMap<string, string>, entity: string): TextAt[] {
  const fields = parse(source).definitions.flatMap((definition) =>
    definition.kind === Kind.OBJECT_TYPE_DEFINITION ||
    definition.kind === Kind.OBJECT_TYPE_EXTENSION
      ? (definition.fields ?? []).map((field) => ({ field, type: definition.name.value }))
      : [],
  );
  return fields.flatMap(({ field, type }) => {
    const verb = verbs.get(`${type}.${field.name.value}`);
    if (verb === undefined) return [];
    const needsType = !['GET', 'LIST'].includes(verb) && !isNamedBy(field, entity);
    const words = needsType ? `as: ${verb}, of: "${entity}"` : `as: ${verb}`;
    return [{ at: locationOf(field).end, text: ` @resolve(${words})` }];
  });
}

/** Whether the type of a field shows which entity it is about. */
function isNamedBy({ type }: FieldDefinitionNode, entity: string): boolean {
  const inner = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
  return inner.kind === Kind.NAMED_TYPE && inner.name.value === entity;
}

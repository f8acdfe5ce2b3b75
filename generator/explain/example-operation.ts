import { last } from '@twofold/schema';
import type { ListOptions, Operation, Project } from '@twofold/schema';
import {
  buildSchema,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isObjectType,
} from 'graphql';
import { rootNames } from '../../templates/owned/type-names.ts';
import { exampleArguments } from './example-arguments.ts';

/** One field on the path from a root type. */
interface PathStep {
  readonly owner: string;
  readonly field: GraphQLField<unknown, unknown>;
}

interface ExampleContext {
  readonly project: Project;
  readonly schema: GraphQLSchema;
  readonly operations: ReadonlyMap<string, Operation>;
  /** Whether a function of the user answers the field. */
  readonly isOwn: (coordinate: string) => boolean;
}

/**
 * The shortest operation that selects a field, with invented values for its arguments. The path
 * avoids fields that functions of the user answer.
 *
 * @returns a function from a coordinate to its operation; null if no path leads to it, or if it is
 * in a subscription.
 * @example exampleOperations(project, () => false)('Post.title') // '{ post(id: "1") { title } }'
 */
export function exampleOperations(
  project: Project,
  isOwn: (coordinate: string) => boolean,
): (coordinate: string) => string | null {
  const schema = buildSchema(project.sdl, { assumeValidSDL: true });
  const names = rootNames(project);
  const operations = new Map(
    project.operations.map((operation) => [
      `${names[operation.root]}.${operation.name}`,
      operation,
    ]),
  );
  const context: ExampleContext = { project, schema, operations, isOwn };
  const paths = shortestPaths(context);
  return (coordinate) => {
    const [owner = '', name = ''] = coordinate.split('.');
    const type = schema.getType(owner);
    const field = isObjectType(type) ? type.getFields()[name] : undefined;
    const path = field && paths.get(owner);
    if (!field || !path || isOwnRoot(context, owner, coordinate)) return null;
    return printOperation(context, [...path, { owner, field }]);
  };
}

/**
 * It is not known which statements a user's function for a root field makes; below the root, a row
 * is read before the function is called.
 */
const isOwnRoot = ({ operations, isOwn }: ExampleContext, _owner: string, coordinate: string) => {
  const operation = operations.get(coordinate);
  return (
    operation !== undefined &&
    (isOwn(coordinate) || ['custom', 'subscribe'].includes(operation.action.kind))
  );
};

/**
 * The shortest path to each type: through queries, or through mutations if no query leads there.
 */
function shortestPaths(context: ExampleContext): ReadonlyMap<string, readonly PathStep[]> {
  const paths = new Map<string, readonly PathStep[]>();
  for (const root of [context.schema.getQueryType(), context.schema.getMutationType()]) {
    if (!root) continue;
    paths.set(root.name, []);
    const waiting: GraphQLObjectType[] = [root];
    for (const type of waiting) waiting.push(...newlyReached(context, type, paths));
  }
  return paths;
}

/** Types that the fields of `type` reach and that were not reached before. */
function newlyReached(
  context: ExampleContext,
  type: GraphQLObjectType,
  paths: Map<string, readonly PathStep[]>,
): GraphQLObjectType[] {
  const found: GraphQLObjectType[] = [];
  for (const field of Object.values(type.getFields())) {
    if (isAnsweredByCode(context, type.name, field.name)) continue;
    for (const next of objectsOf(context.schema, getNamedType(field.type))) {
      if (paths.has(next.name)) continue;
      paths.set(next.name, [...(paths.get(type.name) ?? []), { owner: type.name, field }]);
      found.push(next);
    }
  }
  return found;
}

function isAnsweredByCode(
  { project, operations, isOwn }: ExampleContext,
  type: string,
  name: string,
): boolean {
  const coordinate = `${type}.${name}`;
  if (isOwn(coordinate) || operations.get(coordinate)?.action.kind === 'custom') return true;
  return (
    project.entities
      .find((entity) => entity.name === type)
      ?.fields.find((field) => field.name === name)?.source.kind === 'custom'
  );
}

function objectsOf(schema: GraphQLSchema, type: GraphQLNamedType): readonly GraphQLObjectType[] {
  if (isObjectType(type)) return [type];
  return isAbstractType(type) ? schema.getPossibleTypes(type) : [];
}

function printOperation(context: ExampleContext, path: readonly PathStep[]): string {
  const [first] = path;
  const text = path.reduceRight(
    (inner, step, index) =>
      `${narrowed(path[index - 1], step)}${step.field.name}${argumentsOf(context, step)}${inner}`.concat(
        closing(path[index - 1], step),
      ),
    selectionOf(context, last(path).field),
  );
  return first?.owner === context.schema.getMutationType()?.name ? `mutation ${text}` : text;
}

/** Every step opens a selection; a step below an interface or union opens an inline fragment. */
const narrowed = (before: PathStep | undefined, { owner }: PathStep) =>
  before && isAbstractType(getNamedType(before.field.type))
    ? ` { ... on ${owner} { `
    : before
      ? ' { '
      : '{ ';

const closing = (before: PathStep | undefined, _step: PathStep) =>
  before && isAbstractType(getNamedType(before.field.type)) ? ' } }' : ' }';

function argumentsOf(context: ExampleContext, { owner, field }: PathStep): string {
  const given = field.args.filter((argument) =>
    isGiven(context, `${owner}.${field.name}`, argument),
  );
  return exampleArguments(context.project, given, context.operations.get(`${owner}.${field.name}`));
}

/** Arguments that the example writes: required ones, keys, filters and limits. */
function isGiven(
  { project, operations }: ExampleContext,
  coordinate: string,
  { name, type, defaultValue, default: given }: GraphQLArgument,
): boolean {
  if (String(type).endsWith('!') && defaultValue === undefined && given === undefined) return true;
  const [owner, field] = coordinate.split('.');
  const action = operations.get(coordinate)?.action;
  if (action && ['get', 'create', 'update', 'remove'].includes(action.kind)) return true;
  const source = project.entities
    .find((entity) => entity.name === owner)
    ?.fields.find((each) => each.name === field)?.source;
  const list: ListOptions | undefined =
    action && 'list' in action ? action.list : source?.kind === 'many' ? source.list : undefined;
  return (
    list !== undefined &&
    [list.paging.limit ?? list.paging.first, ...list.filters.map(({ arg }) => arg)].includes(name)
  );
}

/** The smallest valid selection of an object. */
function selectionOf(
  context: ExampleContext,
  field: GraphQLField<unknown, unknown>,
  depth = 0,
): string {
  const type = getNamedType(field.type);
  if (isLeafType(type)) return '';
  const fields =
    isObjectType(type) || isInterfaceType(type)
      ? Object.values(type.getFields()).filter(
          ({ name, args }) =>
            args.every(({ type: arg }) => !String(arg).endsWith('!')) &&
            !isAnsweredByCode(context, type.name, name),
        )
      : [];
  const named = (name: string) => fields.find((each) => each.name === name);
  const leaf = fields.find((each) => isLeafType(getNamedType(each.type)));
  const chosen =
    named('id') ?? named('nodes') ?? named('edges') ?? named('node') ?? leaf ?? fields[0];
  if (!chosen || depth > 4) return ' { __typename }';
  return ` { ${chosen.name}${selectionOf(context, chosen, depth + 1)} }`;
}

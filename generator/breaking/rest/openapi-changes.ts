import type { Level } from '../change.ts';
import {
  createSchemaComparison,
  isOver,
  newName,
  type JsonSchema,
  type RestChange,
} from './schema-difference.ts';

interface Operation {
  readonly operationId?: string;
  readonly 'x-sunset'?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: JsonSchema;
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>;

/** The parts of an OpenAPI document that are compared. */
export interface Comparable {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

export interface RestOptions {
  /** `YYYY-MM-DD`: a removal that was announced for an earlier day is dangerous. */
  readonly today: string;
  /** Members with another name now: `Post.body` → `Post.text`. */
  readonly renames: ReadonlyMap<string, string>;
}

/** What callers of the REST routes would notice, in the order of the base's document. */
export function openapiChanges(
  before: Comparable,
  after: Comparable,
  options: RestOptions,
): RestChange[] {
  const changes: RestChange[] = [];
  const compare = createSchemaComparison({
    before: before.components.schemas,
    after: after.components.schemas,
    report: (change) => void changes.push(change),
    ...options,
  });
  const add = (level: Level, code: string, coordinate: string, message: string) =>
    void changes.push({ level, code, coordinate, message });
  const renamed: Pair['renamed'] = (name, has) => newName(options.renames, '', name, has);
  const old = routesOf(before);
  const now = routesOf(after);
  for (const [route, operation] of old) {
    const next = now.get(route);
    const level = isOver(operation['x-sunset'], options.today) ? 'dangerous' : 'breaking';
    if (!next) add(level, 'ROUTE_REMOVED', route, `${route} is gone`);
    else compareOperation({ route, operation, next, add, compare, renamed });
  }
  for (const route of now.keys())
    if (!old.has(route)) add('safe', 'ROUTE_ADDED', route, `${route} is new`);
  return changes;
}

function routesOf({ paths }: Comparable): Map<string, Operation> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const,
      ),
    ),
  );
}

interface Pair {
  readonly route: string;
  readonly operation: Operation;
  readonly next: Operation;
  readonly add: (level: Level, code: string, coordinate: string, message: string) => void;
  readonly compare: ReturnType<typeof createSchemaComparison>;
  /** The present name of a member, where `has` finds it. */
  readonly renamed: (name: string, has: (name: string) => boolean) => string | undefined;
}

function compareOperation(pair: Pair): void {
  compareParameters(pair);
  compareBody(pair);
  const { route, operation, next, add, compare } = pair;
  for (const [status, { content = {} }] of Object.entries(operation.responses)) {
    if (!status.startsWith('2')) continue;
    const answer = next.responses[status];
    if (!answer)
      add(
        'breaking',
        'ANSWER_REMOVED',
        `${route} ${status}`,
        `${route} never answers ${status} now`,
      );
    for (const [type, { schema }] of Object.entries(answer ? content : {})) {
      const other = answer?.content?.[type]?.schema;
      if (other) compare(schema, other, { direction: 'out', coordinate: `${route} ${status}` });
      else
        add(
          'breaking',
          'ANSWER_REMOVED',
          `${route} ${status}`,
          `${route} does not answer ${type} now`,
        );
    }
  }
}

function compareParameters({ route, operation, next, add, compare, renamed }: Pair): void {
  const keyOf = (parameter: Parameter) => `${route} ${parameter.in} ${parameter.name}`;
  const now = new Map((next.parameters ?? []).map((each) => [keyOf(each), each]));
  const old = new Map((operation.parameters ?? []).map((each) => [keyOf(each), each]));
  const gone = [...old].filter(([key]) => !now.has(key));
  for (const [key, { name }] of gone) {
    const to = renamed(name, (each) => now.has(key.replace(/\S+$/, each)));
    if (to !== undefined) add('breaking', 'PARAMETER_RENAMED', key, `${key} is ${to} now`);
    else if (
      !isFilterOf(
        name,
        gone.map(([, each]) => each.name),
      )
    )
      add('breaking', 'PARAMETER_REMOVED', key, `${key} is gone`);
  }
  for (const [key, parameter] of old) {
    const other = now.get(key);
    if (!other) continue;
    if (other.required && !parameter.required)
      add('breaking', 'INPUT_REQUIRED', key, `${key} is required now`);
    compare(parameter.schema, other.schema, { direction: 'in', coordinate: key });
  }
  for (const [key, { name, required }] of now)
    if (
      old.has(key) ||
      isFilterOf(
        name,
        [...now.values()].map((each) => each.name),
      )
    )
      continue;
    else if (required) add('breaking', 'INPUT_REQUIRED', key, `${key} is new and required`);
    else add('safe', 'PARAMETER_ADDED', key, `${key} is new`);
}

/**
 * Whether the parameter is a filter of another one, as `title_contains` is of `title`: both come
 * and go together.
 */
const isFilterOf = (name: string, names: readonly string[]): boolean =>
  names.some((each) => name.startsWith(`${each}_`));

function compareBody({ route, operation, next, add, compare }: Pair): void {
  const [before, after] = [operation.requestBody, next.requestBody];
  const coordinate = `${route} body`;
  if (!after) return;
  if (after.required && !before?.required)
    add('breaking', 'INPUT_REQUIRED', coordinate, `${route} requires a body now`);
  for (const [type, { schema }] of Object.entries(before?.content ?? {})) {
    const other = after.content[type]?.schema;
    if (other) compare(schema, other, { direction: 'in', coordinate });
    else add('breaking', 'INPUT_TYPE_CHANGED', coordinate, `${route} does not take ${type} now`);
  }
}

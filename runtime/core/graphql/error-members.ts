import type { ErrorType, Operation } from '@twofold/schema';
import {
  getNamedType,
  getNullableType,
  type GraphQLObjectType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';
import { toFailure } from '../data/write/database-failure.ts';
import type { InputError } from '../data/write/constraint.ts';
import {
  formatError,
  isGraphqlError,
  notImplemented,
  rootCause,
  toGraphqlError,
} from './errors.ts';
import type { Engine } from './engine.ts';
import type { RequestContext } from '../context/request-context.ts';

/** The member of a result union that answers in place of an error. */
export class ErrorMember {
  readonly #type: string;

  constructor(type: string, values: Readonly<Record<string, unknown>>) {
    this.#type = type;
    Object.assign(this, values);
  }

  static typeOf(value: unknown): string | undefined {
    return typeof value === 'object' && value !== null && #type in value ? value.#type : undefined;
  }
}

/** The errors that members of a mutation's result take, in the order of its members. */
export type ErrorCases = readonly (Omit<ErrorType, 'type'> & {
  readonly type: GraphQLObjectType;
})[];

const CASES = new WeakMap<Engine, Map<string, ErrorCases>>();

/** Without `cases` when no member of the result has `@error`. */
export function errorCases(
  engine: Engine,
  { root, type }: Operation,
): { readonly cases?: ErrorCases } {
  const { errors } = engine.model.project;
  if (!errors || root !== 'mutation') return {};
  const known = CASES.get(engine) ?? new Map<string, ErrorCases>();
  CASES.set(engine, known);
  const cases = known.get(type.name) ?? casesOf(engine, errors, type.name);
  known.set(type.name, cases);
  return cases.length > 0 ? { cases } : {};
}

function casesOf({ schema }: Engine, errors: readonly ErrorType[], name: string): ErrorCases {
  const result = schema.getType(name);
  if (!isAbstractType(result)) return [];
  return schema
    .getPossibleTypes(result)
    .flatMap((type) =>
      errors.filter((each) => each.type === type.name).map((each) => ({ ...each, type })),
    );
}

/**
 * The member that takes an error, filled with its message, code and fields. A member that names a
 * field comes before one that takes any error with the code.
 *
 * @throws the error, when no member takes it.
 */
export function memberFor(cases: ErrorCases, error: unknown, context: RequestContext): ErrorMember {
  const told = detailsOf(error);
  for (const named of [true, false])
    for (const each of cases) {
      if (each.code !== told.code || (each.field !== undefined) !== named) continue;
      const problem = named
        ? told.problems.find(({ field }) => isAbout(field, each.field))
        : told.problems[0];
      if (named && !problem) continue;
      if (!isFillable(each.type, problem)) continue;
      return filled(each.type, told, problem, messageOf(error, told, problem, context));
    }
  throw error;
}

interface Details {
  readonly code: string;
  readonly message: string;
  /** The problems of fields that the error names. */
  readonly problems: readonly Partial<InputError>[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Any error that the caller may not see has this code, and a masked message. */
const MASKED = 'INTERNAL_SERVER_ERROR';

function detailsOf(error: unknown): Details {
  const cause = rootCause(error);
  const failure = toFailure(cause);
  const graphql = isGraphqlError(cause) ? cause : undefined;
  const extensions = failure?.extensions ?? graphql?.extensions ?? {};
  const { code = MASKED } = failure ?? (extensions as { code?: string });
  const { message } = failure ?? graphql ?? { message: '' };
  return { code: String(code), message, extensions, problems: problemsIn(extensions) };
}

function problemsIn({
  errors,
  field,
  fields,
}: Readonly<Record<string, unknown>>): Partial<InputError>[] {
  if (Array.isArray(errors) && errors.length > 0) return errors;
  const names = Array.isArray(fields) ? fields : field === undefined ? [] : [field];
  return names.map((name) => ({ field: String(name) }));
}

/**
 * Whether an error's path is about a field: `input.email` and `email` are both about `email`. A
 * unique key of a relation has the name `authorId`.
 */
const isAbout = (path: string | undefined, field: string | undefined): boolean =>
  path !== undefined &&
  field !== undefined &&
  [field, `${field}Id`].some((name) => path === name || path.endsWith(`.${name}`));

/** A member whose `field` may not be null takes only errors that name a field. */
const isFillable = (type: GraphQLObjectType, problem: Partial<InputError> | undefined) =>
  problem?.field !== undefined || !isNonNullType(type.getFields()['field']?.type);

function messageOf(
  error: unknown,
  { code, message }: Details,
  problem: Partial<InputError> | undefined,
  { id, log }: RequestContext,
): string {
  // An error of the server is logged like any other, and its message stays masked.
  if (code === MASKED) return formatError(toGraphqlError(error), { requestId: id, log }).message;
  return problem?.message === undefined ? message : `${problem.field} ${problem.message}`;
}

function filled(
  type: GraphQLObjectType,
  { code, problems, extensions }: Details,
  problem: Partial<InputError> | undefined,
  message: string,
): ErrorMember {
  const values: Record<string, unknown> = { ...extensions, message, code };
  values['field'] = problem?.field ?? null;
  values['fields'] = fieldsOf(type, problems, { message, code });
  for (const { name } of Object.values(type.getFields()))
    values[name] ??= name in values ? null : unwritten(`${type.name}.${name}`);
  return new ErrorMember(type.name, values);
}

const unwritten = (coordinate: string) => () => {
  throw notImplemented(coordinate);
};

/** The names of the fields; objects with their messages where the member declares objects. */
function fieldsOf(
  type: GraphQLObjectType,
  problems: Details['problems'],
  given: { readonly message: string; readonly code: string },
): unknown {
  const declared = type.getFields()['fields']?.type;
  if (declared && !isListType(getNullableType(declared))) return problems[0]?.field ?? null;
  const names = !declared || isLeafType(getNamedType(declared));
  return problems.map(({ field, message }) =>
    names ? field : { ...given, ...(message !== undefined && { message }), field, name: field },
  );
}

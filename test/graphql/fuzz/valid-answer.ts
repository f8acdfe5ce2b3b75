import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isAbstractType,
  isEnumType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  validate,
} from 'graphql';

/** What a request asked for, where that can be told. */
export interface Asked {
  readonly query: string;
  readonly operationName?: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** What no answer may hold: the inside of the server. */
const TRACE =
  /\bat \S+ \(|node:internal|\.ts:\d+:\d+|\/runtime\/|node_modules|SQLITE_|syntax error at or near|ECONN/;

/**
 * What is wrong with an answer by section 7.1, "Response Format", of the specification; undefined when nothing is. With what
 * was asked for, its data is held against the selection too.
 */
export function faultIn(text: string, schema: GraphQLSchema, asked?: Asked): string | undefined {
  if (TRACE.test(text)) return 'it tells of the inside of the server';
  const answer = parseJson(text);
  if (!isMap(answer)) return 'it is no object';
  const extra = Object.keys(answer).find((key) => !['data', 'errors', 'extensions'].includes(key));
  if (extra) return `it has ${extra}`;
  if ('errors' in answer) {
    const fault = faultInErrors(answer['errors']);
    if (fault) return fault;
  } else if (!('data' in answer)) return 'it has neither data nor errors';
  if (answer['data'] === null && !('errors' in answer)) return 'data is null and no error says why';
  if ('data' in answer && answer['data'] !== null && !isMap(answer['data']))
    return 'data is no object';
  return asked && isMap(answer['data']) ? faultInData(answer['data'], schema, asked) : undefined;
}

export const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function faultInErrors(errors: unknown): string | undefined {
  if (!Array.isArray(errors) || errors.length === 0)
    return 'errors is no list with something in it';
  for (const error of errors) {
    if (!isMap(error) || typeof error['message'] !== 'string' || error['message'] === '')
      return 'an error has no message';
    const { locations, path, extensions } = error;
    if (
      locations !== undefined &&
      !(
        Array.isArray(locations) &&
        locations.length > 0 &&
        locations.every(
          (place) =>
            isMap(place) && (place['line'] as number) > 0 && (place['column'] as number) > 0,
        )
      )
    )
      return 'an error has wrong locations';
    if (
      path !== undefined &&
      !(
        Array.isArray(path) &&
        path.every((step) => typeof step === 'string' || (Number.isInteger(step) && step >= 0))
      )
    )
      return 'an error has a wrong path';
    if (!isMap(extensions) || typeof extensions['code'] !== 'string') return 'an error has no code';
    if (error['message'] === 'Internal server error' && typeof extensions['requestId'] !== 'string')
      return 'an unknown error has no request id';
  }
  return undefined;
}

interface Reading {
  readonly schema: GraphQLSchema;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly variables: Readonly<Record<string, unknown>>;
}

function faultInData(
  data: Record<string, unknown>,
  schema: GraphQLSchema,
  { query, operationName, variables }: Asked,
): string | undefined {
  const document = documentOf(query);
  if (!document || validate(schema, document).length > 0)
    return 'it has data for a document that is not valid';
  const operations = document.definitions.filter(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  );
  const operation = operationName
    ? operations.find(({ name }) => name?.value === operationName)
    : operations.length === 1
      ? operations[0]
      : undefined;
  if (!operation) return 'it has data though no operation was named';
  const fragments = new Map(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [],
    ),
  );
  const defaults = Object.fromEntries(
    (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue?.kind === Kind.BOOLEAN ? [[variable.name.value, defaultValue.value]] : [],
    ),
  );
  const type = schema.getRootType(operation.operation) as GraphQLObjectType;
  return faultInObject(
    { schema, fragments, variables: { ...defaults, ...variables } },
    type,
    [operation.selectionSet],
    data,
    'data',
  );
}

function documentOf(query: string): DocumentNode | undefined {
  try {
    return parse(query, { maxTokens: 5000 });
  } catch {
    return undefined;
  }
}

function faultInObject(
  reading: Reading,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
  value: unknown,
  at: string,
): string | undefined {
  if (!isMap(value)) return `${at} is no object`;
  const fields = new Map<string, FieldNode[]>();
  for (const set of sets) collect(reading, type, set, fields);
  if (Object.keys(value).join() !== [...fields.keys()].join())
    return `${at} has ${Object.keys(value).join()}, asked for was ${[...fields.keys()].join()}`;
  for (const [key, nodes] of fields) {
    const definition = reading.schema.getField(type, nodes[0]?.name.value ?? '');
    const fault =
      definition &&
      faultInValue(
        reading,
        definition.type,
        nodes.flatMap(({ selectionSet }) => (selectionSet ? [selectionSet] : [])),
        value[key],
        `${at}.${key}`,
      );
    if (fault) return fault;
  }
  return undefined;
}

function collect(
  reading: Reading,
  type: GraphQLObjectType,
  { selections }: SelectionSetNode,
  fields: Map<string, FieldNode[]>,
): void {
  for (const selection of selections) {
    const left = selection.directives?.some(({ name, arguments: given }) => {
      const value = given?.[0]?.value;
      const holds =
        value?.kind === Kind.VARIABLE
          ? reading.variables[value.name.value] === true
          : value?.kind === Kind.BOOLEAN && value.value;
      return name.value === 'skip' ? holds : name.value === 'include' && !holds;
    });
    if (left) continue;
    if (selection.kind === Kind.FIELD) {
      const key = selection.alias?.value ?? selection.name.value;
      fields.set(key, [...(fields.get(key) ?? []), selection]);
      continue;
    }
    const fragment =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection
        : reading.fragments.get(selection.name.value);
    const condition =
      fragment?.typeCondition && reading.schema.getType(fragment.typeCondition.name.value);
    if (
      fragment &&
      (!condition ||
        condition === type ||
        (isAbstractType(condition) && reading.schema.isSubType(condition, type)))
    )
      collect(reading, type, fragment.selectionSet, fields);
  }
}

function faultInValue(
  reading: Reading,
  type: GraphQLOutputType,
  sets: readonly SelectionSetNode[],
  value: unknown,
  at: string,
): string | undefined {
  if (isNonNullType(type))
    return value === null
      ? `${at} is null and may not be`
      : faultInValue(reading, type.ofType, sets, value, at);
  if (value === null) return undefined;
  if (isListType(type)) {
    if (!Array.isArray(value)) return `${at} is no list`;
    for (const [index, item] of value.entries()) {
      const fault = faultInValue(reading, type.ofType, sets, item, `${at}.${index}`);
      if (fault) return fault;
    }
    return undefined;
  }
  const named = getNamedType(type);
  if (isObjectType(named)) return faultInObject(reading, named, sets, value, at);
  if (isAbstractType(named)) {
    const faults = reading.schema
      .getPossibleTypes(named)
      .map((member) => faultInObject(reading, member, sets, value, at));
    return faults.includes(undefined) ? undefined : faults[0];
  }
  if (isEnumType(named))
    return typeof value === 'string' && named.getValue(value)
      ? undefined
      : `${at} is no ${named.name}`;
  const right = {
    Int: Number.isInteger(value) && Math.abs(value as number) <= 2 ** 31,
    Float: typeof value === 'number',
    Boolean: typeof value === 'boolean',
    String: typeof value === 'string',
    ID: typeof value === 'string',
  }[named.name];
  return right === false ? `${at} is no ${named.name}` : undefined;
}

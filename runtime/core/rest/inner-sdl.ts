import type { Field, FilterWord, FilterShape, Project, RestMember } from '@twofold/schema';
import { Kind, parse, print } from 'graphql';

/** A field of the model with its line of SDL. */
export interface InnerField {
  readonly sdl: string;
  readonly field: Field;
}

/** Collects additions to a schema. */
export interface InnerSdl {
  /** @returns the name of a type with `nodes`, `totalCount` and `pageInfo`. */
  addConnection(entity: string): string;
  addQuery(line: string): void;
  addFields(type: string, lines: readonly string[]): void;
  addFilter(
    name: string,
    members: readonly (readonly [RestMember, FilterShape['filters'][number]])[],
    nested: readonly FilterShape[],
  ): void;
  addOrder(name: string, members: readonly string[]): void;
  text(): string;
}

/**
 * @param typeName makes the names of our own types.
 * @param fallible whether any field may fail, as those of the user's resolvers may.
 */
export function createInnerSdl(
  project: Project,
  typeName: (name: string) => string,
  fallible: boolean,
): InnerSdl {
  const parts = new Map<string, string>();
  const queries: string[] = [];
  const direction = typeName('Direction');
  const comparison = (type: string, operators: readonly FilterWord[]): string => {
    const name = typeName(`${type}_${operators.join('_')}`);
    parts.set(
      name,
      `input ${name} { ${operators.map((operator) => `${operator}: ${operandType(type, operator)}`).join(' ')} }`,
    );
    return name;
  };
  return {
    addConnection: (entity) => {
      const name = typeName(`${entity}Connection`);
      const page = typeName('PageInfo');
      parts.set(page, `type ${page} { hasNextPage: Boolean endCursor: String }`);
      parts.set(name, `type ${name} { totalCount: Int nodes: [${entity}] pageInfo: ${page} }`);
      return name;
    },
    addQuery: (line) => void queries.push(line),
    addFields: (type, lines) =>
      void (
        lines.length > 0 &&
        parts.set(`extend ${type}`, `extend type ${type} { ${lines.join('\n')} }`)
      ),
    addFilter: (name, members, nested) => {
      for (const { id, filters } of nested)
        parts.set(
          id,
          `input ${id} { ${filters.map((filter) => `${filter.name}: ${comparison('ID', operatorsOf(filter))}`).join(' ')} }`,
        );
      const lines = members.map(
        ([member, filter]) =>
          `${filter.name}: ${filter.kind === 'one' ? filter.shape : comparison(typeOf(member), operatorsOf(filter))}`,
      );
      parts.set(name, `input ${name} { ${lines.join('\n')} }`);
    },
    addOrder: (name, members) => {
      parts.set(direction, `enum ${direction} { ASC DESC }`);
      parts.set(
        name,
        `input ${name} { ${members.map((member) => `${member}: ${direction}`).join('\n')} }`,
      );
    },
    text: () =>
      `${withNulls(project, fallible)}\n${[...parts.values()].join('\n')}\n${queries.length > 0 ? `extend type ${queryType(project.sdl)} { ${queries.join('\n')} }` : ''}`,
  };
}

const operatorsOf = (filter: FilterShape['filters'][number]) =>
  filter.kind === 'operators' ? filter.operators : [];

const typeOf = ({ kind, field, column }: RestMember) =>
  kind === 'key' ? (column?.scalar ?? 'ID') : field.type.name;

function operandType(type: string, operator: FilterWord): string {
  if (operator === 'isNull') return 'Boolean';
  if (operator === 'in' || operator === 'notIn') return `[${type}!]`;
  // A part of an address is not a valid address, so it is compared as a String.
  return operator === 'contains' || operator === 'startsWith' || operator === 'endsWith'
    ? 'String'
    : type;
}

/**
 * Makes fields with rules of their own nullable, so that a refusal does not take the whole object.
 * Most schemas have none.
 */
function withNulls(project: Project, fallible: boolean): string {
  const refusable = refusableFields(project, fallible);
  if (refusable.size === 0) return project.sdl;
  const definitions = parse(project.sdl, { noLocation: true }).definitions.map((definition) => {
    if (!('fields' in definition) || !definition.fields || !refusable.has(definition.name.value))
      return print(definition);
    const names = refusable.get(definition.name.value);
    const fields = definition.fields.map((field) =>
      names?.has(field.name.value) && field.type.kind === Kind.NON_NULL_TYPE
        ? { ...field, type: field.type.type }
        : field,
    );
    return print({ ...definition, fields } as typeof definition);
  });
  return definitions.join('\n');
}

/** Fields that may be refused, by type; of an interface, if one of its members has them. */
function refusableFields({ entities }: Project, fallible: boolean): Map<string, Set<string>> {
  const refusable = new Map<string, Set<string>>();
  for (const { name, interfaces, fields } of entities) {
    const ruled = fields
      .filter(({ name: field, rules }) => rules.length > 0 || (fallible && field !== 'id'))
      .map((field) => field.name);
    if (ruled.length > 0)
      for (const type of [name, ...interfaces])
        refusable.set(type, new Set([...(refusable.get(type) ?? []), ...ruled]));
  }
  return refusable;
}

function queryType(sdl: string): string {
  if (!/\bschema\b/.test(sdl)) return 'Query';
  for (const definition of parse(sdl, { noLocation: true }).definitions) {
    if (definition.kind !== Kind.SCHEMA_DEFINITION && definition.kind !== Kind.SCHEMA_EXTENSION)
      continue;
    const query = definition.operationTypes?.find(({ operation }) => operation === 'query');
    if (query) return query.type.name.value;
  }
  return 'Query';
}

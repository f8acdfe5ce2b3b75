import type { Field, FilterOperator, FilterShape, Project, RestMember } from '@twofold/schema';
import { Kind, parse, print, visit } from 'graphql';

/** A field of the model with its line of SDL. */
export interface InnerField {
  readonly sdl: string;
  readonly field: Field;
}

/** Collects what is added to a schema. */
export interface InnerSdl {
  /** @returns the name of a type with `nodes` and `totalCount`. */
  addConnection(entity: string): string;
  addQuery(line: string): void;
  addFields(type: string, lines: readonly string[]): void;
  addFilter(name: string, members: readonly (readonly [RestMember, FilterShape['filters'][number]])[], nested: readonly FilterShape[]): void;
  addOrder(name: string, members: readonly string[]): void;
  text(): string;
}

/** @param typeName how types of ours are called. */
export function createInnerSdl(project: Project, typeName: (name: string) => string): InnerSdl {
  const parts = new Map<string, string>();
  const queries: string[] = [];
  const direction = typeName('Direction');
  const comparison = (type: string, operators: readonly FilterOperator[]): string => {
    const name = typeName(`${type}_${operators.join('_')}`);
    parts.set(name, `input ${name} { ${operators.map((operator) => `${operator}: ${operandType(type, operator)}`).join(' ')} }`);
    return name;
  };
  return {
    addConnection: (entity) => {
      const name = typeName(`${entity}Connection`);
      parts.set(name, `type ${name} { totalCount: Int nodes: [${entity}] }`);
      return name;
    },
    addQuery: (line) => void queries.push(line),
    addFields: (type, lines) => void (lines.length > 0 && parts.set(`extend ${type}`, `extend type ${type} { ${lines.join('\n')} }`)),
    addFilter: (name, members, nested) => {
      for (const { id, filters } of nested) parts.set(id, `input ${id} { ${filters.map((filter) => `${filter.name}: ${comparison('ID', operatorsOf(filter))}`).join(' ')} }`);
      const lines = members.map(([member, filter]) => `${filter.name}: ${filter.kind === 'one' ? filter.shape : comparison(typeOf(member), operatorsOf(filter))}`);
      parts.set(name, `input ${name} { ${lines.join('\n')} }`);
    },
    addOrder: (name, members) => {
      parts.set(direction, `enum ${direction} { ASC DESC }`);
      parts.set(name, `input ${name} { ${members.map((member) => `${member}: ${direction}`).join('\n')} }`);
    },
    text: () => `${withoutNonNull(project.sdl)}\n${[...parts.values()].join('\n')}\n${queries.length > 0 ? `extend type ${queryType(project.sdl)} { ${queries.join('\n')} }` : ''}`,
  };
}

const operatorsOf = (filter: FilterShape['filters'][number]) => (filter.kind === 'operators' ? filter.operators : []);

const typeOf = ({ kind, field }: RestMember) => (kind === 'key' ? 'ID' : field.type.name);

function operandType(type: string, operator: FilterOperator): string {
  if (operator === 'isNull') return 'Boolean';
  if (operator === 'in' || operator === 'notIn') return `[${type}!]`;
  // A part of an address is no address.
  return operator === 'contains' || operator === 'startsWith' || operator === 'endsWith' ? 'String' : type;
}

/** Arguments keep their types: what a caller has to give stays what it is. */
function withoutNonNull(sdl: string): string {
  const document = visit(parse(sdl, { noLocation: true }), {
    InputObjectTypeDefinition: () => false,
    InputObjectTypeExtension: () => false,
    InputValueDefinition: () => false,
    DirectiveDefinition: () => false,
    NonNullType: { leave: ({ type }) => type },
  });
  return print(document);
}

function queryType(sdl: string): string {
  for (const definition of parse(sdl, { noLocation: true }).definitions) {
    if (definition.kind !== Kind.SCHEMA_DEFINITION && definition.kind !== Kind.SCHEMA_EXTENSION) continue;
    const query = definition.operationTypes?.find(({ operation }) => operation === 'query');
    if (query) return query.type.name.value;
  }
  return 'Query';
}

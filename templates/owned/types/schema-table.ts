import { lookUp } from '@twofold/schema';
import { propertyName, str } from '../../literal.ts';
import type { Definition, Definitions, Member } from './definitions.ts';
import { above, isRequired, refOf } from './definitions.ts';
import { writtenArguments, writtenShape } from './written-shapes.ts';

/** The parts that the types of a schema are made from. */
export interface SchemaParts {
  readonly definitions: Definitions;
  /** Names of the root types. */
  readonly roots: {
    readonly query: string;
    readonly mutation: string;
    readonly subscription: string;
  };
  /** Row types by GraphQL type: a resolver gets the row as its parent. */
  readonly rows: ReadonlyMap<string, string>;
  /** Types whose resolvers have no name of their own: `Resolvers['PostEdge']`. */
  readonly unnamed?: ReadonlySet<string>;
}

/** The interface `$Schema`, from which all types of the schema follow. No type has its name. */
export function printSchemaTable({ definitions, roots, rows }: SchemaParts): string {
  const { types, names } = definitions;
  const of = (...kinds: Definition['kind'][]) => types.filter(({ kind }) => kinds.includes(kind));
  const inputs = of('input');
  const members = (each: Definition) => printMembers(each, definitions);
  const possible = possibleTypes(types);
  return `/**
 * The schema, with references as the SDL writes them: the types below follow from it.
 */
export interface $Schema {
  scalars: ScalarTypes;
${table('enums', of('enum'), ({ name }) => name)}
${table(
  'rows',
  of('object').filter(({ name }) => rows.has(name)),
  ({ name }) => lookUp(rows, name),
)}
${table('fields', of('object', 'interface'), members)}
${table('possible', of('interface', 'union'), ({ name }) => lookUp(possible, name).map(str).join(' | ') || 'never')}
${table(
  'inputs',
  inputs.filter(({ oneOf }) => !oneOf),
  members,
)}
${table(
  'oneOf',
  inputs.filter(({ oneOf }) => oneOf),
  members,
)}
  roots: ${Object.values(roots).map(names).map(str).join(' | ')};
  subscription: ${str(names(roots.subscription))};
}`;
}

function table(
  name: string,
  definitions: readonly Definition[],
  print: (definition: Definition) => string,
): string {
  if (definitions.length === 0) return `  ${name}: {};`;
  const lines = definitions.map((each) => `    ${each.name}: ${print(each)};`);
  return `  ${name}: {\n${lines.join('\n')}\n  };`;
}

function printMembers(definition: Definition, known: Definitions): string {
  const { kind, fields } = definition;
  const written = writtenShape(definition, known);
  if (written !== undefined) return written;
  const lines = fields.map((field) => printMember(field, known, kind === 'input'));
  const line = `{ ${lines.join(' ').replace(/;$/, '')} }`;
  if (fields.length === 1 && isShort(line)) return line;
  return `{\n${lines.map((line) => indent(line, 6)).join('\n')}\n    }`;
}

function printMember(field: Member, known: Definitions, isGiven: boolean): string {
  const isOptional = !isRequired(field) || (isGiven && field.default !== undefined);
  const ref = str(refOf(field, known.names));
  const type =
    field.args.length === 0 ? ref : `$.WithArgs<${ref}, ${printArguments(field, known)}>`;
  return `${above(field.comment)}${propertyName(field.name)}${isOptional ? '?' : ''}: ${type};`;
}

/** The room for arguments on the line of their field. */
const WIDTH = 80;

function printArguments(field: Member, known: Definitions): string {
  const written = writtenArguments(field, known);
  if (written !== undefined) return written;
  const members = field.args.map((arg) => printMember(arg, known, true));
  const line = `{ ${members.join(' ').replace(/;$/, '')} }`;
  return isShort(line) ? line : `{\n${members.map((each) => indent(each, 2)).join('\n')}\n}`;
}

const isShort = (line: string): boolean => line.length <= WIDTH && !/\n|\/\*/.test(line);

const indent = (text: string, by: number): string => text.replace(/^(?=.)/gm, ' '.repeat(by));

/** The object types of each interface and union. */
export function possibleTypes(types: readonly Definition[]): ReadonlyMap<string, string[]> {
  const possible = new Map<string, string[]>();
  for (const { kind, name, types: named } of types)
    if (kind === 'union') possible.set(name, [...named]);
  for (const { kind, name } of types) if (kind === 'interface') possible.set(name, []);
  for (const { kind, name, types: named } of types)
    if (kind === 'object') for (const face of named) possible.get(face)?.push(name);
  return possible;
}

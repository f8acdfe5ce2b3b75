import {
  getNamedType,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
  isCompositeType,
  isObjectType,
  isUnionType,
} from 'graphql';
import { builtOf, type ConformanceCase } from './conformance.ts';
import type { Random } from './random-schema.ts';

const LEAVES = ['Int', 'Float', 'String', 'Boolean', 'ID', 'Mood', 'Odd'];
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** A schema of objects, interfaces, unions, enums and scalars that lead to each other in any way. */
export function randomExecutable(random: Random): string {
  const objects = times(3 + random.below(4), (index) => `Object${index}`);
  const faces = times(1 + random.below(2), (index) => `Face${index}`);
  const all = [...objects, ...faces, 'Any', ...LEAVES, ...LEAVES];
  const wrapped = (): string => {
    const type = random.pick(all) + (random.chance(0.3) ? '!' : '');
    if (!random.chance(0.3)) return type;
    const list = `[${random.chance(0.2) ? `[${type}]` : type}]`;
    return list + (random.chance(0.3) ? '!' : '');
  };
  const fields = (prefix: string) =>
    times(2 + random.below(4), (index) => `${prefix}${index}(on: Boolean = true): ${wrapped()}`);
  const own = new Map(faces.map((face) => [face, fields(face.toLowerCase())]));
  const lines = objects.map((object) => {
    const kept = faces.filter(() => random.chance(0.6));
    const shown = [...kept.flatMap((face) => own.get(face)!), ...fields('own')];
    const implemented = kept.length > 0 ? ` implements ${kept.join(' & ')}` : '';
    return `type ${object}${implemented} { ${shown.join(' ')} }`;
  });
  // Each interface needs a type that implements it.
  lines.push(
    `type Whole implements ${faces.join(' & ')} { ${[...own.values()].flat().join(' ')} }`,
    ...faces.map((face) => `interface ${face} { ${own.get(face)!.join(' ')} }`),
    `union Any = ${objects.join(' | ')}`,
    'enum Mood { CALM WILD } scalar Odd',
    `type Query { ${fields('root').join(' ')} any: Any face: Face0 one: Object0! }`,
  );
  return lines.join('\n');
}

/** An operation with fragments, conditions, aliases and variables. */
export function randomOperation(random: Random, sdl: string): ConformanceCase {
  const schema = builtOf(sdl);
  const writer = new Writer(random, schema);
  const selection = writer.selection(schema.getQueryType()!, 4);
  const query = `query ($yes: Boolean! = true, $no: Boolean!) ${selection}\n${writer.fragments.join('\n')}`;
  return { schema: sdl, query, variables: { no: random.chance(0.5) } };
}

class Writer {
  readonly fragments: string[] = [];
  readonly #random: Random;
  readonly #schema: GraphQLSchema;
  #keys = 0;

  constructor(random: Random, schema: GraphQLSchema) {
    this.#random = random;
    this.#schema = schema;
  }

  /** Keys differ everywhere, so that no two fields of one object are in conflict. */
  selection(type: GraphQLCompositeType, depth: number): string {
    const parts = [
      '__typename',
      ...times(1 + this.#random.below(4), () => this.#part(type, depth)),
    ];
    return `{ ${parts.join(' ')} }`;
  }

  #part(type: GraphQLCompositeType, depth: number): string {
    const random = this.#random;
    if (!isUnionType(type) && random.chance(0.7)) return this.#field(type.getFields(), depth);
    const others = Object.values(this.#schema.getTypeMap()).filter(
      (other) => isCompositeType(other) && !other.name.startsWith('__') && this.#meets(type, other),
    ) as GraphQLCompositeType[];
    const other = random.pick(others);
    if (depth === 0) return `k${this.#keys++}: __typename`;
    const body = this.selection(other, depth - 1);
    if (random.chance(0.5)) return `... on ${other.name}${this.#condition()} ${body}`;
    const name = `Part${this.fragments.length}`;
    this.fragments.push(`fragment ${name} on ${other.name} ${body}`);
    const spread = `...${name}${this.#condition()}`;
    return random.chance(0.2) ? `${spread} ...${name}` : spread;
  }

  #meets(one: GraphQLCompositeType, other: GraphQLCompositeType): boolean {
    const possible = (type: GraphQLCompositeType) =>
      isObjectType(type) ? [type] : this.#schema.getPossibleTypes(type);
    return possible(one).some((type) => possible(other).includes(type));
  }

  #field(fields: Readonly<Record<string, GraphQLField<unknown, unknown>>>, depth: number): string {
    const random = this.#random;
    const field = random.pick(Object.values(fields));
    const named = getNamedType(field.type);
    if (isCompositeType(named) && depth === 0) return `k${this.#keys++}: __typename`;
    const args = field.args.length > 0 && random.chance(0.3) ? '(on: $no)' : '';
    const below = isCompositeType(named) ? ` ${this.selection(named, depth - 1)}` : '';
    return `k${this.#keys++}: ${field.name}${args}${this.#condition()}${below}`;
  }

  #condition(): string {
    const random = this.#random;
    if (!random.chance(0.25)) return '';
    return ` @${random.pick(['skip', 'include'])}(if: ${random.pick(['$yes', '$no', 'true', 'false'])})`;
  }
}
